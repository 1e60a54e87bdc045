package localmodel

import "math"

// comparison compares texts with one question by what their words mean. It keeps what it
// has read of each word, because the passages of a call share most of their words.
type comparison struct {
	table  *meanings
	asked  []float32   // the meaning of the question, of length 1
	single [][]float32 // those of its words that the table has
	parts  []part      // of all words read so far
	words  map[string]meant
	sum    []float32       // working memory
	labels map[string]bool // whether the question has a word that stands for a name of a row
}

// meant is what a comparison has read of a word.
type meant struct {
	from, to int     // its parts
	toward   float64 // product of its meaning with the question's
	square   float64 // of the length of its meaning
}

// compare returns a comparison with the words of a question, nil if the table has none of them.
func (m *meanings) compare(asked []string) *comparison {
	c := &comparison{table: m, words: map[string]meant{}, sum: make([]float32, m.dimensions), labels: map[string]bool{}}
	whole := make([]float32, m.dimensions)
	for _, word := range asked {
		meaning := m.embed(word)
		if meaning == nil {
			continue
		}
		c.single = append(c.single, meaning)
		m.addText(whole, word)
	}
	if len(c.single) == 0 || !normalise(whole) {
		return nil
	}
	c.asked = whole
	return c
}

// read returns what a word means.
func (c *comparison) read(word []byte) meant {
	if w, ok := c.words[string(word)]; ok {
		return w
	}
	w := meant{from: len(c.parts)}
	c.parts = c.table.appendParts(c.parts, word)
	w.to = len(c.parts)
	for _, p := range c.parts[w.from:] {
		toward, square := c.table.product(c.asked, p.row)
		w.toward += float64(p.weight) * toward
		w.square += float64(p.weight*p.weight) * square
	}
	c.words[string(word)] = w
	return w
}

// estimate returns about how near a text is to the question, as if the meanings of its words
// were independent of each other. It takes a fraction of the time of near.
func (c *comparison) estimate(text string) float64 {
	toward, square := 0.0, 0.0
	w := words{text: text}
	for {
		word, ok := w.next()
		if !ok {
			break
		}
		meaning := c.read(word)
		toward += meaning.toward
		square += meaning.square
	}
	if square == 0 {
		return 0
	}
	return toward / math.Sqrt(square)
}

// near returns the cosine of the meanings of a text and of the question, 0 for a text
// without a word of the table.
func (c *comparison) near(text string) float64 {
	clear(c.sum)
	w := words{text: text}
	for {
		word, ok := w.next()
		if !ok {
			break
		}
		meaning := c.read(word)
		for _, p := range c.parts[meaning.from:meaning.to] {
			c.table.addRow(c.sum, p.row, p.weight)
		}
	}
	if !normalise(c.sum) {
		return 0
	}
	return cosine(c.asked, c.sum)
}

// names reports whether the question has a word that stands for the name of a row.
func (c *comparison) names(label string) bool {
	named, known := c.labels[label]
	if known {
		return named
	}
	if name := c.table.embed(label); name != nil {
		for _, word := range c.single {
			named = named || cosine(name, word) >= leastLabelNear
		}
	}
	c.labels[label] = named
	return named
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
