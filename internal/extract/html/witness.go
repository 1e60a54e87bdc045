package html

import (
	"strings"

	"github.com/go-shiori/go-readability"
	distiller "github.com/markusmobius/go-domdistiller"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"
)

// The programs that say which text of a page is its main text. None of them keeps
// the structure of a page, and each errs on other pages, so none decides alone.
const (
	byTrafilatura = iota
	byReadability
	byDistiller
	witnesses
)

// vote is what the programs say of a unit.
type vote [witnesses]bool

// share returns the share of the programs that found a unit.
func (v vote) share() float64 {
	n := 0.0
	for _, found := range v {
		n += number(found)
	}
	return n / witnesses
}

// votesOf asks the programs about the units of a page.
func votesOf(root *html.Node, units []unit) []vote {
	var found [witnesses]*html.Node
	if article, err := readability.FromDocument(root, nil); err == nil {
		found[byReadability] = article.Node
	}
	if article, err := distiller.Apply(root, &distiller.Options{SkipPagination: true}); err == nil {
		found[byDistiller] = article.Node
	}
	article, err := trafilatura.ExtractDocument(root, trafilatura.Options{
		EnableFallback: true, ExcludeComments: true, HtmlDateMode: trafilatura.Disabled,
		FallbackCandidates: &trafilatura.FallbackCandidates{Readability: found[byReadability], Distiller: found[byDistiller]},
	})
	if err == nil {
		found[byTrafilatura] = article.ContentNode
	}
	votes := make([]vote, len(units))
	for who, node := range found {
		if node != nil {
			mark(votes, who, units, node)
		}
	}
	return votes
}

// certain is the size of a text that is unlikely to be on a page twice.
const certain = 25

// maxSteps bounds the search for units in a text, in bytes that are compared.
const maxSteps = 4 << 30

// mark sets the votes of one program for the units whose text it found. The nodes
// that it returns are not nodes of the page, so units are found by their text: long
// ones anywhere, short ones between the long ones beside them.
func mark(votes []vote, who int, units []unit, found *html.Node) {
	var b strings.Builder
	for _, u := range unitsOf(found) {
		b.WriteString(u.tight)
	}
	text := b.String()
	steps := 0
	at, short := 0, 0 // the end of the last long unit in text, and the first unit after it
	markShort := func(next, from, upto int) {
		for i := short; i < next && from <= upto; i++ {
			if units[i].size >= certain {
				continue
			}
			if k := strings.Index(text[from:upto], units[i].tight); k >= 0 {
				votes[i][who] = true
				from += k + len(units[i].tight)
			}
		}
	}
	for i, u := range units {
		if u.size < certain {
			continue
		}
		if steps += len(text); steps > maxSteps {
			return
		}
		if k := strings.Index(text[at:], u.tight); k >= 0 {
			markShort(i, at, at+k)
			at, short = at+k+len(u.tight), i+1
			votes[i][who] = true
		} else {
			votes[i][who] = strings.Contains(text, u.tight)
		}
	}
	markShort(len(units), at, len(text))
}
