package files

import "sluice/engine/transform"

// WritesTo implements action.Targeted.
func (s *WriteToFileSettings) WritesTo(r transform.Resolver) transform.Target {
	return transform.FileTarget(transform.Resolved(r, s.File.Text), s.Append, false)
}

// WritesTo implements action.Targeted: what was moved is no longer there to be
// moved.
func (s *MoveFilesSettings) WritesTo(transform.Resolver) transform.Target {
	return transform.Target{Name: "moved files", How: "files are moved away"}
}

// WritesTo implements action.Targeted.
func (s *CopyMoveResultFilenamesSettings) WritesTo(r transform.Resolver) transform.Target {
	return transform.Target{Name: transform.Resolved(r, s.Destination.Text), How: "result files are copied or moved"}
}

// WritesTo implements action.Targeted.
func (s *CopyFilesSettings) WritesTo(transform.Resolver) transform.Target {
	return transform.Target{Name: "copied files", Idempotent: s.Overwrite, How: "files are copied"}
}

// WritesTo implements action.Targeted.
func (s *ZipFileSettings) WritesTo(r transform.Resolver) transform.Target {
	return transform.Target{Name: transform.Resolved(r, s.Archive.Text), How: "files are packed"}
}

// WritesTo implements action.Targeted.
func (s *UnzipSettings) WritesTo(transform.Resolver) transform.Target {
	return transform.Target{Name: "unpacked files", How: "files are unpacked"}
}
