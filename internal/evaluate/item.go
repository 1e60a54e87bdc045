package evaluate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"slices"
)

// Kind is what a question asks for.
type Kind string

// The kinds of questions.
const (
	KindFact         Kind = "fact"         // one sentence answers it; also the kind of an item without one
	KindTable        Kind = "table"        // a row of a table answers it
	KindComparison   Kind = "comparison"   // two sentences or rows answer it
	KindUnanswerable Kind = "unanswerable" // the documents do not answer it, and an answer should say so
)

// Item is a question of a test set.
type Item struct {
	ID                string   `json:"id"`
	Question          string   `json:"question"`
	Reference         string   `json:"reference,omitempty"`          // the expected answer, or guidelines for it
	ExpectedDocuments []string `json:"expected_documents,omitempty"` // ids, external ids or names
	ExpectedPages     []Page   `json:"expected_pages,omitempty"`
	Tags              []string `json:"tags,omitempty"`
	Kind              Kind     `json:"kind,omitempty"`
	Passages          []string `json:"passages,omitempty"` // ids of the chunks that it was made from
}

// Limits of a test set. Lengths are in code points.
const (
	MaxItems     = 10_000
	MaxID        = 128
	MaxQuestion  = 8_000
	MaxReference = 20_000
	MaxExpected  = 100 // documents, pages, and passages, of an item
	MaxName      = 1_024
	MaxTags      = 32
	MaxTag       = 64
	MaxFile      = 64 << 20 // bytes of a file of items
)

// Version returns the version of a list of items: a hash of all that they hold, in their order,
// as 64 hexadecimal digits. Lists that differ in one field have different versions.
func Version(items []Item) string {
	hash := sha256.New()
	encoder := json.NewEncoder(hash)
	for _, item := range items {
		_ = encoder.Encode(item) // strings and numbers always encode, and a hash takes everything
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Sample returns count of the items in their order, chosen by the seed, or all of them if there
// are no more or count is not positive. A larger sample by the same seed has all of a smaller one.
func Sample(items []Item, count int, seed uint64) []Item {
	if count <= 0 || count >= len(items) {
		return slices.Clone(items)
	}
	chosen := rand.New(rand.NewPCG(seed, uint64(len(items)))).Perm(len(items))[:count]
	slices.Sort(chosen)
	sample := make([]Item, count)
	for i, at := range chosen {
		sample[i] = items[at]
	}
	return sample
}

// answerable reports whether the documents should answer the question.
func (i Item) answerable() bool { return i.Kind != KindUnanswerable }
