package localmodel

import (
	"math"
	"sync"
)

// Dimensions is the length of the offline model's vectors.
const Dimensions = HashedDimensions + 256

// HashedDimensions is the length of the vectors of HashedModel.
const HashedDimensions = 512

// meaningShare is a compromise: a larger share finds more paraphrases, a smaller one more
// of what questions with the words of a field ask for (the Cranfield collection).
const meaningShare = 0.55

// Lexical is the share of the hashed words in the square of a vector of Embed.
const Lexical = 1 - meaningShare

// Weights of a vector's features, tuned on the Cranfield collection (measured
// by TestEmbeddings).
const (
	gramWeight     = 0.35 // of all n-grams of a word together, relative to the word
	gramSize       = 4    // bytes, counting a mark at either end of the word
	pairWeight     = 0.25 // of two consecutive words
	stopWeight     = 0.05 // of a stop word
	commonWeight   = 0.4  // of a common word
	repeatExponent = 0.75 // a word that occurs n times counts n^repeatExponent
)

// Embed returns one vector of Dimensions numbers and length 1 for each text.
// The same text always has the same vector. It has the text's hashed words and what
// they mean (meanings), whose share of its square is meaningShare: texts that share
// words are near each other, and so are texts in other words or another language.
func (m *Model) Embed(texts []string) [][]float32 { return m.EmbedTo(texts, Dimensions) }

// EmbedTo is like Embed, with fewer dimensions (1 to Dimensions).
func (m *Model) EmbedTo(texts []string, dimensions int) [][]float32 {
	table := readMeanings()
	meant := min(table.dimensions, dimensions/2) // its first dimensions tell most
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vector := make([]float32, 0, dimensions)
		vector = append(vector, m.hashTo(text, dimensions-meant, table)...)
		vector = vector[:dimensions]
		if meaning := table.embed(text); meaning != nil && normalise(meaning[:meant]) {
			join(vector[:dimensions-meant], vector[dimensions-meant:], meaning)
		}
		vectors[i] = vector
	}
	return vectors
}

// join scales the hashed words, of length 1, and writes the meaning, of length 1, so that
// both together have length 1.
func join(words, meant, meaning []float32) {
	for i := range words {
		words[i] *= float32(math.Sqrt(1 - meaningShare))
	}
	for i := range meant {
		meant[i] = meaning[i] * float32(math.Sqrt(meaningShare))
	}
}

// EmbedHashed returns one vector of HashedModel, of length 1, for each text. Its
// features are the stems of the text's words, their n-grams, and pairs of consecutive
// words, each hashed to a dimension. Texts that share words or parts of words are near
// each other; synonyms are not. It has 1 to HashedDimensions dimensions.
func (m *Model) EmbedHashed(texts []string, dimensions int) [][]float32 {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = m.hashTo(text, dimensions, nil)
	}
	return vectors
}

// hashTo returns the hashed words of a text. With a table of meanings, a frequent word of
// any of its languages counts less.
func (m *Model) hashTo(text string, dimensions int, table *meanings) []float32 {
	vector := m.hash(text, table)
	if dimensions < HashedDimensions {
		return fold(vector, dimensions)
	}
	return vector
}

// feature is a distinct word of a text or a pair of words.
type feature struct {
	hash   uint64
	count  float64
	weight float64
	stem   []byte // nil = without n-grams
}

// sketch is the working memory of one embedding.
type sketch struct {
	at       map[uint64]int // hash -> index of its feature
	features []feature
	letters  []byte // of all stems
	spelled  []byte // the word that is read
}

var sketches = sync.Pool{New: func() any { return &sketch{at: make(map[uint64]int, 256)} }}

func (m *Model) hash(text string, table *meanings) []float32 {
	s := sketches.Get().(*sketch)
	defer sketches.Put(s)
	clear(s.at)
	s.features, s.letters = s.features[:0], s.letters[:0]
	s.read(text, m.common, table)
	vector := make([]float32, HashedDimensions)
	for _, f := range s.features {
		weight := f.weight
		if f.count > 1 {
			weight *= math.Pow(f.count, repeatExponent)
		}
		add(vector, f.hash, weight)
		if f.stem != nil {
			addGrams(vector, f.stem, weight*gramWeight)
		}
	}
	if !normalise(vector) {
		// The text has no words: hash the whole text.
		add(vector, hashBytes([]byte(text)), 1)
		normalise(vector)
	}
	return vector
}

// read collects the features of a text.
func (s *sketch) read(text string, common map[string]struct{}, table *meanings) {
	w := words{text: text}
	var before uint64
	for {
		word, ok := w.next()
		if !ok {
			return
		}
		if stopWord(word) {
			s.count(hashBytes(word), stopWeight)
			before = 0
			continue
		}
		s.spelled = append(s.spelled[:0], word...) // stem changes the letters
		word = stem(word)
		h := hashBytes(word)
		if !s.again(h) {
			s.add(h, table.rarity(s.spelled)*wordWeight(word, common), word)
		}
		if before != 0 {
			s.count(mix(before*31+h), pairWeight)
		}
		before = h
	}
}

// count counts a feature without n-grams.
func (s *sketch) count(hash uint64, weight float64) {
	if !s.again(hash) {
		s.add(hash, weight, nil)
	}
}

// again counts a feature if the text had it before.
func (s *sketch) again(hash uint64) bool {
	i, ok := s.at[hash]
	if ok {
		s.features[i].count++
	}
	return ok
}

// add adds a feature that the text did not have before.
func (s *sketch) add(hash uint64, weight float64, stem []byte) {
	s.at[hash] = len(s.features)
	f := feature{hash: hash, count: 1, weight: weight}
	if stem != nil {
		start := len(s.letters)
		s.letters = append(s.letters, stem...)
		f.stem = s.letters[start:] // stays valid when letters grows, which copies it
	}
	s.features = append(s.features, f)
}

// wordWeight estimates from a stem alone how much it distinguishes texts:
// common words do little, and long words are rarer than short ones.
func wordWeight(stem []byte, common map[string]struct{}) float64 {
	if _, ok := common[string(stem)]; ok {
		return commonWeight
	}
	return min(1, 0.5+0.1*float64(len(stem)))
}

// addGrams adds the n-grams of a stem, with the total weight given.
func addGrams(vector []float32, stem []byte, weight float64) {
	var marked [maxWord + 2]byte
	b := append(marked[:0], '^')
	b = append(b, stem[:min(len(stem), maxWord)]...)
	b = append(b, '$')
	n := len(b) - gramSize + 1
	if n < 1 {
		return
	}
	each := weight / math.Sqrt(float64(n))
	for i := range n {
		add(vector, hashBytes(b[i:i+gramSize])^0x9e3779b97f4a7c15, each)
	}
}

// add adds a feature to the dimension that its hash selects. The hash also
// selects the sign, so that the expected sum of features that collide is zero.
func add(vector []float32, hash uint64, weight float64) {
	h := mix(hash)
	if h&1 == 0 {
		weight = -weight
	}
	vector[(h>>1)%HashedDimensions] += float32(weight)
}

// normalise scales a vector to length 1. It reports false if the vector is
// zero.
func normalise(vector []float32) bool {
	sum := 0.0
	for _, v := range vector {
		sum += float64(v) * float64(v)
	}
	if sum < 1e-12 {
		return false
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range vector {
		vector[i] *= scale
	}
	return true
}

// fold reduces a vector to fewer dimensions by adding them up.
func fold(vector []float32, dimensions int) []float32 {
	short := make([]float32, dimensions)
	for i, v := range vector {
		short[i%dimensions] += v
	}
	if !normalise(short) {
		short[0] = 1 // all sums are zero
	}
	return short
}

// hashBytes returns the FNV-1a hash.
func hashBytes(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// mix distributes a hash over all bits (the finaliser of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
