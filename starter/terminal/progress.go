package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows how far a number of documents is: a bar where there is a
// terminal, with lines above it, otherwise lines only. Safe for concurrent use.
type Progress struct {
	mu    sync.Mutex
	out   io.Writer
	bar   *progressbar.ProgressBar // nil = no terminal
	width int                      // of the terminal; 0 = unlimited
}

// NewProgress starts to show the progress of total documents. bar may be nil,
// where there is no terminal to draw a bar on.
func NewProgress(out, bar io.Writer, total int) *Progress {
	p := &Progress{out: out, width: barWidth(bar)}
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

// Grow adds documents to those that are expected, and counts some as done, for a file that
// becomes several documents. Done counts the last one of them.
func (p *Progress) Grow(more, done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		return
	}
	// A bar that cannot be drawn is no reason to stop the work.
	p.bar.ChangeMax64(p.bar.GetMax64() + int64(more))
	_ = p.bar.Add(done)
}

// Now shows beside the bar what a document does at the moment.
func (p *Progress) Now(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Describe(besideBar(line(doing), p.width, p.bar.GetMax64()))
	}
}

// longestDoing is the longest text beside a bar, in columns.
const longestDoing = 52

// besideBar cuts the text beside the bar of total things so that both are one line of a
// terminal: what is wrapped stays when the bar is drawn again.
func besideBar(text string, width int, total int64) string {
	most := longestDoing
	if width > 0 {
		beside := len("100% || (/) [59m59s:59m59s] ") + 2*len(strconv.FormatInt(total, 10))
		most = min(most, max(0, width-beside))
	}
	return ansi.Truncate(text, most, "…")
}

// LastLine returns a text cut so that it stays one line at the end of a terminal, which can
// be taken away.
func LastLine(bar io.Writer, text string) string {
	width := barWidth(bar)
	if width == 0 {
		width = 80
	}
	return ansi.Truncate(line(text), max(1, width-2), "…")
}

// barWidth returns the columns of the terminal on which a bar is drawn, 0 = unknown.
func barWidth(bar io.Writer) int {
	file, ok := bar.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Note writes a line that is no outcome to out, above the bar. Errors are ignored: a note
// that cannot be written is no reason to stop the work.
func (p *Progress) Note(out io.Writer, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	_, _ = fmt.Fprintln(out, Wrapped(out, line(text)))
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
