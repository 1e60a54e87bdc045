package evaluate

import "fmt"

// gradeContext returns the grade of the passages: whether they have what the reference says, and
// are of the expected documents.
func (l lexicon) gradeContext(c Case) (grade int, reason string) {
	if len(c.Passages) == 0 {
		return 0, "no passage was found"
	}
	expected, found := expectedDocuments(c)
	if c.Item.Reference == "" {
		switch {
		case found == expected:
			return 2, "all expected documents are among the passages"
		case found > 0:
			return 1, fmt.Sprintf("%d of %d expected documents are among the passages", found, expected)
		}
		return 0, "no expected document is among the passages"
	}
	var sentences []statement
	for _, p := range c.Passages {
		sentences = append(sentences, l.passage(p)...)
	}
	m := l.compare(c, sentences)
	switch {
	case m.share < wrongBelow:
		return 0, "the passages have almost nothing of the reference"
	case m.share < rightFrom:
		return 1, fmt.Sprintf("the passages have %.0f %% of the reference", 100*m.share)
	case expected > 0 && found == 0:
		return 1, "the passages have the reference, but none is of an expected document"
	}
	return 2, fmt.Sprintf("the passages have %.0f %% of the reference", 100*m.share)
}

// passage returns the statements of a passage.
func (l lexicon) passage(p Passage) []statement {
	var out []statement
	about := l.terms(p.Document + " " + p.Heading)
	for _, x := range linesOf(p.whole()) {
		s := l.read(x)
		s.context = union(s.context, about)
		out = append(out, s)
	}
	return out
}

// expectedDocuments returns how many documents an item expects and how many of them have a passage.
func expectedDocuments(c Case) (expected, found int) {
	for _, name := range c.Item.ExpectedDocuments {
		expected++
		for _, p := range c.Passages {
			if p.isOf(name) {
				found++
				break
			}
		}
	}
	return expected, found
}

// isOf reports whether a passage is of a document, by its id, external id or name.
func (p Passage) isOf(document string) bool {
	return document != "" && (p.DocumentID == document || p.ExternalID == document || p.Document == document)
}
