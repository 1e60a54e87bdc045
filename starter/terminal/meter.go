package terminal

import (
	"fmt"
	"io"
	"sync"

	"github.com/schollz/progressbar/v3"
)

// Meter shows how far one long piece of work is: a bar where there is a terminal,
// otherwise a line each time. Safe for concurrent use.
type Meter struct {
	mu    sync.Mutex
	out   io.Writer
	bar   *progressbar.ProgressBar // nil = no terminal
	width int                      // of the terminal; 0 = unlimited
}

// NewMeter starts to show the progress of a piece of work. bar may be nil, where there is
// no terminal to draw a bar on; lines then go to out.
func NewMeter(out, bar io.Writer) *Meter {
	m := &Meter{out: out, width: barWidth(bar)}
	if bar != nil {
		m.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(bar),
			progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(30),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish(),
		)
	}
	return m
}

// Show shows that done of total is done, as far as total is known, with a text.
func (m *Meter) Show(done, total int64, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar == nil {
		_, err := fmt.Fprintf(m.out, "%d of %d, %s\n", done, total, line(text))
		return err
	}
	total = max(total, done+1) // a full bar is finished, and more may be found
	m.bar.Describe(besideBar(line(text), m.width, total))
	m.bar.ChangeMax64(total)
	if err := m.bar.Set64(done); err != nil {
		return fmt.Errorf("draw the progress bar: %w", err)
	}
	return nil
}

// Note writes a line to out, above the bar. Errors are ignored: a note that cannot be
// written is no reason to stop the work.
func (m *Meter) Note(out io.Writer, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		_ = m.bar.Clear()
	}
	_, _ = fmt.Fprintln(out, Wrapped(out, line(text)))
}

// Close takes the bar away.
func (m *Meter) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar == nil {
		return nil
	}
	return m.bar.Clear()
}
