package align

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// drawnWords is how many words of letters a drawing shows at least. Dates and numbers
// of pages alone are no drawing.
const drawnWords = 2

// knownShare is the share of its words above which text of the PDF is in the document
// already, though not on a line.
const knownShare = .8

// addDrawings adds the text of the PDF that the document does not have: it stands in
// drawings of a kind that only the other program reads, as EMF pictures and older
// charts. Each group of such text on a page is a figure, behind the text of the page.
func (a *aligner) addDrawings(layout *knowledge.Layout, pdf knowledge.Layout) {
	known := newVocabulary(layout.Blocks)
	var group []knowledge.Block
	place := 0 // of the words of the block, in a.words
	for _, b := range pdf.Blocks {
		if len(b.Lines) == 0 {
			continue
		}
		words := wordsOf(b.Text, 0)
		isNew := !b.Kind.IsFurniture() && a.isNew(words, place, known)
		place += len(words)
		if len(group) > 0 && (!isNew || group[0].Lines[0].Page != b.Lines[0].Page) {
			insert(layout, group)
			group = nil
		}
		if isNew {
			group = append(group, b)
		}
	}
	if len(group) > 0 {
		insert(layout, group)
	}
}

// vocabulary is the words of a document, and its text without anything between them:
// the PDF may divide words.
type vocabulary struct {
	words  map[string]bool
	text   string
	spaced string // the words, apart
}

func newVocabulary(blocks []knowledge.Block) vocabulary {
	v := vocabulary{words: map[string]bool{}}
	var b, spaced strings.Builder
	for _, block := range blocks {
		for _, w := range wordsOf(block.Text, 0) {
			v.words[w.text] = true
			b.WriteString(w.text)
			spaced.WriteString(w.text + " ")
		}
	}
	v.text, v.spaced = b.String(), spaced.String()
	return v
}

// noteNumbers are what the numbers of notes are made of.
const noteNumbers = "0123456789ivxlc"

// has reports whether the document has a word, which in the PDF may stand behind the number of
// its note without a space between.
func (v vocabulary) has(word string) bool {
	for !v.words[word] {
		if word == "" || strings.IndexByte(noteNumbers, word[0]) < 0 {
			return false
		}
		word = word[1:]
	}
	return true
}

// hasPiece reports whether the document has a word with these letters in it: a narrow cell of
// a table breaks words anywhere, without a hyphen.
func (v vocabulary) hasPiece(letters string) bool { return strings.Contains(v.spaced, letters) }

// isNew reports whether words of the PDF from a place on are not in the document.
func (a *aligner) isNew(words []word, place int, known vocabulary) bool {
	old := 0
	var b strings.Builder
	for i, w := range words {
		if a.used[place+i] || known.has(w.text) || known.hasPiece(w.text) {
			old++
		}
		b.WriteString(w.text)
	}
	return len(words) > 0 && float64(old) < knownShare*float64(len(words)) && !strings.Contains(known.text, b.String())
}

// insert adds a group as a figure behind the last block on its page, or on a page
// before it.
func insert(layout *knowledge.Layout, group []knowledge.Block) {
	figure := knowledge.Block{Kind: knowledge.BlockFigure}
	at := 0
	var texts []string
	for _, b := range group {
		for _, l := range b.Lines {
			l.Start, l.End = l.Start+at, l.End+at
			figure.Lines = append(figure.Lines, l)
		}
		texts = append(texts, b.Text)
		at += len([]rune(b.Text)) + 1
	}
	figure.Text = strings.Join(texts, "\n")
	if !isDrawing(figure.Text) {
		return
	}
	position := 0
	for i, b := range layout.Blocks {
		if len(b.Lines) > 0 && b.Lines[0].Page <= figure.Lines[0].Page {
			position = i + 1
		}
	}
	layout.Blocks = slices.Insert(layout.Blocks, position, figure)
}

func isDrawing(text string) bool {
	count := 0
	for _, w := range wordsOf(text, 0) {
		if len(w.text) > 1 && strings.ContainsFunc(w.text, unicode.IsLetter) {
			count++
		}
	}
	return count >= drawnWords
}
