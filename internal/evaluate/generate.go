package evaluate

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// PartGenerate is the part of a Request that makes questions.
const PartGenerate Part = "generate"

// Generated is a question that was made from passages, which its item names.
type Generated struct {
	Item Item `json:"item"`
}

// GeneratedKinds returns the kinds of questions that can be made, in the order in which they take
// turns.
func GeneratedKinds() []Kind { return []Kind{KindFact, KindTable, KindComparison, KindUnanswerable} }

// GenerationRequest returns what a model is asked to make up to count questions of a kind from
// passages. A comparison needs two passages or more; the other kinds take one.
func GenerationRequest(kind Kind, passages []Passage, count int) Request {
	user := numbered(passages) + fmt.Sprintf("Write at most %d questions.\n", count)
	return Request{PartGenerate, promptOf("generate_" + string(kind)), user}
}

// Limits of generated questions.
const (
	leastGrounded = 0.5 // share of an answer's words that its passages have
	leastQuoted   = 0.8 // share of a quote's words that its passage has
	sameQuestion  = 0.8 // share of common words from which on two questions are the same
)

// ReadGenerated reads the reply to a GenerationRequest. Questions without an answer in the
// passages' words or numbers are left out, except unanswerable ones. It returns an error if the
// reply cannot be read.
func ReadGenerated(kind Kind, passages []Passage, reply string) ([]Generated, error) {
	var read struct {
		Questions []struct {
			Question string `json:"question"`
			Answer   string `json:"answer"`
			Quote    string `json:"quote"`
		} `json:"questions"`
	}
	if err := readObject(reply, "questions", &read); err != nil {
		return nil, fmt.Errorf("read questions: %w", err)
	}
	var list []Generated
	for _, q := range read.Questions {
		item := Item{Question: strings.TrimSpace(q.Question), Reference: strings.TrimSpace(q.Answer), Kind: kind}
		if item.Question == "" || utf8.RuneCountInString(item.Question) > MaxQuestion || utf8.RuneCountInString(item.Reference) > MaxReference {
			continue
		}
		if kind == KindUnanswerable {
			item.Reference = ""
			for _, p := range passages {
				item.Passages = append(item.Passages, p.id())
			}
			list = append(list, Generated{WithIDs([]Item{item})[0]})
			continue
		}
		if of := grounds(item, q.Quote, passages); len(of) > 0 {
			list = append(list, generated(item, of...))
		}
	}
	return list, nil
}

// generated returns a question with what it expects: the documents of its passages, and a page of
// each passage that is on a single one.
func generated(item Item, of ...Passage) Generated {
	for _, p := range of {
		item.Passages = append(item.Passages, p.id())
		name := p.name()
		if !slices.Contains(item.ExpectedDocuments, name) {
			item.ExpectedDocuments = append(item.ExpectedDocuments, name)
		}
		if page := (Page{name, 0}); len(p.Pages) == 1 {
			page.Number = p.Pages[0]
			if !slices.Contains(item.ExpectedPages, page) {
				item.ExpectedPages = append(item.ExpectedPages, page)
			}
		}
	}
	return Generated{WithIDs([]Item{item})[0]}
}

// name returns the name by which an item expects the document of a passage.
func (p Passage) name() string {
	for _, name := range []string{p.ExternalID, p.DocumentID, p.Document} {
		if name != "" {
			return name
		}
	}
	return p.URL
}

// grounds returns the passages from which an answer is: that of the quote, and of a comparison all.
// It returns none if they do not have the numbers and most of the words of the answer.
func grounds(item Item, quote string, passages []Passage) []Passage {
	l := newLexicon(item.Question, item.Reference)
	quoted, answer := l.statement(quote), l.statement(item.Reference)
	var of []Passage
	var words []map[string]bool
	var numbers []quantity
	for _, p := range passages {
		all := l.statement(p.whole())
		isQuoted := len(quoted.terms) > 0 && covered(quoted.terms, all.terms) >= leastQuoted
		if item.Kind != KindComparison && (!isQuoted || len(of) > 0) {
			continue
		}
		of, words, numbers = append(of, p), append(words, all.terms), append(numbers, all.quantities...)
	}
	missing := slices.ContainsFunc(answer.quantities, func(q quantity) bool { return !q.isIn(numbers) })
	says := len(answer.terms) > 0 || len(answer.quantities) > 0
	if item.Kind == KindComparison {
		missing = false // a difference is in no passage
	}
	if !says || missing || covered(answer.terms, words...) < leastGrounded {
		return nil
	}
	return of
}

// WithoutDuplicates leaves out each question that is nearly the same as an earlier one.
func WithoutDuplicates(list []Generated) []Generated {
	var kept []Generated
	var before []statement
	for _, g := range list {
		asked := newLexicon(g.Item.Question).statement(g.Item.Question)
		if !slices.ContainsFunc(before, func(other statement) bool { return asks(asked, other) }) {
			kept, before = append(kept, g), append(before, asked)
		}
	}
	return kept
}

// asks reports whether two questions ask nearly the same.
func asks(a, b statement) bool {
	if len(a.quantities) != len(b.quantities) || slices.ContainsFunc(a.quantities, func(q quantity) bool { return !q.isIn(b.quantities) }) {
		return false
	}
	if len(a.terms) == 0 || len(b.terms) == 0 {
		return a.text == b.text
	}
	return overlap(a.terms, b.terms) >= sameQuestion && !differsInName(a.terms, b.terms)
}

// overlap returns the share of the elements of two sets that both have.
func overlap(a, b map[string]bool) float64 {
	all := union(a, b)
	if len(all) == 0 {
		return 0
	}
	return float64(len(a)+len(b)-len(all)) / float64(len(all))
}

// differsInName reports whether one of two sets has a word with a digit, such as E02, that the other
// lacks.
func differsInName(a, b map[string]bool) bool {
	for _, pair := range [][2]map[string]bool{{a, b}, {b, a}} {
		for term := range pair[0] {
			if strings.ContainsAny(term, "0123456789") && !pair[1][term] {
				return true
			}
		}
	}
	return false
}

// NeedsPassage reports whether a question needs its passage: given how an answer without any
// passage was judged, the model does not know it anyway. An unanswerable question needs none and
// is kept. A failed judgement keeps the question.
func NeedsPassage(item Item, without Judgement) bool {
	return !item.answerable() || without.Score == nil || *without.Score < ScoreRight
}
