package retrieve

import (
	"slices"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// shingleWords is the number of consecutive words in a shingle.
	shingleWords = 4
	// duplicateShare is the share of the longer text's shingles that the other
	// text must have, for the two to be duplicates.
	duplicateShare = 0.9
)

// duplicates are the texts that were chosen. The zero value has none.
type duplicates struct{ texts []fingerprint }

// fingerprint is a text as its distinct shingles, sorted, and the sum of its
// words with a digit. Two texts with different figures are never duplicates,
// however similar their other words are.
type fingerprint struct {
	shingles []uint64
	figures  uint64
}

// seen reports whether text is a duplicate of an earlier text. If not, it adds
// the text.
func (d *duplicates) seen(text string) bool {
	f := newFingerprint(text)
	if slices.ContainsFunc(d.texts, f.same) {
		return true
	}
	d.texts = append(d.texts, f)
	return false
}

// same reports whether two texts are duplicates. A text within a much longer
// one is not: the text around it may be the answer.
func (f fingerprint) same(other fingerprint) bool {
	a, b := f.shingles, other.shingles
	longer := float64(max(len(a), len(b)))
	mayMiss := int((1 - duplicateShare) * longer) // shingles of the longer text that the shorter may lack
	if f.figures != other.figures || max(len(a), len(b))-min(len(a), len(b)) > mayMiss {
		return false
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	for missed := 0; len(a) > 0; {
		switch {
		case len(b) == 0 || a[0] < b[0]:
			if missed++; missed > mayMiss {
				return false
			}
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return true
}

func newFingerprint(text string) fingerprint {
	words, figures := hashWords(text)
	last := max(0, len(words)-shingleWords)
	shingles := make([]uint64, 0, last+1)
	for i := range last + 1 {
		h := uint64(hashStart)
		for _, w := range words[i:min(i+shingleWords, len(words))] {
			h = (h ^ w) * hashPrime
			h ^= h >> 29
		}
		shingles = append(shingles, h)
	}
	slices.Sort(shingles)
	return fingerprint{slices.Compact(shingles), figures}
}

// FNV-1a parameters. The hash runs over words character by character, and over
// shingles word by word.
const (
	hashStart = 14695981039346656037
	hashPrime = 1099511628211
)

// hashWords returns the hash of each word in lower case, and of each character
// of a script without spaces. figures is the sum of the hashes of words with a
// digit.
func hashWords(text string) (words []uint64, figures uint64) {
	h, figure := uint64(hashStart), false
	end := func() {
		if h == hashStart {
			return
		}
		words = append(words, h)
		if figure {
			figures += h
		}
		h, figure = hashStart, false
	}
	for _, r := range text {
		switch {
		case r < 128 && ('a' <= r && r <= 'z'):
		case '0' <= r && r <= '9':
			figure = true
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r < 128, !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r):
			end()
			continue
		case knowledge.Unspaced(r):
			end()
			words = append(words, (hashStart^uint64(r))*hashPrime)
			continue
		default:
			figure = figure || unicode.IsNumber(r)
			r = unicode.ToLower(r)
		}
		h = (h ^ uint64(r)) * hashPrime
	}
	end()
	return words, figures
}
