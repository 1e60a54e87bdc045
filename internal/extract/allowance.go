package extract

import (
	"time"

	"github.com/cairn-rag/cairn/internal/process"
)

// allowance is the time of a document, or of a part of one: so much processor time, by the
// end at the latest. On a busy machine a parser waits for a processor, which is not the fault
// of its document.
type allowance struct {
	pid  int
	work time.Duration // of the process over its life, when the allowance is used up
	end  time.Time
}

// newAllowance allows a child to work for so long from now, within a longer time.
func newAllowance(pid int, work, within time.Duration) allowance {
	before, _ := process.TreeCPU(pid) // where it cannot be read, left returns 0
	return allowance{pid: pid, work: before + work, end: time.Now().Add(within)}
}

// left returns how long the child may go on for certain, at most 0 = no longer.
func (a allowance) left() time.Duration {
	used, ok := process.TreeCPU(a.pid)
	if !ok {
		return 0
	}
	return min(a.work-used, time.Until(a.end))
}
