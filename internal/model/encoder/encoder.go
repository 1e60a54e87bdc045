package encoder

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
)

// Model is an encoder with its weights. It is safe for concurrent use.
type Model struct {
	file   io.ReaderAt // has the vectors of the words
	words  int64       // their offset
	shape  shape
	tokens *tokenizer

	positions, kind       []float32
	embedGain, embedShift []float32
	layers                []layer
	accelerated           bool
	turns                 chan *scratch // as many texts at a time as there are processors
	close                 func() error
}

// layer are the weights of one layer.
type layer struct {
	query, key, value, attended, hidden, output dense
	attendedGain, attendedShift                 []float32
	outputGain, outputShift                     []float32
}

// dense is a matrix with what is added to the product.
type dense struct {
	matrix

	bias []float32
}

// Open reads a file of weights. The file stays open until Close.
func Open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the weights: %w", err)
	}
	info, err := f.Stat()
	var m *Model
	if err == nil {
		m, err = readModel(f, info.Size())
	}
	if err != nil {
		_ = f.Close() // it was only read
		return nil, fmt.Errorf("read the weights %s: %w", path, err)
	}
	m.close = f.Close
	return m, nil
}

// Close closes the file of weights.
func (m *Model) Close() error { return m.close() }

// Dimensions returns the length of the vectors.
func (m *Model) Dimensions() int { return int(m.shape.Width) }

// Accelerated reports whether vector instructions are used.
func (m *Model) Accelerated() bool { return m.accelerated }

// load reads the tensors.
func (m *Model) load(t *tensorReader) {
	width, hidden := int(m.shape.Width), int(m.shape.Hidden)
	m.words = t.at("emb.word", int64(m.shape.Words)*int64(width/block*blockBytes))
	m.positions, m.kind = t.floats("emb.pos", int(m.shape.Positions)*width), t.floats("emb.type", width)
	m.embedGain, m.embedShift = t.floats("emb.ln.w", width), t.floats("emb.ln.b", width)
	for i := range m.shape.Layers {
		name := fmt.Sprintf("l%d.", i)
		read := func(part string, rows, columns int) dense {
			return dense{t.matrix(name+part+".w", rows, columns), t.floats(name+part+".b", rows)}
		}
		m.layers = append(m.layers, layer{
			query: read("q", width, width), key: read("k", width, width), value: read("v", width, width),
			attended: read("ao", width, width), hidden: read("fi", hidden, width), output: read("fo", width, hidden),
			attendedGain: t.floats(name+"aln.w", width), attendedShift: t.floats(name+"aln.b", width),
			outputGain: t.floats(name+"oln.w", width), outputShift: t.floats(name+"oln.b", width),
		})
		if t.err != nil {
			return
		}
	}
	m.accelerated = vectors()
	m.turns = make(chan *scratch, runtime.GOMAXPROCS(0))
	for range cap(m.turns) {
		m.turns <- &scratch{}
	}
}

// scratch is the memory for one text.
type scratch struct {
	x, query, key, value, mixed, hidden []float32
	in                                  inputs
	word                                []byte
	turned, scores                      []float32 // of one head
}

// Embed returns a vector of the length 1 for each text, in their order. A text of more pieces than the
// model has positions is cut into windows, and its vector is the mean of theirs.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	ended := make(chan error, len(texts))
	for i, text := range texts {
		select {
		case s := <-m.turns:
			go func() {
				var err error
				vectors[i], err = m.embed(s, text)
				m.turns <- s
				ended <- err
			}()
		case <-ctx.Done():
			ended <- context.Cause(ctx)
		}
	}
	var first error
	for range texts {
		if err := <-ended; err != nil && first == nil {
			first = err
		}
	}
	return vectors, first
}

func (m *Model) embed(s *scratch, text string) ([]float32, error) {
	ids := m.tokens.cut(text)
	most := int(m.shape.Positions) - 2
	sum := make([]float32, m.shape.Width)
	for first := true; first || len(ids) > 0; first = false {
		n := min(most, len(ids))
		window := append(append([]int32{m.tokens.begin}, ids[:n]...), m.tokens.end)
		if err := m.run(s, window); err != nil {
			return nil, err
		}
		share := float32(max(n, 1)) / float32(len(window))
		for i, v := range s.x {
			sum[i%len(sum)] += v * share
		}
		ids = ids[n:]
	}
	normalize(sum)
	return sum, nil
}

// normalize scales a vector to the length 1.
func normalize(v []float32) {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	factor := float32(1 / math.Sqrt(max(squares, 1e-12)))
	for i := range v {
		v[i] *= factor
	}
}

// run leaves in s.x the last layer's vector of each piece.
func (m *Model) run(s *scratch, ids []int32) error {
	if err := m.look(s, ids); err != nil {
		return err
	}
	rows := len(ids)
	for i := range m.layers {
		l := &m.layers[i]
		m.round(s, s.x, rows)
		s.query = m.multiply(s, &l.query, rows, s.query)
		s.key = m.multiply(s, &l.key, rows, s.key)
		s.value = m.multiply(s, &l.value, rows, s.value)
		m.attend(s, rows)
		m.round(s, s.mixed, rows)
		s.query = m.multiply(s, &l.attended, rows, s.query)
		m.addNormalized(s.x, s.query, l.attendedGain, l.attendedShift)
		m.round(s, s.x, rows)
		s.hidden = m.multiply(s, &l.hidden, rows, s.hidden)
		m.activate(s.hidden)
		m.round(s, s.hidden, rows)
		s.query = m.multiply(s, &l.output, rows, s.query)
		m.addNormalized(s.x, s.query, l.outputGain, l.outputShift)
	}
	return nil
}

// look fills s.x with the vectors of the pieces and their positions.
func (m *Model) look(s *scratch, ids []int32) error {
	width := int(m.shape.Width)
	s.x = resize(s.x, len(ids)*width)
	s.word = resize(s.word, width/block*blockBytes)
	for t, id := range ids {
		if _, err := m.file.ReadAt(s.word, m.words+int64(id)*int64(len(s.word))); err != nil {
			return fmt.Errorf("read the vector of a word: %w", err)
		}
		x := s.x[t*width:][:width]
		for i := range x {
			b := s.word[i/block*blockBytes:][:blockBytes]
			weight := b[2+i%(block/2)]
			if i%block >= block/2 {
				weight >>= 4
			}
			scale := float16(uint16(b[0]) | uint16(b[1])<<8)
			x[i] = scale*float32(int(weight&15)-8) + m.positions[t*width+i] + m.kind[i]
		}
	}
	m.addNormalized(s.x, nil, m.embedGain, m.embedShift)
	return nil
}

// round rounds rows for the next products.
func (m *Model) round(s *scratch, x []float32, rows int) {
	s.in.resize(rows, len(x)/rows)
	for i := range s.in.scales {
		if from, to := x[i*block:][:block], s.in.values[i*quads:][:quads]; m.accelerated {
			s.in.scales[i], s.in.sums[i] = roundBlockVector(from, to)
		} else {
			s.in.scales[i], s.in.sums[i] = roundBlock(from, to)
		}
	}
}

// multiply returns the products of the rounded rows with d, in out if it has room.
func (m *Model) multiply(s *scratch, d *dense, rows int, out []float32) []float32 {
	out = resize(out, rows*d.rows)
	for g := range d.rows / group {
		for row := range rows {
			to := out[row*d.rows+g*group:][:group]
			copy(to, d.bias[g*group:])
			if m.accelerated {
				multiplyVector(&d.matrix, g, &s.in, row, to)
			} else {
				multiplyPortable(&d.matrix, g, &s.in, row, to)
			}
		}
	}
	return out
}

// addNormalized sets each row of x to the normalized sum of it and the row of y, nil = 0.
func (m *Model) addNormalized(x, y, gain, shift []float32) {
	width := len(gain)
	for len(x) > 0 {
		row := x[:width]
		if y != nil {
			for i, v := range y[:width] {
				row[i] += v
			}
			y = y[width:]
		}
		var mean, variance float32
		for _, v := range row {
			mean += v
		}
		mean /= float32(width)
		for _, v := range row {
			variance += (v - mean) * (v - mean)
		}
		factor := float32(1 / math.Sqrt(float64(variance/float32(width)+m.shape.Epsilon)))
		for i, v := range row {
			row[i] = (v-mean)*factor*gain[i] + shift[i]
		}
		x = x[width:]
	}
}

// activate applies GELU.
func (m *Model) activate(x []float32) {
	if m.accelerated {
		activateVector(x)
		return
	}
	for i, v := range x {
		x[i] = float32(0.5 * float64(v) * (1 + math.Erf(float64(v)/math.Sqrt2)))
	}
}

// attend fills s.mixed: for each piece and head the sum of the values of all pieces, each weighted by
// how well its key fits the query.
func (m *Model) attend(s *scratch, rows int) {
	width, head := int(m.shape.Width), m.shape.headWidth()
	s.mixed = resize(s.mixed, rows*width)
	clear(s.mixed)
	padded := (rows + block - 1) / block * block
	s.turned, s.scores = resize(s.turned, head*padded), resize(s.scores, padded)
	clear(s.turned)
	scale := float32(1 / math.Sqrt(float64(head)))
	for from := 0; from < width; from += head {
		for row := range rows {
			for i, v := range s.key[row*width+from:][:head] {
				s.turned[i*padded+row] = v * scale
			}
		}
		for row := range rows {
			at := row*width + from
			query, mixed := s.query[at:at+head], s.mixed[at:at+head]
			if m.accelerated {
				attendVector(query, s.turned, s.scores, rows, s.value[from:], width, mixed)
			} else {
				attendPortable(query, s.turned, s.scores, rows, s.value[from:], width, mixed)
			}
		}
	}
}

// attendPortable adds to mixed the values, each of which begins width numbers behind the one before,
// weighted by the product of its key and the query. turned has the first number of all keys, then the
// second, and so on; scores is memory for a number of each key.
func attendPortable(query, turned, scores []float32, rows int, values []float32, width int, mixed []float32) {
	clear(scores)
	for i, q := range query {
		for j, k := range turned[i*len(scores):][:len(scores)] {
			scores[j] += q * k
		}
	}
	scores = scores[:rows]
	most := scores[0]
	for _, v := range scores {
		most = max(most, v)
	}
	var sum float32
	for j, v := range scores {
		scores[j] = float32(math.Exp(float64(v - most)))
		sum += scores[j]
	}
	for j, v := range scores {
		share := v / sum
		for i, value := range values[j*width:][:len(mixed)] {
			mixed[i] += share * value
		}
	}
}
