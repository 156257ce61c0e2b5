//go:build !linux && !darwin && !windows

package storage

import "errors"

func freeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
