package localmodel

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/phrase"
)

// Limits of the comparison by meaning. floor and sureEvidence are chosen by TestCalibration.
const (
	mostCompared   = 24   // candidates that are compared, the ones that are estimated to be the nearest
	sureCoverage   = 0.7  // share of the question from which on a passage's words alone decide
	meaningWeight  = 1.0  // of the nearness in meaning, relative to the share of the question's words
	floor          = 0.21 // least sum of both in a passage that answers
	sureEvidence   = 0.60 // sum below which an answer says that it is uncertain
	namelessShare  = 0.5  // of the evidence of passages that lack all names of the question
	usualTerms     = 5    // number of terms of a question above which each adds to the evidence that it needs
	perTerm        = 0.02
	longTerms      = 8    // number of terms of an English question above which a passage may have some by chance
	leastTelling   = 2    // terms that are not common words, below which it has them by chance
	chanceShare    = 0.3  // of the evidence of such a passage
	nearBestMeant  = 0.85 // limit of a further passage's score, relative to the best, among passages found by meaning
	leastLabelNear = 0.55 // cosine from which on a word stands for the name of a row or column
)

// compareMeanings adds to the scores of the candidates how near they are to the question in
// meaning, if their words do not answer it for sure. So a question in other words, or in
// another language than the passages, has an answer too.
func (r *reading) compareMeanings() {
	covered, best := r.bestCoverage()
	if covered >= sureCoverage {
		return
	}
	comparison := readMeanings().compare(r.q.words)
	if comparison == nil {
		return
	}
	r.meant = true
	nearest := r.nearest(comparison)
	mean := 0.0
	for _, i := range nearest {
		r.candidates[i].near = comparison.near(r.candidates[i].text)
		mean += r.candidates[i].near / float64(len(nearest)+1) // a single one is above the mean
	}
	for i := range r.candidates {
		c := &r.candidates[i]
		byWords := 0.0
		if best > 0 {
			byWords = covered * c.score / best
		}
		c.score = byWords + meaningWeight*max(0, c.near-mean)*c.shape(r.q)
	}
}

// nearest returns the candidates that are compared in meaning: the ones that are about the
// nearest.
func (r *reading) nearest(c *comparison) []int {
	var order []int
	for i := range r.candidates {
		if r.namesRow(&r.candidates[i], c) {
			order = append(order, i)
		}
	}
	if len(order) <= mostCompared {
		return order
	}
	estimates := make([]float64, len(r.candidates))
	for _, i := range order {
		estimates[i] = c.estimate(r.candidates[i].text)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(estimates[b], estimates[a]) })
	return order[:mostCompared]
}

// bestCoverage returns the largest share of the question that the words of a candidate
// cover, and the best score by words.
func (r *reading) bestCoverage() (covered, score float64) {
	total := r.totalWeight()
	for i := range r.candidates {
		c := &r.candidates[i]
		score = max(score, c.score)
		if own := r.share(r.counted(c)); total > 0 {
			covered = max(covered, own/total)
		}
	}
	return covered, score
}

// counted returns the terms of a candidate that count for its relevance. The names of the
// columns alone make no row of a table relevant, for all rows have them.
func (r *reading) counted(c *candidate) uint64 {
	if c.cells == nil || c.inRow != 0 || r.q.length >= listLength {
		return c.has
	}
	return 0
}

// namesRow reports whether the question asks for a row by a word that stands for its name,
// or the candidate is no row.
func (r *reading) namesRow(c *candidate, comparison *comparison) bool {
	if c.cells == nil || c.inRow != 0 || r.q.length >= listLength {
		return true
	}
	return slices.ContainsFunc(c.values[:min(c.labels, len(c.values))], comparison.names)
}

func (r *reading) totalWeight() (total float64) {
	for _, t := range r.terms {
		total += t.weight
	}
	return total
}

// relevant reports whether some passage answers the question. A year of the question that no
// passage has was not found, whatever else was.
func (r *reading) relevant() bool { return !r.lacksYear() && r.evidence() >= floor }

// evidence returns for the best passage which share of the question's words it has, with its
// heading, and how near it is in meaning, together. A long question needs more of it, because
// some of many words are near to any text, and so does one with a name that no passage has.
func (r *reading) evidence() (most float64) {
	total := r.totalWeight()
	if total == 0 {
		return 0
	}
	long := r.isLong()
	for i := range r.candidates {
		c := &r.candidates[i]
		has := r.counted(c) | r.context[c.source]
		evidence := r.share(has)/total + meaningWeight*c.near
		if long && r.telling(has) < leastTelling {
			evidence *= chanceShare
		}
		most = max(most, evidence)
	}
	if r.lacksNames() {
		most *= namelessShare
	}
	return most - perTerm*max(0, float64(len(r.terms)-usualTerms))
}

// isLong reports whether the question has many terms, in English, whose common words are known.
func (r *reading) isLong() bool {
	return len(r.terms) > longTerms && phrase.Language(r.q.text) == "eng"
}

// telling returns how many of some terms are not common words.
func (r *reading) telling(has uint64) (count int) {
	for i, t := range r.terms {
		if has>>i&1 == 1 && !t.common {
			count++
		}
	}
	return count
}

// lacksNames reports whether the question has names and no passage has any of them.
func (r *reading) lacksNames() bool {
	if phrase.Language(r.q.text) == "deu" { // has all nouns in upper case
		return false
	}
	named := false
	for i, t := range r.terms {
		if !t.name {
			continue
		}
		named = true
		for j := range r.candidates {
			if c := &r.candidates[j]; (c.has|r.context[c.source])>>i&1 == 1 {
				return false
			}
		}
	}
	return named
}

// year matches a year.
var year = regexp.MustCompile(`\b(1[5-9]|20)\d\d\b`)

// lacksYear reports whether the question has a year that no source has.
func (r *reading) lacksYear() bool {
	for _, asked := range year.FindAllString(r.q.text, -1) {
		found := false
		for _, s := range r.sources {
			found = found || strings.Contains(s.text, asked) || strings.Contains(s.heading, asked) || strings.Contains(s.document, asked)
		}
		if !found {
			return true
		}
	}
	return false
}
