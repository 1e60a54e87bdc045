package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxWordBytes     = 80   // longer words are cut, in documents and in questions
	maxQuestionRunes = 2000 // beginning of a question that is used
	maxQuestionWords = 64   // distinct words of a question that are used
)

// Stems are the stems of words that were looked up, the stem of a compound with its head behind a
// space. Texts repeat most of their words, and finding a stem takes as long as the rest of
// indexing a word.
type Stems map[string]string

func (s Stems) of(word string) string {
	found, ok := s[word]
	if !ok {
		found = stem(word)
		if head := compoundHead(word); head != "" {
			found += " " + stem(head)
		}
		s[word] = found
	}
	return found
}

// Document returns the words of text that are indexed, joined by spaces: the words of the
// text in its order, each compound with its head, and then the parts of its identifiers. It adds the stems that it
// finds to known.
func Document(text string, known Stems) string {
	var b strings.Builder
	b.Grow(len(text))
	eachRun(text, func(run string, pairs bool) {
		if !pairs {
			appendWord(&b, known.of(possessed(run)))
			if word := elision(run); word != "" {
				appendWord(&b, known.of(word))
			}
			return
		}
		// The last character is also a word of its own, so that each character
		// of the run begins a word and a question of one character finds it.
		runes := []rune(run)
		for i := range runes {
			appendWord(&b, string(runes[i:min(i+2, len(runes))]))
		}
	})
	identifierParts(text, func(part string) { appendWord(&b, known.of(part)) })
	joined(text, func(word string) { appendWord(&b, known.of(word)) })
	signedNames(strings.ToLower(text), func(word, _ string) { appendWord(&b, word) })
	return b.String()
}

// Term is a word of a question.
type Term struct {
	Word   string
	Prefix bool // matches all words that begin with Word
}

// Question returns the distinct terms of text, none if it has no word. Stop
// words are used only if there is nothing else. Irregular words are asked for in all their
// forms, so that "pay" finds "paid".
func Question(text string) []Term {
	if utf8.RuneCountInString(text) > maxQuestionRunes {
		text = string([]rune(text)[:maxQuestionRunes])
	}
	var terms, stops []Term
	seen := map[Term]bool{}
	add := func(list *[]Term, word string, prefix bool) {
		t := Term{word, prefix}
		if len(seen) < maxQuestionWords && !seen[t] && word != "" {
			seen[t] = true
			*list = append(*list, t)
		}
	}
	bare := map[string]bool{} // what signed names are without their signs
	signedNames(strings.ToLower(text), func(word, without string) {
		add(&terms, word, false)
		bare[without] = true
	})
	eachRun(text, func(run string, pairs bool) {
		switch runes := []rune(run); {
		case bare[run]:
		case !pairs && isStopWord(run):
			stops = append(stops, Term{Word: stem(run)})
		case !pairs:
			if word := elision(run); word != "" {
				add(&terms, stem(word), false)
			}
			run = possessed(run)
			add(&terms, stem(run), false)
			for _, form := range irregular[run] {
				add(&terms, stem(form), false)
			}
			if head := compoundHead(run); head != "" {
				add(&terms, stem(head), false)
			}
		case len(runes) == 1:
			add(&terms, run, true)
		default:
			for i := range len(runes) - 1 {
				add(&terms, string(runes[i:i+2]), false)
			}
		}
	})
	identifierParts(text, func(part string) {
		if !isStopWord(part) {
			add(&terms, stem(part), false)
		}
	})
	joined(text, func(word string) { add(&terms, stem(word), false) })
	if len(terms) == 0 {
		for _, s := range stops {
			add(&terms, s.Word, false)
		}
	}
	return terms
}

func appendWord(b *strings.Builder, word string) {
	if word == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(word)
}

// eachRun calls yield for each run of letters, digits and marks, in lower case
// and without the accents of Latin letters. pairs is true for a run of a script
// without spaces.
func eachRun(text string, yield func(run string, pairs bool)) {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, " ")
	}
	text = strings.ToLower(norm.NFKC.String(marksApart(text)))
	start, pairs := -1, false
	end := func(at int) {
		if start >= 0 {
			yield(plain(text[start:at], pairs), pairs)
		}
		start = -1
	}
	for i, r := range text {
		word, noSpaces := classify(r)
		switch {
		case !word && start >= 0 && !pairs && (r == '\'' || r == '’') && letterFollows(text[i+utf8.RuneLen(r):]):
			// an apostrophe inside a word
		case !word:
			end(i)
		case start < 0:
			start, pairs = i, noSpaces
		case noSpaces != pairs && !unicode.IsMark(r):
			end(i)
			start, pairs = i, noSpaces
		}
	}
	end(len(text))
}

// classify reports whether r is part of a word, and whether the run that it is in
// is indexed as its pairs of characters: a script without spaces between words,
// or Korean, whose words take endings.
func classify(r rune) (word, noSpaces bool) {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9', false
	}
	if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != 'ー' {
		return false, false
	}
	return true, knowledge.Unspaced(r) || unicode.Is(unicode.Hangul, r) || r == 'ー'
}

func letterFollows(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}

// plain removes the accents of Latin letters and the vowel signs of Arabic and Hebrew,
// writes Persian letters as the Arabic ones that look alike, replaces curly apostrophes
// and cuts long words.
func plain(run string, pairs bool) string {
	if pairs || isASCII(run) {
		return cut(run, pairs)
	}
	var b strings.Builder
	accents := false // may follow
	for _, r := range norm.NFD.String(run) {
		switch {
		case r == '’':
			b.WriteByte('\'')
		case r == 'ß':
			b.WriteString("ss")
		case r == 'ı': // a capital I is lowered to i in every language
			b.WriteByte('i')
		case unicode.Is(unicode.Mn, r) && accents, r == 'ـ': // it lengthens a word
		default:
			accents = unicode.In(r, unicode.Latin, unicode.Arabic, unicode.Hebrew)
			if alike, ok := arabicLike[r]; ok {
				r = alike
			}
			b.WriteRune(r)
		}
	}
	return cut(norm.NFC.String(b.String()), pairs)
}

// arabicLike has letters that keyboards and files exchange for others.
var arabicLike = map[rune]rune{'ی': 'ي', 'ى': 'ي', 'ک': 'ك'}

func cut(run string, pairs bool) string {
	if pairs || len(run) <= maxWordBytes {
		return run
	}
	at := maxWordBytes
	for !utf8.RuneStart(run[at]) {
		at--
	}
	return run[:at]
}

// stem returns the English stem of a word of ASCII letters, and any other word
// without its apostrophes. A word of another language may get a wrong stem, but
// the same in a document and in a question.
func stem(word string) string {
	if len(word) > 2 && isASCII(word) && !strings.ContainsAny(word, "0123456789") {
		word = english.Stem(word, false)
	}
	return strings.ReplaceAll(word, "'", "")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
