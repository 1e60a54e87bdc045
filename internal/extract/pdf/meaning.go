package pdf

import (
	"unicode"

	"github.com/cairn-rag/cairn/internal/extract/legible"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// A font may lack the table that says which characters its drawings stand for. pdfium
// then returns the codes of the drawings. In many files these are the characters all the
// same, as in a Type 3 font that names a standard encoding, or where the table is written
// with the operators of another kind of table. In the others they are numbers without a
// meaning, and such text must not be published.

// meaningful returns the glyphs without the unknown ones whose codes do not read as text
// in their font, and the number of characters that it left out.
func (t textPage) meaningful(glyphs []glyph) (kept []glyph, unknown int, err error) {
	if glyphs, err = t.withoutSilent(glyphs); err != nil {
		return nil, 0, err
	}
	fonts := map[string]*sample{}
	of := make([]*sample, len(glyphs))
	for i, g := range glyphs {
		if !g.unknown {
			continue
		}
		info, _, err := t.fontInfo(g.index)
		if err != nil {
			return nil, 0, err
		}
		name := string(info)
		if fonts[name] == nil {
			fonts[name] = &sample{}
		}
		of[i] = fonts[name]
		of[i].add(g, i > 0 && of[i-1] == of[i])
	}
	if err := t.addControls(glyphs, of); err != nil {
		return nil, 0, err
	}
	rejected := func(i int) bool {
		return i >= 0 && i < len(glyphs) && of[i] != nil && (!of[i].reads() || glyphs[i].char == unicode.ReplacementChar)
	}
	for i, g := range glyphs {
		// pdfium does not say of a letter that it takes apart that it has no meaning.
		piece := g.word == "" && g.char > lastLatin && g.visible() && (rejected(i-1) || rejected(i+1))
		if rejected(i) || piece {
			unknown += max(1, len([]rune(g.word)))
			g = glyph{char: ' ', index: g.index} // keeps its neighbours apart
		}
		kept = append(kept, g)
	}
	return kept, unknown, nil
}

// addControls adds the control characters between unknown glyphs to their fonts. No text
// has them, but the numbers of drawings may be as low.
func (t textPage) addControls(glyphs []glyph, of []*sample) error {
	var last *sample
	for i, g := range glyphs {
		if of[i] != nil {
			last = of[i]
		}
		if last == nil || !unicode.IsControl(g.char) || endsLine(g.char) || g.char == '\t' {
			continue
		}
		unknown, err := t.lib.call("FPDFText_HasUnicodeMapError", t.handle, uint64(g.index))
		if err != nil {
			return err
		}
		last.meaningless += int(unknown)
		last.all += int(unknown)
	}
	return nil
}

// sample is the text of a font on a page.
type sample struct {
	all, meaningless int      // characters, and among them those that no text has
	words            []string // of the first sampleWords glyphs
	verdict          *bool
}

const sampleWords = 2000

// add adds a glyph. joined is true if it continues the word of the one before.
func (s *sample) add(g glyph, joined bool) {
	text := g.word
	if text == "" {
		text = string(g.char)
	}
	for _, r := range text {
		s.all++
		if r == unicode.ReplacementChar || unicode.Is(unicode.Co, r) || unicode.IsControl(r) || !unicode.IsGraphic(r) {
			s.meaningless++
		}
	}
	switch n := len(s.words); {
	case joined && n > 0:
		s.words[n-1] += text
	case n < sampleWords:
		s.words = append(s.words, text)
	}
}

// reads reports whether the codes of a font read as text of some language.
func (s *sample) reads() bool {
	if s.verdict == nil {
		verdict := s.meaningless*50 <= s.all && legible.Words(s.words)
		s.verdict = &verdict
	}
	return *s.verdict
}

// warnUnknown warns of pages with characters that have no meaning.
func warnUnknown(l *knowledge.Layout, page int) {
	l.Warn(knowledge.WarnUnknownCharacters, []int{page},
		"the PDF does not say which characters some of its drawings are, so text may be missing; make the PDF again from its source, or send a scan")
}
