package html

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Pages beyond these limits keep all of their text, because the programs that look for
// main text take too long on them. A page of a site has some thousand nodes, some
// twenty levels deep.
const (
	maxNodes = 60_000
	maxDepth = 2_000_000 // the sum of the depths of all nodes
	maxBytes = 2 << 20   // of text
)

// leastMain is the least main text of a page in characters. A page where less is found
// is a list of links, or something else without a main text.
const leastMain = 100

// mainText reports for each unit of a page whether it is main text.
func mainText(root *html.Node, units []unit) []bool {
	navigation := make([]bool, len(units))
	signs := 0
	for i, u := range units {
		var e evidence
		e.addPlace(u.parent)
		if e.hasSigns() {
			signs++
		}
		navigation[i] = inLandmark(u.parent) || inNotice(u.parent)
	}
	// The text of a page without any navigation is all main text.
	if signs > 0 && isUsual(root) {
		if found := findMainText(root, units); sizeOf(units, found) >= leastMain {
			return found
		}
	}
	rest := make([]bool, len(units))
	for i := range rest {
		rest[i] = !navigation[i]
	}
	if sizeOf(units, rest) == 0 { // the page is nothing but navigation
		for i := range rest {
			rest[i] = true
		}
	}
	return rest
}

// isUsual reports whether a page is within the limits for the search of main text.
func isUsual(root *html.Node) bool {
	nodes, depths, bytes := 0, 0, 0
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		nodes, depths = nodes+1, depths+depth
		if n.Type == html.TextNode {
			bytes += len(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
	}
	walk(root, 0)
	return nodes <= maxNodes && depths <= maxDepth && bytes <= maxBytes
}

func sizeOf(units []unit, isMain []bool) int {
	size := 0
	for i, u := range units {
		if isMain[i] {
			size += u.size
		}
	}
	return size
}

// headingSum is the least evidence for a heading of main text.
const headingSum = -2

// findMainText reports for each unit of a page whether the evidence is in favour of it.
func findMainText(root *html.Node, units []unit) []bool {
	found := make([]bool, len(units))
	sums := make([]float64, len(units))
	all := evidenceOf(units, votesOf(root, units))
	for i, e := range all {
		sums[i] = e.sum()
		found[i] = sums[i] > 0
	}
	keepWhole(units, found, listAround, 0.7)
	keepTables(units, found)
	if isShort(units, found, all) {
		keepPlain(units, found, all)
	}
	for i := len(units) - 2; i >= 0; i-- { // a heading belongs to what follows
		if isHeading(units[i].parent) && found[i+1] && sums[i] > headingSum {
			found[i] = true
		}
	}
	return found
}

// keepWhole keeps all units of an element of which more than a share is main text.
func keepWhole(units []unit, found []bool, around func(*html.Node) *html.Node, share float64) {
	all, main := map[*html.Node]int{}, map[*html.Node]int{}
	of := make([]*html.Node, len(units))
	for i, u := range units {
		if of[i] = around(u.parent); of[i] != nil {
			all[of[i]] += len(u.text)
			if found[i] {
				main[of[i]] += len(u.text)
			}
		}
	}
	for i, n := range of {
		if n != nil && float64(main[n]) > share*float64(all[n]) {
			found[i] = true
		}
	}
}

// listAround returns the outermost list around an element, nil if there is none.
func listAround(n *html.Node) (list *html.Node) {
	for ; n != nil; n = n.Parent {
		if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol || n.DataAtom == atom.Dl {
			list = n
		}
	}
	return list
}

// noticeName is in the id or a class of the notices that ask for consent.
var noticeName = regexp.MustCompile(`^(?:cookies?|gdpr|consent)-?(?:banner|notice|consent|bar|popup|modal|message|overlay|law)|^(?:onetrust|cookiebot)`)

// inNotice reports whether an element is in a notice that asks for consent, as its names
// say.
func inNotice(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		for _, key := range []string{"id", "class"} {
			for name := range strings.FieldsSeq(attr(n, key)) {
				if n.DataAtom != atom.Body && n.DataAtom != atom.Html && noticeName.MatchString(name) {
					return true
				}
			}
		}
	}
	return false
}

func isHeading(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// inLandmark reports whether an element is in the navigation or the footer of a page,
// as the page itself says. The footer of an article is not the page's.
func inLandmark(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		switch attr(n, "role") {
		case "navigation", "search", "menu", "menubar", "contentinfo":
			return true
		}
		if n.DataAtom == atom.Nav || n.DataAtom == atom.Footer && !inside(n, atom.Article, atom.Main) {
			return true
		}
	}
	return false
}
