package chunk

import (
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// MinTokens is the smallest limit of tokens that leaves room for a text beside what
// names its document.
const MinTokens = 128

// The divisors of the limit for the parts of a context, each of which is at most
// that share of the embedding text. The name and the title have one each.
const (
	nameShare   = 8
	pathShare   = 8
	headerShare = 4
)

// limit bounds the tokens of an embedding text; 0 is no bound.
type limit int

func newLimit(tokens int) limit {
	if tokens <= 0 {
		return 0
	}
	return limit(max(tokens, MinTokens))
}

// allows reports whether the embedding text of a chunk is within the limit.
func (l limit) allows(c knowledge.Chunk) bool {
	if l == 0 {
		return true
	}
	size := len(c.Text)
	for _, context := range [4]string{c.Title, "", c.Header, c.Context} {
		size += len(context) + 1
	}
	for _, heading := range c.HeadingPath {
		size += len(heading) + len(pathSeparator)
	}
	return size <= int(l) || l.holds(EmbeddingText(c), 1)
}

// holds reports whether a text has at most 1/share of the limit.
func (l limit) holds(text string, share int) bool {
	// A token is at least one byte, so few texts have to be counted.
	return l == 0 || len(text) <= int(l)/share || countTokens(text) <= int(l)/share
}

// first returns the longest beginning of a text that has at most 1/share of the
// limit, by halves.
func (l limit) first(text string, share int) string {
	for !l.holds(text, share) {
		text = first(text, utf8.RuneCountInString(text)/2)
	}
	return text
}

// codec counts tokens in the vocabulary cl100k_base, which OpenAI's models for
// embeddings have. Loading it takes some milliseconds and megabytes.
var codec = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.Cl100kBase) })

// countTokens returns the number of tokens of a text, or a larger number if it cannot
// be counted.
func countTokens(text string) int {
	c, err := codec()
	if err != nil {
		return len(text)
	}
	n, err := c.Count(text)
	if err != nil {
		return len(text)
	}
	return n
}

// Holds reports whether a text keeps to the limit of maxTokens; 0 is no limit.
func Holds(text string, maxTokens int) bool { return newLimit(maxTokens).holds(text, 1) }

// WithContext returns the chunk with a sentence that places it in its document, cut
// so that the embedding text keeps to the limit of maxTokens; 0 is no limit.
func WithContext(c knowledge.Chunk, sentence string, maxTokens int) knowledge.Chunk {
	l := newLimit(maxTokens)
	for c.Context = sentence; c.Context != "" && !l.allows(c); {
		c.Context = first(c.Context, utf8.RuneCountInString(c.Context)/2)
	}
	return c
}
