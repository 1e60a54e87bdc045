//go:build unix

package extract

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// limitProcess sets operating system limits for this process: processor time
// over its whole life, and no core files, which would contain document text.
// Soft and hard limit are equal because Go ignores SIGXCPU.
func limitProcess(set settings) error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	if set.CPUSeconds == 0 {
		return nil
	}
	limit := unix.Rlimit{Cur: set.CPUSeconds, Max: set.CPUSeconds}
	if err := unix.Setrlimit(unix.RLIMIT_CPU, &limit); err != nil {
		return fmt.Errorf("limit processor time: %w", err)
	}
	return nil
}
