package terminal

import (
	"fmt"
	"io"
	"strings"
)

// The tags that an answer's citations are written in. Between an opening
// and a closing tag is the citation's number in brackets.
var citationTags = []string{"<citation ", "<web_citation ", "</citation>", "</web_citation>"}

// sourceTag is what a citation of a page of the web begins with while the answer streams:
// <source_3> is [3].
const sourceTag = "<source_"

// longestTag bounds how much text is held back for a tag that does not close.
const longestTag = 4096

// Answer writes an answer while it streams, with its citations as [n]. The text
// may be cut anywhere, also inside a citation. Write errors are kept and
// returned by Close.
type Answer struct {
	out   io.Writer
	wrap  wrapper
	text  strings.Builder // as it came, since the last reset
	held  string          // the beginning of what may be a tag
	shown bool            // something of the present text was written
	last  byte            // written
	err   error
}

// NewAnswer makes an Answer that writes to out. On a Screen its lines are wrapped.
func NewAnswer(out io.Writer) *Answer {
	return &Answer{out: out, wrap: wrapper{width: Width(out)}, last: '\n'}
}

// Add writes the next piece of the answer.
func (a *Answer) Add(text string) {
	a.text.WriteString(text)
	a.held += text
	a.emit(false)
}

// Reset drops the text so far. A terminal cannot take text back, so Reset writes a
// line that declares it void.
func (a *Answer) Reset(reason string) {
	a.emit(true)
	if a.shown {
		a.Line("(the text above is void: " + resetReason(reason) + ")")
	}
	a.text.Reset()
	a.shown = false
}

func resetReason(reason string) string {
	switch reason {
	case "retry":
		return "the model was asked again and answers otherwise"
	case "tool_calls":
		return "the model went on to look something up"
	case "message":
		return "a message was sent to the answer"
	default:
		return line(reason)
	}
}

// Line writes a line of our own between the answer's.
func (a *Answer) Line(text string) {
	a.end()
	a.write(line(text) + "\n")
}

// Text is the answer as it came, citations marked up, without what was reset.
func (a *Answer) Text() string { return a.text.String() }

// Close writes what was held back and ends the last line.
func (a *Answer) Close() error {
	a.emit(true)
	a.end()
	return a.err
}

// Pause ends the line on a Screen, so that somebody else can write there.
func (a *Answer) Pause() {
	if a.wrap.width == 0 {
		return
	}
	a.print(a.wrap.flush())
	cut := a.last != '\n'
	a.end()
	a.wrap.cut = cut
}

func (a *Answer) end() {
	a.print(a.wrap.flush())
	if a.last != '\n' {
		a.write("\n")
	}
}

// emit writes the held text up to what may still become a tag; final writes it
// all.
func (a *Answer) emit(final bool) {
	rest := a.held
	var out strings.Builder
	for {
		before, tagged, found := strings.Cut(rest, "<")
		out.WriteString(before)
		if !found {
			rest = ""
			break
		}
		rest = "<" + tagged
		length, maybe := citationTag(rest)
		if maybe && !final {
			break
		}
		switch {
		case length == 0:
			out.WriteByte('<')
			length = 1
		case strings.HasPrefix(rest, sourceTag):
			out.WriteString("[" + rest[len(sourceTag):length-1] + "]")
		}
		rest = rest[length:]
	}
	a.held = rest
	if text := Clean(out.String()); text != "" {
		a.write(text)
		a.shown = true
	}
}

// citationTag returns the length of the tag that s starts with, 0 = none; maybe
// is true while more text could make it one.
func citationTag(s string) (length int, maybe bool) {
	if length, maybe := sourceMark(s); length > 0 || maybe {
		return length, maybe
	}
	for _, tag := range citationTags {
		switch {
		case strings.HasPrefix(tag, s) && s != tag:
			return 0, true
		case !strings.HasPrefix(s, tag):
			continue
		}
		if end := strings.IndexByte(s, '>'); end >= 0 && end < longestTag {
			return end + 1, false
		}
		return 0, len(s) < longestTag
	}
	return 0, false
}

// sourceMark is citationTag for the mark of a page of the web.
func sourceMark(s string) (length int, maybe bool) {
	digits, found := strings.CutPrefix(s, sourceTag)
	if !found {
		return 0, strings.HasPrefix(sourceTag, s)
	}
	rest := strings.TrimLeft(digits, "0123456789")
	switch {
	case rest == "":
		return 0, len(s) < longestTag
	case rest[0] == '>' && len(rest) < len(digits):
		return len(s) - len(rest) + 1, false
	}
	return 0, false
}

func (a *Answer) write(text string) { a.print(a.wrap.add(text)) }

func (a *Answer) print(text string) {
	if a.err != nil || text == "" {
		return
	}
	if _, err := io.WriteString(a.out, text); err != nil {
		a.err = fmt.Errorf("write the answer: %w", err)
	}
	a.last = text[len(text)-1]
}
