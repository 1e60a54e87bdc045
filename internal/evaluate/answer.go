package evaluate

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/phrase"
)

// firstMark is the first of the private characters that stand for citations while an answer is cut
// into sentences.
const firstMark = '\ue000'

// maxMarks is how many citations of an answer are told apart.
const maxMarks = 4096

// said is a sentence of an answer with the ids of the chunks, and the addresses of the pages, that
// it cites.
type said struct {
	text  string
	cites []string
}

// PlainAnswer returns an answer without its citations.
func PlainAnswer(answer string) string {
	var b strings.Builder
	for _, s := range sentencesOf(answer) {
		b.WriteString(s.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// sentencesOf returns the sentences of an answer. A citation belongs to the sentence in which or
// behind which it stands.
func sentencesOf(answer string) []said {
	marked, cited := markCitations(answer)
	var out []said
	for _, l := range linesOf(marked) {
		leading := l.text[:len(l.text)-len(strings.TrimLeftFunc(l.text, func(r rune) bool { return isMark(r) || unicode.IsSpace(r) }))]
		if len(out) > 0 && !l.row {
			out[len(out)-1].cite(leading, cited)
			l.text = l.text[len(leading):]
		}
		s := said{text: strings.Join(strings.Fields(spacedMark.ReplaceAllString(l.text, "")), " ")}
		s.cite(l.text, cited)
		if s.text != "" {
			out = append(out, s)
		}
	}
	return out
}

func isMark(r rune) bool { return r >= firstMark && r < firstMark+maxMarks }

// spacedMark matches a mark with the space before it.
var spacedMark = regexp.MustCompile(` ?[\x{e000}-\x{efff}]`)

func withoutMark(r rune) rune {
	if isMark(r) {
		return ' '
	}
	return r
}

// cite adds what the marks in a text stand for.
func (s *said) cite(text string, cited []string) {
	for _, r := range text {
		if isMark(r) && !slices.Contains(s.cites, cited[r-firstMark]) {
			s.cites = append(s.cites, cited[r-firstMark])
		}
	}
}

// markCitations returns an answer with a private character for each citation, and what they cite.
func markCitations(answer string) (marked string, cited []string) {
	var plain citation.PlainText
	text := []rune(plain.Write(strings.Map(withoutMark, answer)) + plain.Close())
	var b strings.Builder
	at := 0
	for _, c := range plain.Cited {
		if c.Start < at || c.End > len(text) || len(cited) == maxMarks {
			continue
		}
		b.WriteString(strings.TrimRight(string(text[at:c.Start]), " "))
		b.WriteString(" " + string(firstMark+rune(len(cited))))
		if c.End < len(text) && unicode.IsLetter(text[c.End]) {
			b.WriteByte(' ')
		}
		cited = append(cited, cmp.Or(c.ChunkID, c.URL))
		at = c.End
	}
	b.WriteString(string(text[at:]))
	return b.String(), cited
}

// longestRefusal is how many sentences an answer has at most that only says that there is none.
const longestRefusal = 3

// refusals match sentences which say that the documents have no answer, in English and in German.
var refusals = regexp.MustCompile(`(?i)\b(?:` + strings.Join([]string{
	`(?:documents?|passages?|sources?|context|manual|handbook|text) (?:do|does) not (?:contain|mention|say|state|answer|provide|include|specify)`,
	`(?:cannot|can't|could not|couldn't|unable to) (?:find|answer|determine)`, `(?:no|not any|not enough|insufficient) information`,
	`(?:is|are) not (?:mentioned|stated|specified|covered|described|given|documented)`, `(?:do not|don't) know`, `no answer`,
	`(?:dokumente?|quellen?|unterlagen|kontext|texte?) (?:enthält|enthalten|nennt|nennen|erwähnt|erwähnen|beantwortet|beantworten) (?:\pL+ ){0,3}(?:nicht|kein)`,
	`keine (?:angaben?|informationen?|antwort)`, `(?:geht|gehen) (?:\pL+ ){0,4}nicht hervor`, `nicht (?:beantworten|enthalten|erwähnt|angegeben|genannt)`,
	`weiß (?:ich )?nicht`,
}, "|") + `)`)

// isRefusal reports whether an answer only says that the documents have no answer.
func isRefusal(question, answer string) bool {
	sentences := sentencesOf(answer)
	for i, s := range sentences {
		for _, p := range []phrase.Phrases{phrase.For(question), phrase.For(s.text)} {
			if strings.HasPrefix(s.text, p.NoAnswer) {
				return true
			}
		}
		if i == 0 && len(sentences) <= longestRefusal && refusals.MatchString(s.text) {
			return true
		}
	}
	return false
}

// isOurs reports whether a sentence is one that Cairn itself writes into answers.
func isOurs(sentence, question string) bool {
	for _, p := range []phrase.Phrases{phrase.For(question), phrase.For(sentence)} {
		for _, own := range []string{p.NoAnswer, p.LookedFor, p.OtherLanguage, p.Uncertain, p.NoPassages} {
			own, _, _ = strings.Cut(own, "%s")
			if first, _, more := strings.Cut(own, ". "); more {
				own = first // of several sentences
			}
			if strings.HasPrefix(sentence, own) {
				return true
			}
		}
	}
	return false
}
