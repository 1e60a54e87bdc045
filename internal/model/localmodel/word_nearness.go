package localmodel

import "math"

// CompareWords compares texts with a question word by word, by what the words mean: the
// meaning of a whole text is that of all its sentences, of which mostly one answers.
//
// near has for each text the mean of the largest cosines of the question's words with a word
// of the text, weighted by how rare the question's words are: 0 to 1. literal is the share of
// the question's words, weighted too, that the text with most of them has itself. If a text
// has a share of enough, near is nil: then the words alone tell, and no meaning is read.
func CompareWords(question string, texts []string, enough float64) (near []float64, literal float64) {
	c := newWordComparison(readMeanings(), question)
	for _, text := range texts {
		if literal = max(literal, c.literal(text)); literal >= enough {
			return nil, literal
		}
	}
	near = make([]float64, len(texts))
	for i, text := range texts {
		near[i] = c.compare(text)
	}
	return near, literal
}

// wordComparison compares texts with the words of one question. It keeps the cosines of each
// word that it has read, because the passages of a search share most of their words.
type wordComparison struct {
	table   *meanings
	asked   [][]float32    // meanings of the question's words, of length 1
	weights []float64      // of the question's words, 1 together
	at      map[string]int // of the question's words in asked
	rows    map[int]int    // the same by the row of a word that is one
	has     []bool         // working memory: which of the question's words a text has

	read    map[string][]float32 // word -> its cosines with asked
	largest []float32            // working memory: of the words of a text
	sum     []float32            // working memory
}

func newWordComparison(table *meanings, question string) *wordComparison {
	c := &wordComparison{table: table, read: map[string][]float32{}, at: map[string]int{}, rows: map[int]int{}, sum: make([]float32, table.dimensions)}
	total := 0.0
	w := words{text: question}
	for word, ok := w.next(); ok; word, ok = w.next() {
		if _, seen := c.at[string(word)]; seen {
			continue
		}
		meaning := make([]float32, table.dimensions)
		parts := table.appendParts(nil, word)
		for _, p := range parts {
			table.addRow(meaning, p.row, p.weight)
		}
		length := math.Sqrt(cosine(meaning, meaning))
		if !normalise(meaning) {
			continue // the table has none of it
		}
		c.at[string(word)] = len(c.asked)
		if len(parts) == 1 {
			c.rows[parts[0].row] = len(c.asked)
		}
		c.asked, c.weights = append(c.asked, meaning), append(c.weights, length)
		total += length
	}
	for i := range c.weights {
		c.weights[i] /= total
	}
	c.largest, c.has = make([]float32, len(c.asked)), make([]bool, len(c.asked))
	return c
}

// literal returns the share of the question's words that a text has itself, or as the part of
// a word that the table does not have as a whole.
func (c *wordComparison) literal(text string) (share float64) {
	clear(c.has)
	note := func(i int, asked bool) {
		if asked && !c.has[i] {
			c.has[i] = true
			share += c.weights[i]
		}
	}
	var buffer [8]part
	w := words{text: text}
	for word, ok := w.next(); ok; word, ok = w.next() {
		i, asked := c.at[string(word)]
		note(i, asked)
		for _, p := range c.table.appendParts(buffer[:0], word) {
			i, asked := c.rows[p.row]
			note(i, asked)
		}
	}
	return share
}

// compare returns how near a text is.
func (c *wordComparison) compare(text string) (near float64) {
	clear(c.largest)
	w := words{text: text}
	for word, ok := w.next(); ok; word, ok = w.next() {
		for i, cosine := range c.cosines(word) {
			c.largest[i] = max(c.largest[i], cosine)
		}
	}
	for i, weight := range c.weights {
		near += weight * float64(c.largest[i])
	}
	return near
}

// cosines returns the cosines of a word with the question's words. A word that the table has
// in parts is as near as the whole or the nearest part.
func (c *wordComparison) cosines(word []byte) []float32 {
	if known, ok := c.read[string(word)]; ok {
		return known
	}
	var buffer [8]part
	parts := c.table.appendParts(buffer[:0], word)
	cosines := make([]float32, len(c.asked))
	c.raise(cosines, parts)
	if len(parts) > 1 {
		for i := range parts {
			c.raise(cosines, parts[i:i+1])
		}
	}
	c.read[string(word)] = cosines
	return cosines
}

// raise raises cosines to those of the sum of some parts, where these are larger.
func (c *wordComparison) raise(cosines []float32, parts []part) {
	clear(c.sum)
	for _, p := range parts {
		c.table.addRow(c.sum, p.row, p.weight)
	}
	if !normalise(c.sum) {
		return
	}
	for i, asked := range c.asked {
		cosines[i] = max(cosines[i], product(asked, c.sum))
	}
}

// product returns the product of two vectors whose length is a multiple of four.
func product(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32 // independent sums, which a processor adds side by side
	for i := 0; i+3 < len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	return s0 + s1 + s2 + s3
}
