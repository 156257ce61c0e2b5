//go:build !linux

package generate

// machineMemory is not known here: the field is null.
func machineMemory(string) (int64, bool) { return 0, false }
