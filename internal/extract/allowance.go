package extract

import (
	"time"

	"github.com/cairn-rag/cairn/internal/process"
)

// allowance is the time of a document, or of a part of one: so much processor time, by the
// end at the latest. On a busy machine a parser waits for a processor, which is not the fault
// of its document.
type allowance struct {
	pid    int
	work   time.Duration // of a processor
	end    time.Time
	begun  bool
	before time.Duration // of a processor, which the process had used when it began
}

// newAllowance allows a child to work for so long, within a longer time from now.
func newAllowance(pid int, work, within time.Duration) *allowance {
	return &allowance{pid: pid, work: work, end: time.Now().Add(within)}
}

// begin reads the processor time from which on the work counts, once. This takes longer
// than a small text, so it is not read for a document that ends at once.
func (a *allowance) begin() {
	if !a.begun {
		a.begun = true
		a.before, _ = process.TreeCPU(a.pid) // where it cannot be read, left returns 0
	}
}

// left returns how long the child may go on for certain, at most 0 = no longer.
func (a *allowance) left() time.Duration {
	a.begin()
	used, ok := process.TreeCPU(a.pid)
	if !ok {
		return 0
	}
	return min(a.work-(used-a.before), time.Until(a.end))
}
