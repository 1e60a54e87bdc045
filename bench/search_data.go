package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
)

const (
	writeBatch      = 1000
	chunksADocument = 5
	searchWords     = 120 // of a chunk
	searchDimension = 384
	searchTopics    = 300 // around which vectors lie
)

// collection makes the chunks and questions of the search measure. Few words are
// frequent and most are rare, as in a language, and vectors lie around topics.
type collection struct {
	size   collectionSize
	random *rand.Rand
	zipf   *rand.Zipf
	topics [][]float32
	asked  []asked
}

// asked is one search.
type asked struct {
	query  index.Query
	text   string
	vector []float32
}

// newCollection returns the collection of a seed. All have the same topics.
func newCollection(size collectionSize, seed uint64) *collection {
	c := &collection{size: size, random: rand.New(rand.NewPCG(1, 1))}
	for range searchTopics {
		c.topics = append(c.topics, c.gauss())
	}
	c.random = rand.New(rand.NewPCG(seed, 2))
	c.zipf = rand.NewZipf(c.random, 1.1, 5, 30_000)
	for i := range 100 {
		workspace := fmt.Sprint("w", i%size.workspaces)
		q := index.Query{Principal: knowledgetest.Principal(knowledge.Claims{Workspace: workspace}), Limit: 50}
		c.asked = append(c.asked, asked{q, c.text(8), c.vector()})
	}
	return c
}

func (c *collection) question(i int) asked { return c.asked[i] }

// chunks returns the chunks from one number up to another.
func (c *collection) chunks(from, until int) []index.Entry {
	list := make([]index.Entry, 0, until-from)
	for i := from; i < until; i++ {
		document := i / chunksADocument
		workspace := fmt.Sprint("w", document%c.size.workspaces)
		list = append(list, index.Entry{
			ChunkID: fmt.Sprintf("%012d", i), Workspace: workspace, Project: "default", DocumentID: fmt.Sprint("d", document),
			Version: 1, Ordinal: i % chunksADocument, Text: c.text(searchWords), Vector: c.vector(), ACL: []string{"w:" + workspace},
		})
	}
	return list
}

func (c *collection) text(words int) string {
	var b strings.Builder
	for range words {
		n := c.zipf.Uint64()
		if c.size.frequent {
			n = uint64(c.random.IntN(80)) //nolint:gosec // small
		}
		fmt.Fprintf(&b, "w%d ", n)
	}
	return b.String()
}

func (c *collection) gauss() []float32 {
	v := make([]float32, searchDimension)
	for i := range v {
		v[i] = float32(c.random.NormFloat64())
	}
	return v
}

// vector returns a vector around a topic, with a cosine of about .7.
func (c *collection) vector() []float32 {
	v := c.gauss()
	for i, f := range c.topics[c.random.IntN(len(c.topics))] {
		v[i] += f
	}
	return v
}
