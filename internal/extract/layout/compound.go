package layout

import (
	"slices"
	"strings"
)

// isConjunction reports whether a word links two words of which the first lacks its end,
// as in "Ein- und Ausgang" and "24- and 48-hour".
func isConjunction(word string) bool {
	return slices.Contains(conjunctions, word)
}

var conjunctions = strings.Fields("und oder bzw beziehungsweise sowie als bis and or to et ou y o e en of och eller og i lub")

// isCompound reports whether two parts in small letters are an English compound that is
// written with a hyphen. It knows few, which are no parts of one word.
func isCompound(left, right string) bool {
	left, right = strings.ToLower(left), strings.ToLower(right)
	_, last, many := cutLast(left)
	first, _, more := strings.Cut(right, "-")
	switch {
	case many && slices.Contains(links, last) || more && slices.Contains(links, first): // state-of-the-art
		return true
	case slices.Contains(closed, left+right):
		return false
	case slices.Contains(selves, left):
		return len(right) > 3
	case len(left) == 1, len(right) == 1: // e-commerce: no word is broken so near to its ends
		return true
	case slices.Contains(tens, left):
		return slices.Contains(units, right)
	case slices.Contains(ordinals, left):
		return slices.Contains(ranks, right)
	case slices.Contains(periods, left):
		return right == "end" || right == "ends"
	case slices.Contains(units, left):
		return slices.Contains(measures, right)
	case slices.Contains(degrees, left):
		return slices.Contains(qualities, right)
	}
	return slices.Contains(relations, right) && len(left) > 2 && !slices.Contains(particles, left)
}

func cutLast(word string) (before, last string, found bool) {
	if i := strings.LastIndex(word, "-"); i >= 0 {
		return word[:i], word[i+1:], true
	}
	return "", word, false
}

var (
	links  = strings.Fields("of the to in by up on off out a and")
	selves = strings.Fields("well self quasi cross non")
	closed = strings.Fields(`wellness wellhead wellheads wellbeing wellspring selfless selfishly selfishness selfsame
		crossing crossings crossover crossovers crossroad crossroads crosswise crossbar crosstalk crosswalk crossword
		nonsense nonsensical nonetheless nonentity nondescript nonchalant nonpareil
		carefree worldwide nationwide countrywide citywide statewide storewide`)
	tens     = strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety")
	units    = strings.Fields("one two three four five six seven eight nine ten")
	measures = strings.Fields(`way step stage phase dimensional year day week month hour minute part piece sided thirds
		quarters fifths wheel pole wire point digit storey story party time`)
	ordinals  = strings.Fields("first second third fourth fifth last")
	ranks     = strings.Fields("party parties class quarter quarters half hand rate time tier order level generation degree year")
	periods   = strings.Fields("year month quarter period season")
	degrees   = strings.Fields("high low long short full half large small medium mid")
	qualities = strings.Fields(`term level scale quality speed pressure temperature voltage resolution frequency performance
		power range risk cost density energy end grade capacity volume size sized time hour day year
		yield income growth value margin lived standing dated`)
	relations = strings.Fields(`known based related driven oriented specific friendly free wide bearing weighted adjusted
		owned held backed linked traded making`)
	particles = strings.Fields("inter unter over under pre sub super out mis dis with for")
)
