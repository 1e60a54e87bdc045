package localmodel

import (
	"math"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Weights of a passage's score. Scores are compared only within one answer.
const (
	commonTerm        = 0.5  // a common word of the question
	properTerm        = 2.0  // a name or a number of the question
	contextWeight     = 0.35 // a term that occurs only in the heading or the document's name
	phraseBonus       = 0.4  // two terms side by side, as in the question
	fragmentFactor    = 0.75
	rowFactor         = 0.7 // a sentence says more than a row with the same words
	cellFactor        = 1.2 // a row that the question names, with one of its columns
	questionFactor    = 0.4 // a question is not an answer
	introductionShare = 0.6 // share of the terms of a question, or of a text ending in a colon, that counts for the passage after it
	rankFactor        = 0.02
	numberFactor      = 1.3
	nameFactor        = 1.15
)

// term is a significant word of the question.
type term struct {
	stem   string
	weight float64 // weight in the question
	found  float64 // number of passages with the term
	idf    float64
	name   bool // or a number
	common bool
}

// candidate is a passage with its match to the question.
type candidate struct {
	passage
	has     uint64 // bit i = contains term i
	phrases int    // pairs of consecutive terms, as in the question
	inRow   uint64 // of a row: the terms in its cells, without the names of the columns
	words   int
	near    float64 // cosine of its meaning and the question's, if meanings are compared
	score   float64
}

// reading is a question and the passages for its answer.
type reading struct {
	q          question
	sources    []source
	terms      []term
	initials   [256]bool // first bytes of the terms
	context    []uint64  // per source: terms in its name and headings, as bits
	candidates []candidate
	meant      bool // meanings are compared, because words do not answer for sure
}

// maxTerms is the number of bits in a candidate's terms.
const maxTerms = 64

// read compares passages with a question.
func (m *Model) read(q question, sources []source) *reading {
	r := m.readWords(q, sources)
	r.compareMeanings()
	return r
}

// readWords compares passages with a question by their words alone.
func (m *Model) readWords(q question, sources []source) *reading {
	r := &reading{q: q, sources: sources}
	proper := properWords(q.text)
	for _, s := range q.order[:min(len(q.order), maxTerms)] {
		weight := q.terms[s]
		_, common := m.common[s]
		if common = common || len(s) == 1 && s[0] < utf8.RuneSelf; common { // as the 4 of HX-4, which is on every page
			weight *= commonTerm
		} else if proper[s] {
			weight *= properTerm
		}
		r.terms = append(r.terms, term{stem: s, weight: weight, name: proper[s], common: common})
		r.initials[s[0]] = true
	}
	for i, s := range sources {
		has, _, _ := r.match(s.document + "\n" + s.heading)
		r.context = append(r.context, has)
		for _, p := range passages(s, i) {
			r.add(p)
		}
	}
	r.weigh()
	return r
}

// properWords returns the stems of a question's names and numbers: words with a
// digit, and capitalised words that do not begin a sentence.
func properWords(text string) map[string]bool {
	proper := map[string]bool{}
	w := words{text: text}
	for first := true; ; first = false {
		word, ok := w.next()
		if !ok {
			return proper
		}
		original := text[w.start:w.end]
		r, _ := utf8.DecodeRuneInString(original)
		if strings.ContainsAny(original, "0123456789") || unicode.IsUpper(r) && !first {
			proper[string(stem(word))] = true
		}
	}
}

// narrow returns the text of a row: its name, the cells that the question names, and those
// of the columns of which it names the most words. It is the whole row if the question names
// no column.
func (r *reading) narrow(p passage) string {
	if len(p.cells) <= p.labels+1 {
		return p.text
	}
	label, _, _ := r.match(strings.Join(p.cells[:p.labels], "\n"))
	named, most := make([]int, len(p.cells)), 0
	for i, cell := range p.cells[p.labels:] {
		has, _, _ := r.match(cell)
		named[p.labels+i] = bits.OnesCount64(has &^ label)
		most = max(most, named[p.labels+i])
	}
	if most == 0 {
		return p.text
	}
	quoted := p.cells[:p.labels:p.labels]
	for i := p.labels; i < len(p.cells); i++ {
		if has, _, _ := r.match(p.values[i]); named[i] == most || has&^label != 0 {
			quoted = append(quoted, p.cells[i])
		}
	}
	return renderRow(quoted)
}

func (r *reading) add(p passage) {
	p.text = r.narrow(p)
	c := candidate{passage: p}
	c.has, c.phrases, c.words = r.match(p.text)
	if p.cells != nil {
		c.inRow, _, _ = r.match(strings.Join(p.values, "\n"))
	}
	for i := range r.terms {
		if c.has>>i&1 == 1 {
			r.terms[i].found++
		}
	}
	if p.heading != "" {
		has, _, _ := r.match(p.heading)
		r.context[p.source] |= has
	}
	r.candidates = append(r.candidates, c)
}

// match finds the question's terms in a text.
func (r *reading) match(text string) (has uint64, phrases, count int) {
	w := words{text: text}
	before := -2
	for {
		word, ok := w.next()
		if !ok {
			return has, phrases, count
		}
		count++
		if !r.initials[word[0]] && before < 0 { // skips most words cheaply
			continue
		}
		if stopWord(word) {
			continue
		}
		at := r.find(stem(word))
		if at < 0 {
			before = -2
			continue
		}
		has |= 1 << at
		if at == before+1 {
			phrases++
		}
		before = at
	}
}

// find returns the index of the term that is related to a stem, -1 if there is
// none.
func (r *reading) find(stem []byte) int {
	for i := range r.terms {
		if related(r.terms[i].stem, stem) {
			return i
		}
	}
	return -1
}

// related reports whether two stems are equal or differ only at the end.
func related(a string, b []byte) bool {
	if a[0] != b[0] {
		return false
	}
	if a == string(b) {
		return true
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 5 && 4*n >= 3*max(len(a), len(b))
}

// weigh computes the scores of the candidates.
func (r *reading) weigh() {
	n := float64(len(r.candidates))
	for i, t := range r.terms {
		r.terms[i].idf = t.weight * math.Log(1.5+n/(t.found+0.5))
	}
	for i := range r.candidates {
		c := &r.candidates[i]
		c.score = r.score(c)
		if i == 0 || r.candidates[i-1].source != c.source {
			continue
		}
		before := &r.candidates[i-1]
		if last := before.text[len(before.text)-1]; last == '?' || last == ':' {
			c.score += introductionShare * r.sum(before.has&^c.has)
		}
	}
}

func (r *reading) sum(has uint64) float64 {
	total := 0.0
	for i, t := range r.terms {
		if has>>i&1 == 1 {
			total += t.idf
		}
	}
	return total
}

func (r *reading) score(c *candidate) float64 {
	score := r.sum(c.has)
	if score > 0 {
		score += phraseBonus * float64(c.phrases)
	}
	score += contextWeight * r.sum(r.context[c.source]&^c.has)
	score /= 1 + 0.15*math.Abs(math.Log(float64(c.words+1)/18))
	score *= max(0.7, 1-rankFactor*float64(c.source))
	return score * c.shape(r.q)
}

// shape returns by how much the form of a candidate makes it more or less of an answer.
func (c *candidate) shape(q question) float64 {
	factor := 1.0
	if c.fragment {
		factor *= fragmentFactor
	}
	switch {
	case c.cells == nil:
	case c.inRow != 0 && c.has&^c.inRow != 0:
		factor *= cellFactor
	default:
		factor *= rowFactor
	}
	if strings.HasSuffix(c.text, "?") {
		factor *= questionFactor
	}
	switch {
	case q.wants == wantsNumber && strings.ContainsAny(c.text, "0123456789"):
		factor *= numberFactor
	case q.wants == wantsName && namesSomebody(c.text):
		factor *= nameFactor
	}
	return factor
}

// namesSomebody reports whether a text has a capitalised word after its first.
func namesSomebody(text string) bool {
	_, rest, _ := strings.Cut(text, " ")
	for word := range strings.FieldsSeq(rest) {
		if r, _ := utf8.DecodeRuneInString(word); unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

// share returns the total weight of some terms.
func (r *reading) share(has uint64) (weight float64) {
	for i, t := range r.terms {
		if has>>i&1 == 1 {
			weight += t.weight
		}
	}
	return weight
}
