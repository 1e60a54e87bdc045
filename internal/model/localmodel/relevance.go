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
	questionFactor    = 0.4 // a question is not an answer
	introductionShare = 0.6 // share of the terms of a question, or of a text ending in a colon, that counts for the passage after it
	rankFactor        = 0.02
	numberFactor      = 1.3
	nameFactor        = 1.15
	enoughCoverage    = 0.4 // share of the question from which on a passage is relevant
	partCoverage      = 0.2 // the same for a passage with several significant terms, which answers a part of a long question
)

// Limits from which on a passage is relevant to a part of a question.
const (
	significantWeight = 1.0 // weight from which on a term is significant
	partTerms         = 2
)

// term is a significant word of the question.
type term struct {
	stem   string
	weight float64 // weight in the question
	found  float64 // number of passages with the term
	idf    float64
}

// candidate is a passage with its match to the question.
type candidate struct {
	passage
	has     uint64 // bit i = contains term i
	phrases int    // pairs of consecutive terms, as in the question
	words   int
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
}

// maxTerms is the number of bits in a candidate's terms.
const maxTerms = 64

func (m *Model) read(q question, sources []source) *reading {
	r := &reading{q: q, sources: sources}
	proper := properWords(q.text)
	for _, s := range q.order[:min(len(q.order), maxTerms)] {
		weight := q.terms[s]
		if _, common := m.common[s]; common || len(s) == 1 && s[0] < utf8.RuneSelf { // as the 4 of HX-4, which is on every page
			weight *= commonTerm
		} else if proper[s] {
			weight *= properTerm
		}
		r.terms = append(r.terms, term{stem: s, weight: weight})
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

// wideRow is the number of cells above which only those are quoted of which the question
// names the most, behind the first one, which is the name of the row.
const wideRow = 4

// narrow returns the text of a row of many cells: the first one, and the cells of which the
// question names the most words.
func (r *reading) narrow(p passage) string {
	if len(p.cells) <= wideRow {
		return p.text
	}
	label, _, _ := r.match(p.cells[0])
	quoted, most := p.cells[:1:1], 1
	for _, cell := range p.cells[1:] {
		has, _, _ := r.match(cell)
		named := bits.OnesCount64(has &^ label)
		if named > most {
			quoted, most = p.cells[:1:1], named
		}
		if named == most {
			quoted = append(quoted, cell)
		}
	}
	if len(quoted) == 1 {
		return p.text
	}
	return renderRow(quoted)
}

func (r *reading) add(p passage) {
	p.text = r.narrow(p)
	c := candidate{passage: p}
	c.has, c.phrases, c.words = r.match(p.text)
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
	if c.fragment {
		score *= fragmentFactor
	}
	if c.cells != nil {
		score *= rowFactor
	}
	if strings.HasSuffix(c.text, "?") {
		score *= questionFactor
	}
	switch {
	case r.q.wants == wantsNumber && strings.ContainsAny(c.text, "0123456789"):
		score *= numberFactor
	case r.q.wants == wantsName && namesSomebody(c.text):
		score *= nameFactor
	}
	return score
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

// relevant reports whether some passage answers the question: with its heading
// it contains much of the question, or by itself several significant terms of
// it. In a question with three parts, no single sentence covers much.
func (r *reading) relevant() bool {
	total := 0.0
	for _, t := range r.terms {
		total += t.weight
	}
	for _, c := range r.candidates {
		if c.has == 0 && r.context[c.source] == 0 {
			continue
		}
		own, significant := r.share(c.has)
		all, _ := r.share(c.has | r.context[c.source])
		if all >= enoughCoverage*total || significant >= partTerms && own >= partCoverage*total {
			return total > 0
		}
	}
	return false
}

// share returns the total weight of some terms, and the number of significant
// ones.
func (r *reading) share(has uint64) (weight float64, significant int) {
	for i, t := range r.terms {
		if has>>i&1 == 0 {
			continue
		}
		weight += t.weight
		if t.weight >= significantWeight {
			significant++
		}
	}
	return weight, significant
}
