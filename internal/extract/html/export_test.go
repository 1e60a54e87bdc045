package html

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Evidence returns the texts of the units of a page and the evidence about each.
func Evidence(page string) (texts []string, found [][]float64) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return nil, nil
	}
	removeHidden(root)
	units := unitsOf(root)
	for i, e := range evidenceOf(units, votesOf(root, units)) {
		texts = append(texts, units[i].text)
		found = append(found, slices.Clone(e[:]))
	}
	return texts, found
}

// Weights are the weights of the evidence.
func Weights() []float64 { return weights[:] }
