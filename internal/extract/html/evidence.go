package html

import (
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The kinds of evidence for and against a unit being main text. Those without a
// comment are 1 or 0.
const (
	always = iota
	trafilaturaFoundIt
	readabilityFoundIt
	distillerFoundIt
	nextIsFound    // share of the programs that found the next unit
	elementIsFound // share of the text of its element that trafilatura found
	holdsFound     // share of the text that trafilatura found which the element around its element holds
	isWithin       // from the first long text that trafilatura found to the last
	isBehind       // behind that
	isLinked       // share of its characters that are in links
	length         // logarithm of its characters
	isLong
	isSentence
	inItem
	inCell
	inCode
	inAside
	inNavigation
	inFooter
	isNearName // an element close to it has a name of furniture
	isInName   // an element further out has one
	hasDate
	hasCopyright
	kindsOfEvidence
)

type evidence [kindsOfEvidence]float64

// weights are the weights of the evidence in favour of main text. Logistic
// regression on pages that people marked has fitted them: TestFitWeights does it
// again.
var weights = evidence{
	always:             -3.15,
	trafilaturaFoundIt: 1.4,
	readabilityFoundIt: 0.6,
	distillerFoundIt:   0.75,
	nextIsFound:        0.6,
	elementIsFound:     1.25,
	holdsFound:         1.1,
	isWithin:           -1.4,
	isBehind:           -2.2,
	isLinked:           -2.25,
	length:             0.3,
	isLong:             1.35,
	isSentence:         0.75,
	inItem:             1.45,
	inCell:             1.45,
	inCode:             0.85,
	inAside:            -0.95,
	inNavigation:       -1,
	inFooter:           -1.35,
	isNearName:         -0.45,
	isInName:           -0.25,
	hasDate:            -0.85,
	hasCopyright:       -1.55,
}

// sum returns the evidence as one number, above 0 for main text.
func (e evidence) sum() float64 {
	total := 0.0
	for i, x := range e {
		total += weights[i] * x
	}
	return total
}

var (
	furnitureName = regexp.MustCompile(`nav|menu|foot|side-?bar|shar(?:e|ing)|social|related|recommend|cookie|consent|banner|` +
		`breadcrumb|widget|advert|^ads?(?:$|-)|promo|sponsor|newsletter|subscribe|popup|modal|login|search|tags?$|taglist|author|` +
		`byline|meta|rating|copyright|print|pag(?:er|ing|ination)|teaser|toolbar|skip|next|prev|similar|popular|trending|archive|` +
		`date|time|category|blogroll|facebook|twitter|feedback|legal|disclaimer|credit|bio|counter|tool`)
	shortDate = regexp.MustCompile(`\d{1,2}[./:]\d{1,2}|\b(?:19|20)\d\d\b`)
)

// nearElements is how many elements around a unit are close to it.
const nearElements = 3

// A unit is long beyond longText characters; one of less than dateText bytes may be a
// date alone.
const (
	longText = 100
	dateText = 60
)

// evidenceOf returns the evidence about the units of a page.
func evidenceOf(units []unit, votes []vote) []evidence {
	m := measure(units, votes)
	out := make([]evidence, len(units))
	for i, u := range units {
		e := &out[i]
		e[always] = 1
		e[trafilaturaFoundIt] = number(votes[i][byTrafilatura])
		e[readabilityFoundIt] = number(votes[i][byReadability])
		e[distillerFoundIt] = number(votes[i][byDistiller])
		if i+1 < len(units) {
			e[nextIsFound] = votes[i+1].share()
		}
		e[elementIsFound] = m.found[u.parent] / m.all[u.parent]
		if outer := u.parent.Parent; outer != nil && m.total > 0 {
			e[holdsFound] = m.found[outer] / m.total
		}
		e[isWithin] = number(i >= m.first && i <= m.last)
		e[isBehind] = number(i > m.last)
		e.addText(u)
		e.addPlace(u.parent)
	}
	return out
}

// addText adds the evidence of the text of a unit.
func (e *evidence) addText(u unit) {
	characters := utf8.RuneCountInString(u.text)
	last, _ := utf8.DecodeLastRuneInString(u.text)
	e[isLinked] = float64(u.linked) / float64(u.size)
	e[length] = min(math.Log(float64(characters+1)), 6)
	e[isLong] = number(characters > longText)
	e[isSentence] = number(strings.ContainsRune(".!?:…”»。！？", last))
	e[hasDate] = number(len(u.text) < dateText && shortDate.MatchString(u.text))
	e[hasCopyright] = number(strings.Contains(u.text, "©") || strings.Contains(strings.ToLower(u.text), "copyright"))
}

// addPlace adds the evidence of the elements around a unit.
func (e *evidence) addPlace(parent *html.Node) {
	distance := 0
	for n := parent; n != nil && n.Type == html.ElementNode && n.DataAtom != atom.Html; n = n.Parent {
		switch n.DataAtom {
		case atom.Li, atom.Dt, atom.Dd:
			e[inItem] = 1
		case atom.Td, atom.Th:
			e[inCell] = 1
		case atom.Pre:
			e[inCode] = 1
		case atom.Aside:
			e[inAside] = 1
		case atom.Nav:
			e[inNavigation] = 1
		case atom.Footer:
			e[inFooter] = 1
		}
		switch {
		case !hasFurnitureName(n):
		case distance < nearElements:
			e[isNearName] = 1
		default:
			e[isInName] = 1
		}
		distance++
	}
}

// hasSigns reports whether a unit looks like a part of a published page that is not
// its main text.
func (e *evidence) hasSigns() bool {
	return e[inAside]+e[inNavigation]+e[inFooter]+e[isNearName]+e[isInName] > 0
}

func hasFurnitureName(n *html.Node) bool {
	for _, key := range []string{"id", "class", "role"} {
		for name := range strings.FieldsSeq(attr(n, key)) {
			if furnitureName.MatchString(name) {
				return true
			}
		}
	}
	return false
}

// measures are sums over a page, in bytes of text.
type measures struct {
	all, found  map[*html.Node]float64 // in an element: text, and text that trafilatura found
	total       float64                // text that trafilatura found
	first, last int                    // the first and the last long unit that it found
}

func measure(units []unit, votes []vote) measures {
	m := measures{all: map[*html.Node]float64{}, found: map[*html.Node]float64{}, first: -1, last: len(units)}
	for i, u := range units {
		size, found := float64(len(u.text)), 0.0
		if votes[i][byTrafilatura] {
			found = size
		}
		if found > dateText {
			m.last = i
			if m.first < 0 {
				m.first = i
			}
		}
		m.total += found
		for n := u.parent; n != nil; n = n.Parent {
			m.all[n] += size
			m.found[n] += found
		}
	}
	return m
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
