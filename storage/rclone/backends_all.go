//go:build !lean

package rclone

// Every backend rclone has.
import _ "github.com/rclone/rclone/backend/all"
