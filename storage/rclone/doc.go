// Package rclone gives every rclone backend as a storage.Remote. It is the
// only package that imports rclone, whose Go API is not promised stable.
//
// A Client stands for the user's rclone.conf. Nothing of rclone is set up
// before a remote is first opened. A Remote stores by put-then-rename where
// the backend would leave a torn object under the final name, retries by
// itself, and lets no secret into an error or a log.
package rclone
