package privacy

import (
	"strings"
	"sync"
)

// maxNumber is the length of the longest national number, without what separates its
// groups.
const maxNumber = 16

// number is a kind of number that a state gives to a person.
type number struct {
	entity string
	// shape is the form: D is a digit, A a letter, X either.
	shape string
	// groups are the lengths of the groups in which the number is written, "334" for
	// 943 476 5919. The number may also be written in one piece, unless divided.
	groups  []string
	gaps    string // the kinds of gap between the groups
	pattern string // the gaps in their order, where they differ
	divided bool
	// valid checks the number, in capitals and without gaps.
	valid func(string) bool
	// whole and grouped are the scores of a valid number that is written in one piece and
	// in groups. The score of a number without a checksum, or of whose checksum one number
	// in ten is valid, is below Threshold: it needs a label.
	whole, grouped float64
}

// numbersByLength returns the numbers by the length of their shape. Nobody may change them.
var numbersByLength = sync.OnceValue(func() *[maxNumber + 1][]number {
	var found [maxNumber + 1][]number
	for _, n := range numbers() {
		found[len(n.shape)] = append(found[len(n.shape)], n)
	}
	return &found
})

// numbers returns the national numbers.
func numbers() []number {
	return append(numbersOfEurope(), numbersOfTheWorld()...)
}

func numbersOfEurope() []number {
	return []number{
		{entity: "UK_NHS", shape: "DDDDDDDDDD", groups: []string{"334"}, gaps: " -", valid: isNHS, whole: .3, grouped: .55},
		{entity: "UK_NINO", shape: "AADDDDDDA", groups: []string{"22221", "261", "231"}, gaps: " ", valid: isNINO, whole: .6, grouped: .7},
		{entity: "DE_TAX_ID", shape: "DDDDDDDDDDD", groups: []string{"2333"}, gaps: " ", valid: isSteuerID, whole: .35, grouped: .65},
		{entity: "FR_INSEE", shape: "DDDDDXXDDDDDDDD", groups: []string{"1222332", "132"}, gaps: " -", valid: isNIR, whole: .8, grouped: .95},
		{entity: "ES_NIF", shape: "DDDDDDDDA", groups: []string{"81", "2331"}, gaps: " -.", valid: isNIF, whole: .7, grouped: .75},
		{entity: "ES_NIE", shape: "ADDDDDDDA", groups: []string{"171", "81"}, gaps: " -", valid: isNIE, whole: .75, grouped: .8},
		{entity: "IT_FISCAL_CODE", shape: "AAAAAAXXAXXAXXXA", groups: []string{"3355", "6541", "655"}, gaps: " ", valid: isCodiceFiscale, whole: .95, grouped: .95},
		{entity: "NL_BSN", shape: "DDDDDDDDD", groups: []string{"423", "333", "2232"}, gaps: ". ", valid: isBSN, whole: .3, grouped: .35},
		{entity: "PL_PESEL", shape: "DDDDDDDDDDD", valid: isPESEL, whole: .45},
		{entity: "SE_PERSONNUMMER", shape: "DDDDDDDDDD", groups: []string{"64"}, gaps: "-+", valid: isPersonnummer, whole: .35, grouped: .6},
		{entity: "SE_PERSONNUMMER", shape: "DDDDDDDDDDDD", groups: []string{"84"}, gaps: "-+", valid: isLongPersonnummer, whole: .5, grouped: .7},
		{entity: "FI_PERSONAL_IDENTITY_CODE", shape: "DDDDDDDDDX", groups: []string{"64"}, gaps: "-+", divided: true, valid: isHetu, grouped: .85},
		{entity: "FI_PERSONAL_IDENTITY_CODE", shape: "DDDDDDADDDX", valid: isHetuOfThisCentury, whole: .8},
		{entity: "DK_CPR_NUMBER", shape: "DDDDDDDDDD", groups: []string{"64"}, gaps: "-", valid: isCPR, whole: .3, grouped: .55},
		{entity: "NO_FODSELSNUMMER", shape: "DDDDDDDDDDD", groups: []string{"65"}, gaps: " ", valid: isFodselsnummer, whole: .55, grouped: .7},
		{entity: "CH_AHV", shape: "DDDDDDDDDDDDD", groups: []string{"3442"}, gaps: ". ", valid: isAHV, whole: .7, grouped: .95},
	}
}

func numbersOfTheWorld() []number {
	return []number{
		{entity: "US_SSN", shape: "DDDDDDDDD", groups: []string{"324"}, gaps: "- ", valid: isSSN, whole: .2, grouped: .55},
		{entity: "BR_CPF", shape: "DDDDDDDDDDD", groups: []string{"3332"}, gaps: ".-", pattern: "..-", valid: isCPF, whole: .45, grouped: .95},
		{entity: "IN_AADHAAR", shape: "DDDDDDDDDDDD", groups: []string{"444"}, gaps: " -", valid: isAadhaar, whole: .35, grouped: .55},
		{entity: "AU_TFN", shape: "DDDDDDDDD", groups: []string{"333"}, gaps: " -", valid: isTFN, whole: .3, grouped: .4},
		{entity: "SG_NRIC_FIN", shape: "ADDDDDDDA", valid: isNRIC, whole: .8},
		{entity: "KR_RRN", shape: "DDDDDDDDDDDDD", groups: []string{"67"}, gaps: "-", divided: true, valid: isRRN, grouped: .75},
	}
}

// shortest is the length of the shortest national number.
const shortest = 9

// nationals returns the national numbers of a text. byLength has the kinds of number by
// the length of their shape.
func (d *document) nationals(byLength *[maxNumber + 1][]number) []match {
	var found []match
	for first, t := range d.tokens {
		alone := first+1 == len(d.tokens) || gapOf(d.between(first)) == foreign
		if t.length() > maxNumber || alone && t.length() < shortest || !d.begins(t.start) {
			continue
		}
		w := written{}
		for last := first; last < len(d.tokens) && w.add(d, last); last++ {
			if n := len(w.compact()); n >= shortest && len(byLength[n]) > 0 && d.ends(d.tokens[last].end) {
				found = append(found, d.kindsOf(&w, byLength[n], first, last)...)
			}
		}
	}
	return found
}

// written is how a number stands in a text.
type written struct {
	characters [maxNumber]byte // in capitals, without gaps
	groups     [maxNumber]byte // the lengths of its groups, a character each
	gaps       [maxNumber]byte // the kinds of gap between them
	length     int             // of characters
	count      int             // of groups
}

func (w *written) compact() string { return string(w.characters[:w.length]) }

// add adds the token at an index. It reports whether the number may still be one.
func (w *written) add(d *document, i int) bool {
	t := d.tokens[i]
	if w.length+t.length() > maxNumber {
		return false
	}
	if w.count > 0 {
		g := gapOf(d.between(i - 1))
		if g == foreign {
			return false
		}
		w.gaps[w.count-1] = byte(g)
	}
	for _, b := range []byte(d.text[t.start:t.end]) {
		if 'a' <= b && b <= 'z' {
			b -= 'a' - 'A'
		}
		w.characters[w.length] = b
		w.length++
	}
	w.groups[w.count] = '0' + byte(t.length())
	w.count++
	return true
}

func (d *document) kindsOf(w *written, kinds []number, first, last int) []match {
	var found []match
	for _, n := range kinds {
		score, ok := n.scoreOf(w)
		if !ok || w.count > 1 && d.continues(first, last) {
			continue
		}
		start, end := d.tokens[first].start, d.tokens[last].end
		found = append(found, d.judged(match{n.entity, start, end, score, byChecksum}))
	}
	return found
}

// scoreOf returns the score of a number as it is written. ok is false if it is none.
func (n number) scoreOf(w *written) (score float64, ok bool) {
	number, gaps := w.compact(), string(w.gaps[:w.count-1])
	score = n.whole
	if gaps != "" {
		score = n.grouped
		if !isOneOf(string(w.groups[:w.count]), n.groups) || strings.Trim(gaps, n.gaps) != "" || n.pattern != "" && gaps != n.pattern {
			return 0, false
		}
	} else if n.divided {
		return 0, false
	}
	return score, hasShape(number, n.shape) && n.valid(number)
}

func isOneOf(text string, all []string) bool {
	for _, s := range all {
		if s == text {
			return true
		}
	}
	return false
}

func hasShape(text, shape string) bool {
	for i := range len(shape) {
		if b := text[i]; shape[i] == 'D' && !isDigit(b) || shape[i] == 'A' && !isLetter(b) {
			return false
		}
	}
	return true
}

// continues reports whether digits in groups go on before the first token or behind the
// last one on the same line, so that the tokens are a part of a longer number.
func (d *document) continues(first, last int) bool {
	more := func(i, neighbour int) bool {
		between := d.between(i)
		return d.tokens[neighbour].number() && gapOf(between) != foreign && !strings.Contains(between, "\n")
	}
	return first > 0 && more(first-1, first-1) || last+1 < len(d.tokens) && more(last, last+1)
}
