// Package transcript makes the blocks of speech: the cues of subtitles, and the
// segments that a model hears, become passages of several sentences with their time.
package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Cue is a piece of speech of some seconds.
type Cue struct {
	Time    knowledge.Seconds
	Speaker string // "" if it is not known
	Text    string
	Origin  knowledge.Origin // of subtitles: lines of the file
}

// A passage ends with the first sentence that ends beyond enough characters, and at
// the latest at most characters. A silence of pause seconds ends it too.
const (
	enough = 300
	most   = 600
	pause  = 3.0
)

// Blocks returns the passages of cues as paragraphs, with a segment for each cue. A
// passage has one speaker, whose name it begins with.
func Blocks(cues []Cue) []knowledge.Block {
	var blocks []knowledge.Block
	var open passage
	for _, c := range cues {
		c.Text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(c.Text, "\ufffd"), isBlank), " ")
		if c.Text == "" {
			continue
		}
		if open.endsBefore(c) {
			blocks = append(blocks, open.block())
			open = passage{}
		}
		open.add(c)
	}
	if len(open.texts) > 0 {
		blocks = append(blocks, open.block())
	}
	return blocks
}

// isBlank reports whether a character separates words: white space, and control
// characters, which a passage must not have.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// passage is what one speaker says.
type passage struct {
	speaker    string
	texts      []string
	times      []knowledge.Seconds // of texts
	characters int
	time       knowledge.Seconds
	origin     knowledge.Origin
}

func (p *passage) endsBefore(c Cue) bool {
	if len(p.texts) == 0 {
		return false
	}
	last := p.texts[len(p.texts)-1]
	return c.Speaker != p.speaker || c.Time.Start-p.time.End >= pause || c.Time.Start < p.time.Start ||
		p.characters >= enough && endsSentence(last) || p.characters+utf8.RuneCountInString(c.Text) > most
}

func (p *passage) add(c Cue) {
	if len(p.texts) == 0 {
		p.speaker, p.time, p.origin.First = c.Speaker, c.Time, c.Origin.First
	}
	p.texts, p.times = append(p.texts, c.Text), append(p.times, c.Time)
	p.characters += utf8.RuneCountInString(c.Text)
	p.time.End = max(p.time.End, c.Time.End)
	p.origin.Last = c.Origin.Last
}

func (p *passage) block() knowledge.Block {
	text := strings.Join(p.texts, " ")
	start := 0
	if p.speaker != "" {
		text = p.speaker + ": " + text
		start = utf8.RuneCountInString(p.speaker + ": ")
	}
	b := knowledge.Block{Kind: knowledge.BlockParagraph, Text: text, Time: p.time, Origin: p.origin}
	for i, said := range p.texts {
		end := start + utf8.RuneCountInString(said)
		b.Speech = append(b.Speech, knowledge.Segment{Start: start, End: end, Time: p.times[i]})
		start = end + 1 // a space
	}
	return b
}

// endsSentence reports whether a text ends a sentence.
func endsSentence(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "\"'»”’)"))
	return strings.ContainsRune(".!?…。！？", r)
}
