package embedded

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// A sketch is a vector of length 1 in one bit a dimension: the signs of its
// components after a random rotation, which makes them alike in size. The cosine
// with another vector is estimated from the signs and from the sum of the sizes,
// without a bias (RaBitQ, https://arxiv.org/abs/2405.12497). The comparison of two
// sketches takes some ten instructions for 64 dimensions.

// queryPlanes is the number of bits in which the components of a query's vector
// are compared with sketches. The error of 4 bits is a sixth of the error of the signs.
const queryPlanes = 4

// rotation is a random rotation of vectors of one dimension, the same in each
// process. Its results have a multiple of 64 components.
type rotation struct {
	dimension, padded int
	block             int         // the largest power of 2 that padded holds
	flips             [][]float32 // 1 or -1 for each component, in each round
}

const rotationRounds = 4

func newRotation(dimension int) *rotation {
	r := &rotation{dimension: dimension, padded: (dimension + 63) / 64 * 64}
	r.block = 1 << (bits.Len(uint(r.padded)) - 1)         //nolint:gosec // a dimension
	source := rand.New(rand.NewPCG(uint64(dimension), 1)) //nolint:gosec // the sketches of a file need the same again
	for range rotationRounds {
		flips := make([]float32, r.padded)
		for i := range flips {
			flips[i] = float32(1 - 2*source.IntN(2))
		}
		r.flips = append(r.flips, flips)
	}
	return r
}

// words returns the number of words of a sketch.
func (r *rotation) words() int { return r.padded / 64 }

// apply returns the rotated vector: rounds of random signs and a Hadamard
// transform, of the first components and of the last ones in turns.
func (r *rotation) apply(vector []float32) []float32 {
	rotated := make([]float32, r.padded)
	copy(rotated, vector)
	for round, flips := range r.flips {
		for i, f := range flips {
			rotated[i] *= f
		}
		first := round % 2 * (r.padded - r.block)
		hadamard(rotated[first : first+r.block])
	}
	return rotated
}

func hadamard(v []float32) {
	for half := 1; half < len(v); half *= 2 {
		for i := 0; i < len(v); i += 2 * half {
			a, b := v[i:i+half], v[i+half:i+2*half]
			for j := range a {
				a[j], b[j] = a[j]+b[j], a[j]-b[j]
			}
		}
	}
	scale := float32(1 / math.Sqrt(float64(len(v))))
	for i := range v {
		v[i] *= scale
	}
}

// sketch appends the signs of the vector to code, and returns the factor of its
// estimates.
func (r *rotation) sketch(code []uint64, vector []float32) ([]uint64, float32) {
	rotated := r.apply(vector)
	var sum float32
	for at := 0; at < len(rotated); at += 64 {
		var word uint64
		for i, f := range rotated[at : at+64] {
			if f > 0 {
				word |= 1 << i
				sum += f
			} else {
				sum -= f
			}
		}
		code = append(code, word)
	}
	return code, 1 / sum
}

// sketchQuery is the rotated vector of a query, with its components in
// queryPlanes bits: plane j has their bits j.
type sketchQuery struct {
	planes    []uint64 // of the first 64 components, of the next 64, …
	low, step float32
	sum       float32
	deviation float64 // of an estimate
}

func (r *rotation) query(vector []float32) *sketchQuery {
	rotated := r.apply(vector)
	q := &sketchQuery{planes: make([]uint64, queryPlanes*r.words())}
	low, high := rotated[0], rotated[0]
	for _, f := range rotated {
		low, high, q.sum = min(low, f), max(high, f), q.sum+f
	}
	const levels = 1<<queryPlanes - 1
	q.low, q.step = low, max((high-low)/levels, 1e-9)
	for i, f := range rotated {
		level := uint64((f-low)/q.step + .5)
		for plane := range queryPlanes {
			q.planes[i/64*queryPlanes+plane] |= level >> plane & 1 << (i % 64)
		}
	}
	// The signs have √(2/π) = .8 of the length of a rotated vector: the rest is
	// the error, in one of padded directions.
	q.deviation = math.Sqrt((math.Pi/2 - 1) / float64(r.padded-1))
	return q
}

// sketchOf returns the sketch of a vector as its bytes in the file: little-endian
// words of signs, then the factor as a float32.
func (r *rotation) sketchOf(vector []float32) []byte {
	code, factor := r.sketch(make([]uint64, 0, r.words()), vector)
	b := make([]byte, 0, 8*len(code)+4)
	for _, word := range code {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(factor))
}

// vectorBytes returns a vector as its bytes in the file.
func vectorBytes(vector []float32) []byte {
	b := make([]byte, 0, 4*len(vector))
	for _, f := range vector {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// cosine returns the cosine of a vector with one as its bytes in the file, both of
// length 1.
func cosine(vector []float32, b []byte) float64 {
	var even, odd float64
	for i := 0; i+1 < len(vector); i += 2 {
		pair := b[4*i : 4*i+8]
		even += float64(vector[i]) * float64(math.Float32frombits(binary.LittleEndian.Uint32(pair)))
		odd += float64(vector[i+1]) * float64(math.Float32frombits(binary.LittleEndian.Uint32(pair[4:])))
	}
	if last := len(vector) - 1; len(vector)%2 == 1 {
		even += float64(vector[last]) * float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*last:])))
	}
	return even + odd
}

// estimate returns the estimated cosine of the query with a sketch.
func (q *sketchQuery) estimate(code []uint64, factor float32) float32 {
	ones, weighted := 0, 0
	for i, word := range code {
		p := q.planes[i*queryPlanes : i*queryPlanes+queryPlanes : i*queryPlanes+queryPlanes]
		ones += bits.OnesCount64(word)
		weighted += bits.OnesCount64(word&p[0]) + bits.OnesCount64(word&p[1])<<1 +
			bits.OnesCount64(word&p[2])<<2 + bits.OnesCount64(word&p[3])<<3
	}
	return factor * (2*(q.low*float32(ones)+q.step*float32(weighted)) - q.sum)
}
