package pdf

import (
	"slices"
	"unicode"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"golang.org/x/text/unicode/norm"
)

// logical returns the glyphs with scripts that are written from right to left
// in reading order. They are in the opposite order in two cases: where the file
// stores them in visual order, and where they are the replacement text of a
// picture or word, which pdfium reverses. In the second case all of them have
// the box of the whole. The letters of words and the words may differ in that.
func logical(glyphs []glyph, turned int) []glyph {
	if !slices.ContainsFunc(glyphs, reversible) {
		return glyphs
	}
	out := slices.Clone(glyphs)
	for start := 0; start < len(out); start++ {
		if !reversible(out[start]) {
			continue
		}
		end := start + 1
		for i := start + 1; i < len(out) && !leftToRight(out[i].char); i++ {
			if reversible(out[i]) {
				end = i + 1
			}
		}
		inReadingOrder(out[start:end], turned)
		start = end
	}
	return out
}

// reversible reports whether a glyph is a letter of a script that is written from right
// to left.
func reversible(g glyph) bool { return g.visible() && layout.RightToLeft(g.char) }

// inReadingOrder brings a run of such a script into reading order.
func inReadingOrder(run []glyph, turned int) {
	letters, words, same := steps(run, turned)
	reversed := letters > 0
	switch {
	case letters == 0 && words == 0 && same > 1:
		slices.Reverse(run)
		return
	case words > 0:
		reverseLetters(run)
		if !reversed {
			eachWord(run, reverseLetters)
		}
	case reversed && words < 0:
		eachWord(run, reverseLetters)
	case reversed:
		reverseLetters(run)
	}
	repairDrawings(run, reversed)
	repairMarks(run)
}

// steps returns how many letters stand to the right of the letter before, less those to
// its left: within the words of a run, and from word to word. same counts those at the
// same place.
func steps(run []glyph, turned int) (letters, words, same int) {
	last, space := 0, false
	for i := 1; i < len(run); i++ {
		if !run[i].visible() {
			space = space || !unicode.Is(unicode.Cf, run[i].char)
			continue
		}
		if !reversible(run[i]) {
			continue
		}
		step := -1
		switch before, here := layout.Upright(run[last].box, turned), layout.Upright(run[i].box, turned); {
		case before == here:
			same++
			step = 0
		case here.X1 > before.X1:
			step = 1
		}
		if space {
			words += step
		} else {
			letters += step
		}
		last, space = i, false
	}
	return letters, words, same
}

// eachWord calls change for the words of a run.
func eachWord(run []glyph, change func([]glyph)) {
	for start := 0; start < len(run); {
		end := start
		for end < len(run) && run[end].visible() {
			end++
		}
		change(run[start:end])
		start = end + 1
	}
}

// reverseLetters reverses glyphs. Each accent stays behind its letter.
func reverseLetters(run []glyph) {
	slices.Reverse(run)
	for i := 0; i < len(run); {
		end := i
		for end < len(run) && unicode.IsMark(run[end].char) {
			end++
		}
		if end < len(run) && end > i {
			slices.Reverse(run[i : end+1])
		}
		i = end + 1
	}
}

// repairDrawings restores the order of the letters that one drawing stands for, which
// have the same box. pdfium reverses them with the others, although they are stored in
// reading order, so they are right only if that was reversed again. It takes a
// presentation form apart in reading order.
func repairDrawings(run []glyph, reversed bool) {
	for start := 0; start < len(run); {
		end := start + 1
		for end < len(run) && run[start].visible() && run[end].box == run[start].box {
			end++
		}
		if letters := run[start:end]; len(letters) > 1 && isBackwards(letters, reversed) {
			slices.Reverse(letters)
		}
		start = end
	}
}

// isBackwards reports whether the letters of a drawing are in the opposite of their
// reading order. Those of a presentation form, as lam and alef, show it themselves.
func isBackwards(letters []glyph, reversed bool) bool {
	var text []rune
	for _, g := range letters {
		if !unicode.IsMark(g.char) {
			text = append(text, g.char)
		}
	}
	here := forms[string(text)]
	slices.Reverse(text)
	if there := forms[string(text)]; here != there {
		return there
	}
	return !reversed
}

// forms are the texts for which Arabic has a presentation form of several letters.
var forms = func() map[string]bool {
	texts := map[string]bool{}
	for _, block := range [][2]rune{{0xfbea, 0xfbfb}, {0xfc00, 0xfdfb}, {0xfef5, 0xfefc}} {
		for form := block[0]; form <= block[1]; form++ {
			if text := norm.NFKC.String(string(form)); text != string(form) {
				texts[text] = true
			}
		}
	}
	return texts
}()

// repairMarks moves each accent behind the letter on which it stands, if pdfium has
// reversed the two.
func repairMarks(run []glyph) {
	on := func(mark, letter glyph) bool {
		middle := (mark.box.X1 + mark.box.X2) / 2
		return letter.visible() && middle >= letter.box.X1 && middle <= letter.box.X2
	}
	for i := 0; i+1 < len(run); i++ {
		mark, next := run[i], run[i+1]
		if mark.visible() && unicode.IsMark(mark.char) && !unicode.IsMark(next.char) && on(mark, next) && (i == 0 || !on(mark, run[i-1])) {
			run[i], run[i+1] = next, mark
		}
	}
}

func leftToRight(char rune) bool {
	return unicode.IsDigit(char) || unicode.IsLetter(char) && !layout.RightToLeft(char)
}
