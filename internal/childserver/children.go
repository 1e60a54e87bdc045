package childserver

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/process"
)

// childrenLimit bounds how long the parsers of a killed server may live.
const childrenLimit = 10 * time.Second

// Children returns the ids of the processes that the server has started, its
// parsers. It returns none on a system without /proc.
func (s *Server) Children() []int { return process.Children(s.PID()) }

// awaitEnd waits until none of the processes runs.
func awaitEnd(pids []int) error {
	deadline := time.Now().Add(childrenLimit)
	for _, pid := range pids {
		for !ended(pid) {
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d, which the server had started, still runs", pid)
			}
			time.Sleep(pollEvery)
		}
	}
	return nil
}

// ended reports whether a process is gone, or dead and only not yet collected
// by the process that inherited it.
func ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}
