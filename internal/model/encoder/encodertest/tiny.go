// Package encodertest makes tiny models with random weights, in the file format of package encoder.
package encodertest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// The sizes of a tiny model.
const (
	Width, Heads, Hidden, Layers, Positions = 64, 2, 96, 2, 40

	Epsilon = 1e-5
	block   = 32
)

// Tiny is a model. Its numbers are the ones that its file has, with what the four bits lose lost.
type Tiny struct {
	Pieces  []string
	Scores  []float32
	Numbers map[string][]float32 // by the names of the tensors, row by row

	names   []string
	encoded map[string][]byte
}

// New returns the tiny model of a seed. Its vocabulary has the letters, some syllables, and words.
func New(seed uint64) *Tiny {
	t := &Tiny{Numbers: map[string][]float32{}, encoded: map[string][]byte{}}
	r := rand.New(rand.NewPCG(seed, 0))
	t.addPieces()
	t.addMatrix(r, "emb.word", len(t.Pieces), Width, 1)
	t.addNumbers("emb.pos", Positions*Width, func() float32 { return float32(r.NormFloat64()) / 8 })
	t.addNumbers("emb.type", Width, func() float32 { return float32(r.NormFloat64()) / 8 })
	t.addNorm(r, "emb.ln")
	for i := range Layers {
		for _, of := range []struct {
			name          string
			rows, columns int
		}{{"q", Width, Width}, {"k", Width, Width}, {"v", Width, Width}, {"ao", Width, Width}, {"fi", Hidden, Width}, {"fo", Width, Hidden}} {
			name := fmt.Sprintf("l%d.%s", i, of.name)
			t.addMatrix(r, name+".w", of.rows, of.columns, 1/math.Sqrt(float64(of.columns)))
			t.addNumbers(name+".b", of.rows, func() float32 { return float32(r.NormFloat64()) / 10 })
		}
		t.addNorm(r, fmt.Sprintf("l%d.aln", i))
		t.addNorm(r, fmt.Sprintf("l%d.oln", i))
	}
	return t
}

func (t *Tiny) addPieces() {
	add := func(score float32, pieces ...string) {
		for _, p := range pieces {
			t.Pieces, t.Scores = append(t.Pieces, p), append(t.Scores, score)
		}
	}
	add(0, "<s>", "<pad>", "</s>", "<unk>")
	add(-3, "▁")
	for c := 'a'; c <= 'z'; c++ {
		add(-8-float32(c%7)/4, string(c))
	}
	add(-6, "ing", "er", "en", "on", "é", "fi", "1", "2", "3", ".", ",", ":")
	add(-5, "▁the", "▁of", "▁query", "▁passage", "▁holiday", "▁vacation", "▁report", "▁weather")
}

func (t *Tiny) add(name string, data []byte, numbers []float32) {
	t.names = append(t.names, name)
	t.encoded[name], t.Numbers[name] = data, numbers
}

func (t *Tiny) addNumbers(name string, n int, number func() float32) {
	numbers := make([]float32, n)
	for i := range numbers {
		numbers[i] = number()
	}
	data, _ := binary.Append(nil, binary.LittleEndian, numbers) // numbers have a size
	t.add(name, data, numbers)
}

func (t *Tiny) addNorm(r *rand.Rand, name string) {
	t.addNumbers(name+".w", Width, func() float32 { return 1 + float32(r.NormFloat64())/10 })
	t.addNumbers(name+".b", Width, func() float32 { return float32(r.NormFloat64()) / 10 })
}

// addMatrix adds random weights of four bits, whose blocks have scales that are powers of two.
func (t *Tiny) addMatrix(r *rand.Rand, name string, rows, columns int, size float64) {
	var data []byte
	numbers := make([]float32, rows*columns)
	for at := 0; at < len(numbers); at += block {
		exponent := int(math.Round(math.Log2(size/4))) - r.IntN(2)
		data = binary.LittleEndian.AppendUint16(data, uint16(exponent+15)<<10)
		var packed [block / 2]byte
		for j := range block {
			w := r.IntN(16)
			packed[j%(block/2)] |= byte(w) << (4 * (j / (block / 2)))
			numbers[at+j] = float32(math.Ldexp(float64(w-8), exponent))
		}
		data = append(data, packed[:]...)
	}
	t.add(name, data, numbers)
}

// File returns the file of the model.
func (t *Tiny) File() []byte {
	var b bytes.Buffer
	write := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
		}
	}
	write([]byte("E5S1"), uint32(1), []int32{Width, Layers, Heads, Hidden, int32(len(t.Pieces)), Positions, 1}, float32(Epsilon), int32(block))
	var offsets []uint32
	var blob []byte
	for _, p := range t.Pieces {
		offsets = append(offsets, uint32(len(blob)))
		blob = append(blob, p...)
	}
	write([]int32{int32(len(t.Pieces)), 0, 2, 1, 3}, uint64(len(blob)), offsets, uint32(len(blob)), t.Scores, blob)
	write(int32(1), uint32(9), '\n', uint8(1), ' ') // a line end becomes a space
	directory := 0
	for _, name := range t.names {
		directory += 2 + len(name) + 1 + 4 + 16
	}
	at := uint64(b.Len() + 4 + directory)
	write(int32(len(t.names)))
	for _, name := range t.names {
		data := t.encoded[name]
		write(uint16(len(name)), []byte(name), uint8(0), uint32(len(t.Numbers[name])), at, uint64(len(data)))
		at += uint64(len(data))
	}
	for _, name := range t.names {
		write(t.encoded[name])
	}
	return b.Bytes()
}
