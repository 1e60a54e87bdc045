package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/text/unicode/norm"
)

// A font may lack the table that says which characters its drawings stand for. pdfium
// then returns the codes of the drawings. In many files these are the characters all the
// same, as in a Type 3 font that names a standard encoding, or where the table is written
// with the operators of another kind of table. In the others they are numbers without a
// meaning, and such text must not be published.

// meaningful returns the glyphs without the unknown ones whose codes do not read as text
// in their font, and the number of characters that it left out.
func (t textPage) meaningful(glyphs []glyph) (kept []glyph, unknown int, err error) {
	fonts := map[string]*sample{}
	of := make([]*sample, len(glyphs))
	for i, g := range glyphs {
		if !g.unknown {
			continue
		}
		name, err := t.fontName(g.index)
		if err != nil {
			return nil, 0, err
		}
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

// fontName returns the name of a character's font.
func (t textPage) fontName(index int) (string, error) {
	const room = 256
	n, err := t.lib.number("FPDFText_GetFontInfo", t.handle, uint64(index), t.lib.scratch, room, t.lib.scratch+room)
	if err != nil {
		return "", err
	}
	return string(t.lib.bytes(min(max(n, 0), room))), nil
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
		verdict := s.meaningless*50 <= s.all && readsAsText(s.words)
		s.verdict = &verdict
	}
	return *s.verdict
}

// readsAsText reports whether words are of some language, and not characters that stand
// side by side by chance. Numbers alone are text.
func readsAsText(words []string) bool {
	letters, digits, others := 0, 0, 0
	scripts := map[string]int{}
	for _, word := range words {
		for _, r := range word {
			switch {
			case unicode.IsLetter(r) || unicode.IsMark(r):
				letters++
				scripts[scriptOf(r)]++
			case unicode.IsDigit(r):
				digits++
			default:
				others++
			}
		}
	}
	if others > letters+digits || letters+digits == 0 {
		return false
	}
	foreign, most := 0, 0
	for script, n := range scripts {
		if script != latin {
			foreign, most = foreign+n, max(most, n)
		}
	}
	return most*20 >= foreign*19 && scripts[otherScript] == 0 && shaped(words) && natural(words)
}

const (
	latin       = "Latin"
	otherScript = ""
)

// scriptOf returns the script of a letter, one name for the scripts of Chinese, Japanese
// and Korean, which one text mixes, and otherScript for a rare one.
func scriptOf(r rune) string {
	switch {
	case unicode.IsMark(r), r <= lastLatin, unicode.Is(unicode.Latin, r):
		return latin
	case r >= 0x3400 && r < 0x4e00: // Han that is rare, but common as the number of a drawing
		return otherScript
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo), r == 'ー', r == '々':
		return "Han"
	}
	for _, name := range []string{"Cyrillic", "Greek", "Arabic", "Hebrew", "Thai", "Devanagari", "Bengali", "Tamil", "Telugu", "Georgian", "Armenian"} {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	return otherScript
}

// shaped reports whether most words with letters are written as words are: in small
// letters, with a capital first, or in capitals, and without other characters among
// the letters.
func shaped(words []string) bool {
	good, all := 0, 0
	for _, word := range words {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		parts := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
		if len(parts) == 0 {
			continue
		}
		all++
		strange := strings.ContainsFunc(word, func(r rune) bool {
			return r <= lastLatin && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-'./&@_:,·()+%", r)
		})
		if !strange && !slices.ContainsFunc(parts, func(part string) bool { return !cased(part) }) {
			good++
		}
	}
	return good*5 >= all*4
}

// cased reports whether a word is written in small letters after its first, or in capitals.
func cased(word string) bool {
	_, size := utf8.DecodeRuneInString(word)
	rest := word[size:]
	return rest == strings.ToLower(rest) || word == strings.ToUpper(word)
}

// frequency is how often each letter from a to z stands among ten thousand letters of
// the European languages, about.
var frequency = [26]int{
	850, 150, 320, 380, 1300, 150, 200, 250, 750, 30, 150, 400, 280, 700, 650, 250, 20, 680, 650, 700, 350, 150, 130, 20, 120, 80,
}

const (
	vowelsOf = "aeiouyæøœаеёиоуыэюяіїєαειηουω"
	// fewest is how many letters show whether they are of a language by their frequency.
	fewest = 15
	// longWord is more letters than the words of a text have on average.
	longWord = 18
)

// natural reports whether the letters of Latin words are about as frequent as in a text,
// and whether words in Latin, Cyrillic or Greek letters have vowels.
func natural(words []string) bool {
	vowels, lower, letters, latins, count := 0, 0, 0, 0, 0
	common := 0
	for _, word := range words {
		before := letters
		for _, r := range norm.NFD.String(word) {
			if !unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) || !unicode.IsLetter(r) {
				continue
			}
			letters++
			if unicode.IsLower(r) {
				lower++
			}
			r = unicode.ToLower(r)
			if strings.ContainsRune(vowelsOf, r) {
				vowels++
			}
			if r >= 'a' && r <= 'z' {
				latins++
				common += frequency[r-'a']
			}
		}
		count += min(1, letters-before)
	}
	switch {
	case letters == 0:
		return true
	case letters < fewest && lower == 0: // a few signs such as EUR, or by chance
		return slices.ContainsFunc(words, isNumber)
	case letters > longWord*count:
		return false
	case letters >= 6 && (vowels*5 < letters || vowels*10 > letters*7):
		return false
	}
	return latins < fewest || common >= usualMean*latins
}

// usualMean is the least mean of frequency in a text: of letters by chance it is about
// 385, of a text 650.
const usualMean = 480

func isNumber(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) && !strings.ContainsFunc(word, unicode.IsLetter)
}

// warnUnknown warns of pages with characters that have no meaning.
func warnUnknown(l *knowledge.Layout, page int) {
	l.Warn(knowledge.WarnUnknownCharacters, []int{page},
		"the PDF does not say which characters some of its drawings are, so text may be missing; make the PDF again from its source, or send a scan")
}
