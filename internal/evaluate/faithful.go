package evaluate

import (
	"slices"
	"strings"
)

// Limits of faithfulness.
const (
	sentenceCover = 0.6  // share of a sentence's words that a sentence of a passage has
	passageCover  = 0.75 // the same of a whole passage
	numberCover   = 0.5  // of the sentence of a passage that has its numbers
	fewestTerms   = 2    // words of a sentence that says something, if it has no number
)

// sentences returns what the passages say of each sentence of an answer that says something. A
// sentence without a citation is compared with those that the rest of its answer cites, or with all
// passages if none is cited.
func (l lexicon) sentences(c Case) []Sentence {
	if isRefusal(c.Item.Question, c.Answer) {
		return nil
	}
	all := map[string][]statement{}
	for _, p := range c.Passages {
		id := p.id()
		all[id] = append(all[id], l.passage(p)...)
	}
	var out []Sentence
	for _, s := range statedIn(c) {
		stated := l.statement(s.text)
		if len(stated.terms) < fewestTerms && len(stated.quantities) == 0 {
			continue
		}
		verdict := Sentence{Text: s.text, Chunks: s.cites}
		verdict.Support, verdict.Reason = l.support(stated, sources(c, s, all))
		out = append(out, verdict)
	}
	return out
}

// statedIn returns the sentences of an answer that may state something: no questions, no sentences
// of Cairn's own, and no lines that only lead to a list.
func statedIn(c Case) []said {
	return slices.DeleteFunc(sentencesOf(c.Answer), func(s said) bool {
		return strings.HasSuffix(s.text, "?") || strings.HasSuffix(s.text, ":") || isOurs(s.text, c.Item.Question)
	})
}

// sources returns the statements of the passages that a sentence rests on, a list for each passage.
func sources(c Case, s said, all map[string][]statement) [][]statement {
	var chosen [][]statement
	seen := map[string]bool{}
	for _, p := range c.Passages {
		id := p.id()
		if !seen[id] && (len(s.cites) == 0 || slices.Contains(s.cites, id)) {
			seen[id] = true
			chosen = append(chosen, all[id])
		}
	}
	return chosen
}

// support returns what some passages say of a sentence.
func (l lexicon) support(s statement, passages [][]statement) (Support, string) {
	verdict, reason := NotFound, "no cited passage has it"
	if len(passages) == 0 {
		return NotFound, "it cites no passage that was found"
	}
	for _, p := range passages {
		switch v, why := l.supportBy(s, p); v {
		case Supported:
			return Supported, ""
		case Contradicted:
			verdict, reason = v, why
		}
	}
	return verdict, reason
}

// supportBy returns what a passage says of a sentence.
func (l lexicon) supportBy(s statement, passage []statement) (Support, string) {
	var best *statement
	most, together := 0.0, map[string]bool{}
	withNumbers := false
	for i := range passage {
		p := &passage[i]
		share := covered(s.terms, p.terms, p.context)
		addAll(together, p.terms, p.context)
		if share > most {
			best, most = p, share
		}
		withNumbers = withNumbers || share >= numberCover && !slices.ContainsFunc(s.quantities, func(q quantity) bool { return !q.isIn(p.quantities) })
	}
	switch {
	case best == nil, most < sentenceCover && covered(s.terms, together) < passageCover:
		return NotFound, ""
	case most >= sentenceCover && l.opposes(s, *best):
		return Contradicted, "the passage says: " + best.text
	case len(s.quantities) == 0, withNumbers, most < sentenceCover && numbersIn(s, passage):
		return Supported, ""
	case most >= sentenceCover && differs(s, *best):
		return Contradicted, "the passage says: " + best.text
	}
	return NotFound, ""
}

// numbersIn reports whether each number of a sentence is in a sentence of a passage with which it
// shares a word.
func numbersIn(s statement, passage []statement) bool {
	for _, q := range s.quantities {
		if !slices.ContainsFunc(passage, func(p statement) bool { return q.isIn(p.quantities) && covered(s.terms, p.terms, p.context) > 0 }) {
			return false
		}
	}
	return true
}

// differs reports whether a statement has a number that another lacks, which has one of the same
// kind instead.
func differs(s, other statement) bool {
	return slices.ContainsFunc(s.quantities, func(q quantity) bool {
		return !q.isIn(other.quantities) && slices.ContainsFunc(other.quantities, func(o quantity) bool {
			return q.comparable(o) && !o.isIn(s.quantities)
		})
	})
}

// faithfulness returns the share of sentences that are supported, nil without any.
func faithfulness(sentences []Sentence) *float64 {
	if len(sentences) == 0 {
		return nil
	}
	supported := 0
	for _, s := range sentences {
		if s.Support == Supported {
			supported++
		}
	}
	share := float64(supported) / float64(len(sentences))
	return &share
}
