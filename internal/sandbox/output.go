package sandbox

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// flood is the output of a job, in bytes, at which the sandbox ends it.
const flood = 4 << 20

// output keeps the begin of what a job prints.
type output struct {
	kept  strings.Builder
	total atomic.Int64
}

// Write implements io.Writer. It never fails, so that the job is not blocked.
func (o *output) Write(p []byte) (int, error) {
	o.total.Add(int64(len(p)))
	if room := MaxOutput - o.kept.Len(); room > 0 {
		o.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// text returns what was kept, with a note of what was not.
func (o *output) text() string {
	text := strings.ToValidUTF8(o.kept.String(), "\uFFFD")
	if total := o.total.Load(); total > MaxOutput {
		text += fmt.Sprintf("\n[cut: %d of %d bytes]", MaxOutput, total)
	}
	return text
}

// lastLine returns the last line of a text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
