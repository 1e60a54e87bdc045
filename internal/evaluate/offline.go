package evaluate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// OfflineJudge is the name of the judge that needs no model.
const OfflineJudge = "cairn-offline"

// Limits of the offline judge.
const (
	fullyMet   = 0.6  // share of a point's words and numbers from which on an answer says it, if it has all numbers
	partlyMet  = 0.3  // share from which on it says a part of it
	aligned    = 0.5  // share of a point's words in a sentence that says something else of the same
	rightFrom  = 0.7  // share of the points of an answer that is right
	wrongBelow = 0.25 // share of the points of an answer that is wrong
)

// Judge judges a case without a model: by content words, numbers, dates and negations. It is
// deterministic. It cannot see that other words mean the same, so its scores are lower than those of
// a model where answers paraphrase.
func Judge(c Case) Judgement {
	l := newLexicon(c.Item.Question, c.Item.Reference, PlainAnswer(c.Answer))
	var j Judgement
	if c.judgesAnswer() {
		grade, reason := l.gradeAnswer(c)
		score, _ := StoredScore(grade)
		j.Score, j.Reason = &score, reason
	}
	if c.judgesContext() {
		grade, reason := l.gradeContext(c)
		score, _ := StoredScore(grade)
		j.Context, j.ContextReason = &score, reason
	}
	j.Sentences = l.sentences(c)
	j.Faithfulness = faithfulness(j.Sentences)
	return j
}

// judgesAnswer reports whether an answer can be compared with what its item expects.
func (c Case) judgesAnswer() bool { return c.Item.Reference != "" || !c.Item.answerable() }

// judgesContext reports whether it is known what the passages should have.
func (c Case) judgesContext() bool {
	return c.Item.answerable() && (c.Item.Reference != "" || len(c.Item.ExpectedDocuments) > 0)
}

// gradeAnswer returns the grade of an answer beside its reference.
func (l lexicon) gradeAnswer(c Case) (grade int, reason string) {
	refused := strings.TrimSpace(c.Answer) == "" || isRefusal(c.Item.Question, c.Answer)
	switch {
	case !c.Item.answerable() && refused:
		return 2, "the answer says that the documents have none, as it should"
	case !c.Item.answerable():
		return 0, "the documents have no answer, and the answer does not say so"
	case refused:
		return 0, "there is no answer"
	}
	var sentences []statement
	for _, s := range sentencesOf(c.Answer) {
		sentences = append(sentences, l.statement(s.text))
	}
	return l.compare(c, sentences).grade()
}

// point is a part of a reference: what an answer should say.
type point struct {
	statement
	asked  map[string]bool // the words of the question
	key    map[string]bool // the words that the question does not have
	answer int             // yes (1) or no (-1), at the beginning of the reference
	weight float64
}

// pointEnd matches the ends of the parts of a sentence that say something by themselves.
var pointEnd = regexp.MustCompile(`[;:]\s+`)

// points returns the points of a reference.
func (l lexicon) points(item Item) []point {
	asked := l.statement(item.Question)
	var points []point
	for _, x := range linesOf(item.Reference) {
		parts := []string{x.text}
		if !x.row {
			parts = pointEnd.Split(x.text, -1)
		}
		for _, part := range parts {
			if p, ok := newPoint(l.statement(part), asked.terms); ok {
				points = append(points, p)
			}
		}
	}
	if len(points) > 0 {
		points[0].answer = yesOrNo(item.Reference)
	}
	return points
}

// newPoint returns a point, false for a text that says nothing. A point without a word or number that
// the question lacks is all of its words.
func newPoint(s statement, asked map[string]bool) (point, bool) {
	p := point{statement: s, asked: asked, key: map[string]bool{}}
	for term := range s.terms {
		if !asked[term] {
			p.key[term] = true
		}
	}
	if len(p.key) == 0 && len(p.quantities) == 0 {
		p.key = p.terms
	}
	p.weight = float64(len(p.terms) + 2*len(p.quantities)) // a number says as much as two words
	return p, p.weight > 0
}

// has reports whether some sentences have a number of a point. A short number without a unit is on every
// page, so its sentence must have a word of the point or of the question.
func (p point) has(q quantity, sentences []statement) bool {
	short := len(q.dates) == 0 && !q.known && q.number-q.start < 3 || len(q.values) > 0 && numberWords[strings.ToLower(q.text)] > 0
	return slices.ContainsFunc(sentences, func(s statement) bool {
		return q.isIn(s.quantities) && (!short || len(s.terms) == 0 || shares(s, p.terms) || shares(s, p.asked))
	})
}

// shares reports whether a sentence has one of some words.
func shares(s statement, terms map[string]bool) bool {
	for term := range terms {
		if s.terms[term] || s.context[term] {
			return true
		}
	}
	return false
}

// match is how far a text says what a reference says.
type match struct {
	share, opposed float64 // of the weight of all points
	missing, wrong []string
}

// compare compares the points of a case's reference with the sentences of a text.
func (l lexicon) compare(c Case, sentences []statement) match {
	var all match
	total := 0.0
	for _, p := range l.points(c.Item) {
		total += p.weight
		met, wrong := l.meet(p, sentences)
		all.share += met * p.weight
		if wrong != "" {
			all.opposed += p.weight
			all.wrong = append(all.wrong, wrong)
		} else if met < 1 {
			all.missing = append(all.missing, p.text)
		}
	}
	if total > 0 {
		all.share, all.opposed = all.share/total, all.opposed/total
	}
	return all
}

// meet returns how far a text says a point, from 0 to 1, and which sentence says something else of
// the same.
func (l lexicon) meet(p point, sentences []statement) (met float64, wrong string) {
	var terms []map[string]bool
	for _, s := range sentences {
		terms = append(terms, s.terms, s.context)
	}
	found := slices.DeleteFunc(slices.Clone(p.quantities), func(q quantity) bool { return !p.has(q, sentences) })
	if len(found) < len(p.quantities) {
		if s := l.elsewise(p, sentences); s != "" {
			return 0, s
		}
	}
	words, all := float64(len(p.key)), float64(len(p.key)+2*len(p.quantities))
	share := (covered(p.key, terms...)*words + 2*float64(len(found))) / max(1, all)
	switch {
	case share < partlyMet:
		return 0, ""
	case share >= fullyMet && len(found) == len(p.quantities):
		met = 1
	default:
		met = 0.5
	}
	if s := l.opposite(p, sentences); s != "" {
		return 0, s
	}
	return met, ""
}

// elsewise returns the sentence that has the words of a point but another number of the same kind.
func (l lexicon) elsewise(p point, sentences []statement) string {
	for _, s := range sentences {
		if covered(p.terms, s.terms, s.context) < aligned {
			continue
		}
		for _, q := range p.quantities {
			if q.isIn(s.quantities) {
				continue
			}
			if slices.ContainsFunc(s.quantities, func(other quantity) bool { return q.comparable(other) && !other.isIn(p.quantities) }) {
				return s.text
			}
		}
	}
	return ""
}

// opposite returns the sentence that denies a point, or affirms what it denies.
func (l lexicon) opposite(p point, sentences []statement) string {
	if len(sentences) > 0 && p.answer*yesOrNo(sentences[0].text) < 0 {
		return sentences[0].text
	}
	denied := ""
	for _, s := range sentences {
		switch {
		case l.opposes(p.statement, s):
			denied = s.text
		case p.negated == s.negated && covered(p.terms, s.terms) >= clauseCover:
			return "" // another sentence says it
		}
	}
	return denied
}

// answers are the words for yes (1) and no (-1) with which answers begin.
var answers = map[string]int{
	"yes": 1, "ja": 1, "oui": 1, "sí": 1, "sì": 1, "sim": 1, "no": -1, "nein": -1, "non": -1, "nee": -1, "não": -1,
}

// yesOrNo returns 1 for a text that begins with yes, -1 for one that begins with no, else 0. No days
// is no answer.
func yesOrNo(text string) int {
	for word := range wordsOf(text) {
		rest := strings.TrimSpace(text)
		if rest = rest[min(len(word), len(rest)):]; rest == "" || strings.ContainsRune(",.:;!–—", []rune(rest)[0]) {
			return answers[word]
		}
		break
	}
	return 0
}

// grade returns the grade of an answer and its reason.
func (m match) grade() (int, string) {
	switch {
	case m.opposed >= 0.5, m.share < wrongBelow && m.opposed > 0:
		return 0, "the answer says otherwise: " + m.wrong[0]
	case m.share < wrongBelow:
		return 0, "the answer has almost nothing of the reference"
	case m.opposed > 0:
		return 1, "a part of the answer says otherwise: " + m.wrong[0]
	case m.share < rightFrom && len(m.missing) > 0:
		return 1, fmt.Sprintf("%.0f %% of the reference; missing: %s", 100*m.share, m.missing[0])
	}
	return 2, fmt.Sprintf("%.0f %% of the reference", 100*m.share)
}
