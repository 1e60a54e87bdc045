package localmodel

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
)

// meaningFile is the table that distill/ makes. It stays in the pages of the
// program's file, so that only the rows that are read take memory.
//
// Its header is "CWT1", the number of words n and of dimensions d, each 32 bits,
// little endian as all that follows. Then come n hashes of folded words, ascending,
// n exponents of scales (8 bits), and n rows of d numbers of 4 bits. A number q of a
// row with the exponent e is (q - 7.5) * 2^((e-128)/8).
//
//go:embed meaning.table
var meaningFile string

// meanings is a table of word vectors. The sum of the vectors of a text's words is
// near the direction of what the text means, whatever its language.
type meanings struct {
	hashes, exponents, rows string
	words, dimensions       int
	scales                  [256]float32
}

// readMeanings returns the table in a file. It panics if the file is damaged, which
// only a wrong build can be.
var readMeanings = sync.OnceValue(func() *meanings { return parseMeanings(meaningFile) })

const meaningHeader = 12

func parseMeanings(file string) *meanings {
	number := func(at int) int { return int(binary.LittleEndian.Uint32([]byte(file[at : at+4]))) }
	if len(file) < meaningHeader || file[:4] != "CWT1" {
		panic("the table of word meanings is none")
	}
	m := &meanings{words: number(4), dimensions: number(8)}
	if len(file) != meaningHeader+m.words*(4+1+m.dimensions/2) {
		panic("the table of word meanings has the wrong length")
	}
	at := meaningHeader
	m.hashes, at = file[at:at+4*m.words], at+4*m.words
	m.exponents, at = file[at:at+m.words], at+m.words
	m.rows = file[at:]
	for e := range m.scales {
		m.scales[e] = float32(math.Exp2(float64(e-128) / 8))
	}
	return m
}

// find returns the row of a word, or -1. The hashes are spread evenly, so it looks where the
// hash would be if they were spread exactly so, and then in what remains.
func (m *meanings) find(word []byte) int {
	h := meaningHash(word)
	low, high := 0, m.words-1
	for low <= high {
		first, last := m.hash(low), m.hash(high)
		if h < first || h > last {
			return -1
		}
		if first == last {
			return low
		}
		at := low + int(uint64(h-first)*uint64(high-low)/uint64(last-first))
		switch found := m.hash(at); {
		case found < h:
			low = at + 1
		case found > h:
			high = at - 1
		default:
			return at
		}
	}
	return -1
}

func (m *meanings) hash(i int) uint32 {
	b := m.hashes[4*i : 4*i+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// meaningHash is the hash of a folded word in the table.
func meaningHash(word []byte) uint32 { return uint32(mix(hashBytes(word)) >> 32) }

// addRow adds a row, weighted, to a vector.
func (m *meanings) addRow(vector []float32, row int, weight float32) {
	scale := weight * m.scales[m.exponents[row]]
	var values [16]float32
	for q := range values {
		values[q] = scale * (float32(q) - 7.5)
	}
	numbers := m.numbers(row)
	vector = vector[:2*len(numbers)]
	for i := range len(numbers) {
		b := numbers[i]
		vector[2*i] += values[b&15]
		vector[2*i+1] += values[b>>4]
	}
}

func (m *meanings) numbers(row int) string {
	half := m.dimensions / 2
	return m.rows[row*half : (row+1)*half]
}

// product returns the product of a vector and a row, and the square of the row's length.
func (m *meanings) product(vector []float32, row int) (product, square float64) {
	numbers := m.numbers(row)
	vector = vector[:2*len(numbers)]
	var sum, squares float32
	for i := range len(numbers) {
		low, high := float32(numbers[i]&15)-7.5, float32(numbers[i]>>4)-7.5
		sum += low*vector[2*i] + high*vector[2*i+1]
		squares += low*low + high*high
	}
	scale := float64(m.scales[m.exponents[row]])
	return scale * float64(sum), scale * scale * float64(squares)
}

// rareScale is the scale of the row of a rare word.
const rareScale = 0.019

// rarity returns how rare a word is: 1 for the rarest and those that the table does not
// have, less for frequent ones, whose rows are shorter. Without a table it is 1.
func (m *meanings) rarity(word []byte) float64 {
	if m == nil {
		return 1
	}
	row := m.find(word)
	if row < 0 {
		return 1
	}
	return math.Sqrt(min(1, float64(m.scales[m.exponents[row]])/rareScale))
}

// Parts of a word that the table does not have: compounds and words with endings.
const (
	leastPart  = 4   // bytes of a part that is looked up
	mostEnding = 3   // bytes that are left out between two parts
	partWeight = 0.7 // of a part, relative to a word

	firstUnspaced = 0xe0 // the first byte of characters of scripts without spaces, and of some others
)

// part is a row with its weight in the meaning of a word.
type part struct {
	row    int
	weight float32
}

// appendParts appends what the meaning of a word is the sum of: its row, or else the rows of
// the parts that the word is made of. It appends nothing if the table has neither.
func (m *meanings) appendParts(to []part, word []byte) []part {
	if row := m.find(word); row >= 0 {
		return append(to, part{row, 1})
	}
	for at, skipped := 0, 0; at < len(word) && skipped <= mostEnding; {
		row, end := m.longest(word, at)
		if row < 0 {
			at++
			skipped++
			continue
		}
		to = append(to, part{row, partWeight})
		at, skipped = end, 0
	}
	return to
}

// longest returns the row and the end of the longest part that begins at a byte, or -1.
func (m *meanings) longest(word []byte, at int) (row, end int) {
	least := leastPart
	if word[at] >= firstUnspaced {
		least = 3 // one character of a script without spaces
	}
	for end = len(word); end-at >= least; end-- {
		if end < len(word) && word[end]&0xc0 == 0x80 {
			continue // in the middle of a character
		}
		if row = m.find(word[at:end]); row >= 0 {
			return row, end
		}
	}
	return -1, at
}

// embed returns the meaning of a text, of length 1, or nil if the table has none of its words.
func (m *meanings) embed(text string) []float32 {
	vector := make([]float32, m.dimensions)
	if !m.addText(vector, text) || !normalise(vector) {
		return nil
	}
	return vector
}

// addText adds the meanings of the words of a text to a vector. It reports whether the table
// has any of them.
func (m *meanings) addText(vector []float32, text string) (found bool) {
	w := words{text: text}
	var buffer [8]part
	for {
		word, ok := w.next()
		if !ok {
			return found
		}
		for _, p := range m.appendParts(buffer[:0], word) {
			m.addRow(vector, p.row, p.weight)
			found = true
		}
	}
}
