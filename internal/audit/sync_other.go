//go:build !linux

package audit

import "os"

// syncData returns when the bytes of a file survive a loss of power.
func syncData(f *os.File) error { return f.Sync() }
