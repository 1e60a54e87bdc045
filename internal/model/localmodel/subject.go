package localmodel

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/phrase"
)

// Limits of the words that a refusal lists.
const (
	mostSubjects   = 12
	longestSubject = 60 // characters
)

// leastRarity is the rarity below which a word of another language than English, whose words
// of grammar are known, is one of grammar.
const leastRarity = 0.6

// subject collects the words that tell what a text is about, as they are written there.
type subject struct {
	text     string
	language string // code of the text's language, "" if it is uncertain
	words    []string
	read     int // byte offset in the text up to which words are listed
}

// add lists the word of which text[start:end] is a part, unless that part is grammar.
func (s *subject) add(start, end int, rarity float64) {
	if end <= s.read || len(s.words) >= mostSubjects || s.isGrammar(s.text[start:end], rarity) {
		return
	}
	start, end = wholeWord(s.text, start, end)
	s.words, s.read = append(s.words, knowledge.Cut(s.text[start:end], longestSubject)), end
}

// isGrammar reports whether a part of a word hardly says what the text is about. In English
// such words are no terms of a question. A word in plain letters of a text in an uncertain
// language counts as English.
func (s *subject) isGrammar(part string, rarity float64) bool {
	plain := !strings.ContainsFunc(part, func(r rune) bool { return r >= utf8.RuneSelf })
	if s.language == "eng" || s.language == "" && plain {
		return false
	}
	return rarity < leastRarity || phrase.FunctionWord(strings.ToLower(part), s.language)
}

// joiners connect the parts of a word without being letters.
const joiners = "-‐‑'’._&@\u200c\u200d"

// wholeWord returns the bounds of the word around text[start:end] as a person wrote it: with
// its marks, and with what is joined to it by hyphens and the like. In scripts without spaces
// between words it is all up to the next space, sign or letter of another script.
func wholeWord(text string, start, end int) (from, to int) {
	first, _ := utf8.DecodeRuneInString(text[start:])
	unspaced := knowledge.Unspaced(first)
	inside := func(r rune) bool {
		switch {
		case unicode.IsMark(r), unicode.IsDigit(r), unicode.Is(unicode.Lm, r):
			return true
		case unicode.IsLetter(r):
			return knowledge.Unspaced(r) == unspaced
		default:
			return strings.ContainsRune(joiners, r)
		}
	}
	before := text[len(strings.TrimRightFunc(text[:start], inside)):start]
	after := text[end : len(text)-len(strings.TrimLeftFunc(text[end:], inside))]
	return start - len(strings.TrimLeft(before, joiners)), end + len(strings.TrimRight(after, joiners))
}
