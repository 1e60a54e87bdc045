package terminal

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Screen is a writer to a terminal. The functions of this package fit their text to it; on
// other writers, such as a pipe or a file, they cut and colour nothing.
type Screen struct {
	io.Writer
	Width   int  // in columns; 0 = unlimited
	Colours bool // whether escape sequences for colours may be written
}

// OnScreen returns a file as a Screen if it is a terminal, and otherwise the file itself.
// noColour is the variable NO_COLOR: with any value but the empty one, nothing is coloured.
func OnScreen(file *os.File, noColour string) io.Writer {
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return file
	}
	return Screen{Writer: file, Width: width, Colours: noColour == ""}
}

// Wide returns out without a limit of its width.
func Wide(out io.Writer) io.Writer {
	s, ok := out.(Screen)
	if !ok {
		return out
	}
	s.Width = 0
	return s
}

// Width returns the number of columns of out, 0 if it is no terminal.
func Width(out io.Writer) int {
	s, _ := out.(Screen)
	return s.Width
}

// Wrap splits a text into lines of at most width columns, between words. A word that is
// longer, such as an address, has a line of its own and is not cut. A width of 0 is no
// limit.
func Wrap(text string, width int) []string {
	var lines []string
	now, used := "", 0
	for _, word := range strings.Fields(text) {
		size := ansi.StringWidth(word)
		if now != "" && width > 0 && used+1+size > width {
			lines = append(lines, now)
			now = ""
		}
		if now == "" {
			now, used = word, size
			continue
		}
		now += " " + word
		used += 1 + size
	}
	return append(lines, now)
}

// Colours of text.
var (
	heading = ansi.NewStyle().Bold()
	label   = ansi.NewStyle().Faint()
	good    = ansi.NewStyle().ForegroundColor(ansi.Green)
	busy    = ansi.NewStyle().ForegroundColor(ansi.Yellow)
	bad     = ansi.NewStyle().ForegroundColor(ansi.Red)
)

// stateStyles are the colours of the states that documents, runs, imports, keys and
// findings have.
var stateStyles = map[string]ansi.Style{
	"published": good, "completed": good, "ok": good, "up": good, "ready": good,
	"pending": busy, "running": busy, "paused": busy, "deleting": busy, "note": busy,
	"error": bad, "failed": bad, "problem": bad, "down": bad, "unavailable": bad, "revoked": bad, "expired": bad,
}

// coloured returns text in a style where out shows colours. A nil style is none.
func coloured(out io.Writer, style ansi.Style, text string) string {
	if s, ok := out.(Screen); !ok || !s.Colours || len(style) == 0 || text == "" {
		return text
	}
	return style.Styled(text)
}
