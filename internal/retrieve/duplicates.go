package retrieve

import (
	"hash/maphash"
	"maps"
	"strings"
	"unicode"
)

const (
	// shingleWords is how many words in a row make a shingle.
	shingleWords = 4
	// duplicateShare is what share of the shingles of the shorter of two texts
	// the other must have, for the two to say the same.
	duplicateShare = 0.9
)

// duplicates knows what the texts that were chosen say. The zero value knows
// of none.
type duplicates struct {
	seed  maphash.Seed
	texts []fingerprint
}

// fingerprint is a text as the set of its shingles, and of its words that have
// a digit: two texts with different figures never say the same, however alike
// the words around these are.
type fingerprint struct {
	shingles map[uint64]struct{}
	figures  map[string]struct{}
}

func (d *duplicates) add(text string) { d.texts = append(d.texts, d.fingerprint(text)) }

// has reports whether text says what an added one says.
func (d *duplicates) has(text string) bool {
	if len(d.texts) == 0 {
		return false
	}
	f := d.fingerprint(text)
	for _, other := range d.texts {
		if f.same(other) {
			return true
		}
	}
	return false
}

func (f fingerprint) same(other fingerprint) bool {
	short, long := f.shingles, other.shingles
	if len(short) > len(long) {
		short, long = long, short
	}
	// One text within a much longer one is not dropped: the longer says more,
	// and if the shorter stands first, what surrounds it may be the answer.
	if float64(len(short)) < duplicateShare*float64(len(long)) {
		return false
	}
	shared := 0
	for s := range short {
		if _, ok := long[s]; ok {
			shared++
		}
	}
	return float64(shared) >= duplicateShare*float64(len(short)) && maps.Equal(f.figures, other.figures)
}

func (d *duplicates) fingerprint(text string) fingerprint {
	if d.seed == (maphash.Seed{}) {
		d.seed = maphash.MakeSeed()
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	f := fingerprint{shingles: map[uint64]struct{}{}, figures: map[string]struct{}{}}
	var units []string
	for _, w := range words {
		if strings.ContainsFunc(w, unicode.IsDigit) {
			f.figures[w] = struct{}{}
		}
		units = appendUnits(units, w)
	}
	for i := range max(1, len(units)-shingleWords+1) {
		var h maphash.Hash
		h.SetSeed(d.seed)
		for _, u := range units[i:min(i+shingleWords, len(units))] {
			_, _ = h.WriteString(u) // never fails
			_ = h.WriteByte(0)
		}
		f.shingles[h.Sum64()] = struct{}{}
	}
	return f
}

// appendUnits appends a word, or the characters of one in a script that does
// not separate words.
func appendUnits(units []string, word string) []string {
	if !strings.ContainsFunc(word, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	}) {
		return append(units, word)
	}
	return append(units, strings.Split(word, "")...)
}
