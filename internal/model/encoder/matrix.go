package encoder

import (
	"encoding/binary"
	"math"
)

const (
	// lanes is how many numbers of 32 bits a vector instruction takes.
	lanes = 8
	// group is how many rows of a matrix are multiplied together.
	group = 4 * lanes
	// quads is how many fours of weights a block has.
	quads = block / 4
)

// matrix is a matrix of weights of four bits, each in a byte of its own.
type matrix struct {
	rows, columns int
	// weights has for each group of rows, block of columns, number q below 8, and row of the group the
	// weights of the columns q, q+8, q+16 and q+24 of the block, from 0 to 15.
	weights []uint8
	// scales has for each group of rows, block of columns, and row of the group the scale.
	scales []float32
}

// newMatrix reads rows of blocks as a file of weights has them. rows and columns are multiples of 32.
func newMatrix(data []byte, rows, columns int) matrix {
	m := matrix{rows: rows, columns: columns, weights: make([]uint8, rows*columns), scales: make([]float32, rows*columns/block)}
	blocks := columns / block
	for i := range rows * blocks {
		row, b := i/blocks, i%blocks
		from := data[i*blockBytes:][:blockBytes]
		at := (row/group*blocks + b) * group
		m.scales[at+row%group] = float16(binary.LittleEndian.Uint16(from))
		for j, pair := range from[2:] {
			m.weights[m.place(at, row, j)] = pair & 15
			m.weights[m.place(at, row, j+block/2)] = pair >> 4
		}
	}
	return m
}

// place returns where the weight of a column of the block is whose scales begin at the index at.
func (m matrix) place(at, row, column int) int {
	return at*block + column%quads*(4*group) + row%group*4 + column/quads
}

// inputs are rows of numbers, each rounded to eight bits.
type inputs struct {
	columns int
	// values has for each row, block of columns, and number q below 8 the rounded numbers of the columns
	// q, q+8, q+16 and q+24 of the block, the first in the lowest byte.
	values []int32
	// scales and sums are those of each block of 32 numbers. A sum is eight times the sum of the
	// rounded numbers: the weights are stored with 8 added.
	scales []float32
	sums   []int32
}

// resize makes room for rows of so many columns.
func (in *inputs) resize(rows, columns int) {
	in.columns = columns
	in.values = resize(in.values, rows*columns/4)
	in.scales = resize(in.scales, rows*columns/block)
	in.sums = resize(in.sums, rows*columns/block)
}

// resize returns a slice of n elements, the same one if it has room. Its elements have any value.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// roundBlock rounds 32 numbers to eight bits.
func roundBlock(x []float32, values []int32) (scale float32, sum int32) {
	var most float32
	for _, v := range x {
		most = max(most, v, -v)
	}
	if most == 0 {
		clear(values)
		return 0, 0
	}
	scale = most / 127
	factor := 127 / most
	for i := range values {
		var packed int32
		for j := range 4 {
			v := int32(math.RoundToEven(float64(x[i+quads*j] * factor)))
			sum += v
			packed |= v & 0xff << (8 * j)
		}
		values[i] = packed
	}
	return scale, 8 * sum
}

// multiplyPortable sets out to bias + m · in for a group of rows of the matrix and a row of inputs.
func multiplyPortable(m *matrix, g int, in *inputs, row int, out []float32) {
	blocks := m.columns / block
	for b := range blocks {
		at := (g*blocks + b) * group
		var sums [group]int32
		values := in.values[(row*blocks+b)*quads:][:quads]
		for q, v := range values {
			weights := m.weights[at*block+q*4*group:][:4*group]
			v0, v1, v2, v3 := int32(int8(v)), int32(int8(v>>8)), int32(int8(v>>16)), v>>24
			for r := range sums {
				w := weights[4*r:][:4]
				sums[r] += int32(w[0])*v0 + int32(w[1])*v1 + int32(w[2])*v2 + int32(w[3])*v3
			}
		}
		scale, less := in.scales[row*blocks+b], in.sums[row*blocks+b]
		for r, scaleOfRow := range m.scales[at:][:group] {
			out[r] += float32(sums[r]-less) * (scaleOfRow * scale)
		}
	}
}
