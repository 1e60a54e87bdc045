package terminal

import (
	"fmt"
	"io"
	"sync"

	"github.com/schollz/progressbar/v3"
)

// Progress shows how far a number of documents is: a bar where there is a
// terminal, with lines above it, otherwise lines only. Safe for concurrent use.
type Progress struct {
	mu  sync.Mutex
	out io.Writer
	bar *progressbar.ProgressBar // nil = no terminal
}

// NewProgress starts to show the progress of total documents. bar may be nil,
// where there is no terminal to draw a bar on.
func NewProgress(out, bar io.Writer, total int) *Progress {
	p := &Progress{out: out}
	if bar != nil {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetRenderBlankState(true),
			progressbar.OptionSetWriter(bar),
			progressbar.OptionSetDescription("documents"),
			progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(30),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// Done counts one document and writes its outcome.
func (p *Progress) Done(outcome, name, detail string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		if err := p.bar.Clear(); err != nil {
			return fmt.Errorf("draw the progress bar: %w", err)
		}
	}
	if err := Outcome(p.out, outcome, name, detail); err != nil {
		return err
	}
	if p.bar != nil {
		if err := p.bar.Add(1); err != nil {
			return fmt.Errorf("draw the progress bar: %w", err)
		}
	}
	return nil
}

// Now shows beside the bar what a document does at the moment.
func (p *Progress) Now(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Describe("documents, " + Shorten(line(doing), longestDoing))
	}
}

// longestDoing is the longest text beside the bar, in code points.
const longestDoing = 40

// Note writes a line that is no outcome to out, above the bar. Errors are ignored: a note
// that cannot be written is no reason to stop the work.
func (p *Progress) Note(out io.Writer, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	_, _ = fmt.Fprintln(out, line(text))
}

// Close takes the bar away.
func (p *Progress) Close() error {
	if p.bar == nil {
		return nil
	}
	return p.bar.Clear()
}

// Outcome writes what became of a document.
func Outcome(out io.Writer, outcome, name, detail string) error {
	text := fmt.Sprintf("%-9s  %s", outcome, line(name))
	if detail = line(detail); detail != "" {
		text += "  " + detail
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
