//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package encoder

import (
	"simd/archsimd"
	"unsafe"
)

// vectors reports whether this processor has the vector instructions that this build uses.
func vectors() bool { return archsimd.X86.AVX2() && archsimd.X86.FMA() }

// multiplyVector does what multiplyPortable does.
func multiplyVector(m *matrix, g int, in *inputs, row int, out []float32) {
	blocks := m.columns / block
	ones := archsimd.BroadcastInt16x16(1)
	o := (*[group]float32)(out)
	f0, f1 := archsimd.LoadFloat32x8Slice(o[0:8]), archsimd.LoadFloat32x8Slice(o[8:16])
	f2, f3 := archsimd.LoadFloat32x8Slice(o[16:24]), archsimd.LoadFloat32x8Slice(o[24:32])
	weights := m.weights[g*blocks*block*group:][:blocks*block*group]
	scales := m.scales[g*blocks*group:][:blocks*group]
	values := in.values[row*blocks*quads:][:blocks*quads]
	inScales, inSums := in.scales[row*blocks:][:blocks], in.sums[row*blocks:][:blocks]
	for b := range blocks {
		w := (*[block * group]uint8)(weights[b*block*group:])
		v := (*[quads]int32)(values[b*quads:])
		var a0, a1, a2, a3 archsimd.Int16x16
		for q := range quads {
			x := archsimd.BroadcastInt32x8(v[q]).AsInt8x32()
			p := (*[4][32]uint8)(unsafe.Pointer(&w[q*4*group]))
			a0 = a0.Add(archsimd.LoadUint8x32(&p[0]).DotProductPairsSaturated(x))
			a1 = a1.Add(archsimd.LoadUint8x32(&p[1]).DotProductPairsSaturated(x))
			a2 = a2.Add(archsimd.LoadUint8x32(&p[2]).DotProductPairsSaturated(x))
			a3 = a3.Add(archsimd.LoadUint8x32(&p[3]).DotProductPairsSaturated(x))
		}
		s := (*[4][8]float32)(unsafe.Pointer(&scales[b*group]))
		less, scale := archsimd.BroadcastInt32x8(inSums[b]), archsimd.BroadcastFloat32x8(inScales[b])
		f0 = a0.DotProductPairs(ones).Sub(less).ConvertToFloat32().MulAdd(archsimd.LoadFloat32x8(&s[0]).Mul(scale), f0)
		f1 = a1.DotProductPairs(ones).Sub(less).ConvertToFloat32().MulAdd(archsimd.LoadFloat32x8(&s[1]).Mul(scale), f1)
		f2 = a2.DotProductPairs(ones).Sub(less).ConvertToFloat32().MulAdd(archsimd.LoadFloat32x8(&s[2]).Mul(scale), f2)
		f3 = a3.DotProductPairs(ones).Sub(less).ConvertToFloat32().MulAdd(archsimd.LoadFloat32x8(&s[3]).Mul(scale), f3)
	}
	f0.StoreSlice(o[0:8])
	f1.StoreSlice(o[8:16])
	f2.StoreSlice(o[16:24])
	f3.StoreSlice(o[24:32])
}

// roundBlockVector does what roundBlock does.
func roundBlockVector(x []float32, values []int32) (scale float32, sum int32) {
	in := (*[4][lanes]float32)(unsafe.Pointer((*[block]float32)(x)))
	v0, v1, v2, v3 := archsimd.LoadFloat32x8(&in[0]), archsimd.LoadFloat32x8(&in[1]), archsimd.LoadFloat32x8(&in[2]), archsimd.LoadFloat32x8(&in[3])
	high, low := v0.Max(v1).Max(v2.Max(v3)), v0.Min(v1).Min(v2.Min(v3))
	largest := largestOf(high.Max(archsimd.Float32x8{}.Sub(low)))
	if largest == 0 {
		clear(values)
		return 0, 0
	}
	factor := archsimd.BroadcastFloat32x8(127 / largest)
	i0, i1 := v0.Mul(factor).RoundToEven().ConvertToInt32(), v1.Mul(factor).RoundToEven().ConvertToInt32()
	i2, i3 := v2.Mul(factor).RoundToEven().ConvertToInt32(), v3.Mul(factor).RoundToEven().ConvertToInt32()
	low8 := archsimd.BroadcastInt32x8(0xff)
	packed := i0.And(low8).Or(i1.And(low8).ShiftAllLeft(8)).Or(i2.And(low8).ShiftAllLeft(16).Or(i3.ShiftAllLeft(24)))
	packed.Store((*[quads]int32)(values))
	sums := i0.Add(i1).Add(i2.Add(i3))
	var four [4]int32
	sums.GetLo().Add(sums.GetHi()).Store(&four)
	return largest / 127, 8 * (four[0] + four[1] + four[2] + four[3])
}

// largestOf returns the largest of eight numbers.
func largestOf(v archsimd.Float32x8) float32 {
	var four [4]float32
	v.GetLo().Max(v.GetHi()).Store(&four)
	return max(four[0], four[1], four[2], four[3])
}

// exp returns e to the power of numbers that are at most 0, with a relative error of some 2e-7
// (Cephes, expf).
func exp(x archsimd.Float32x8) archsimd.Float32x8 {
	x = x.Max(archsimd.BroadcastFloat32x8(-87))
	n := x.Mul(archsimd.BroadcastFloat32x8(1.44269504088896341)).RoundToEven()
	r := n.MulAdd(archsimd.BroadcastFloat32x8(-0.693359375), x)
	r = n.MulAdd(archsimd.BroadcastFloat32x8(2.12194440e-4), r)
	y := archsimd.BroadcastFloat32x8(1.9875691500e-4)
	y = y.MulAdd(r, archsimd.BroadcastFloat32x8(1.3981999507e-3))
	y = y.MulAdd(r, archsimd.BroadcastFloat32x8(8.3334519073e-3))
	y = y.MulAdd(r, archsimd.BroadcastFloat32x8(4.1665795894e-2))
	y = y.MulAdd(r, archsimd.BroadcastFloat32x8(1.6666665459e-1))
	y = y.MulAdd(r, archsimd.BroadcastFloat32x8(5.0000001201e-1))
	one := archsimd.BroadcastFloat32x8(1)
	y = y.MulAdd(r.Mul(r), r).Add(one)
	power := n.ConvertToInt32().Add(archsimd.BroadcastInt32x8(127)).ShiftAllLeft(23)
	return y.Mul(power.AsFloat32x8())
}

// activateVector applies GELU, with the error function as Abramowitz and Stegun approximate it
// (7.1.26, error 1.5e-7). The length of x is a multiple of 8.
func activateVector(x []float32) {
	zero, one, half := archsimd.BroadcastFloat32x8(0), archsimd.BroadcastFloat32x8(1), archsimd.BroadcastFloat32x8(0.5)
	for ; len(x) >= lanes; x = x[lanes:] {
		v := archsimd.LoadFloat32x8Slice(x)
		z := v.Max(zero.Sub(v)).Mul(archsimd.BroadcastFloat32x8(0.70710678118654752))
		t := one.Div(z.MulAdd(archsimd.BroadcastFloat32x8(0.3275911), one))
		p := archsimd.BroadcastFloat32x8(1.061405429)
		p = p.MulAdd(t, archsimd.BroadcastFloat32x8(-1.453152027))
		p = p.MulAdd(t, archsimd.BroadcastFloat32x8(1.421413741))
		p = p.MulAdd(t, archsimd.BroadcastFloat32x8(-0.284496736))
		p = p.MulAdd(t, archsimd.BroadcastFloat32x8(0.254829592))
		tail := p.Mul(t).Mul(exp(zero.Sub(z.Mul(z)))) // 1 - erf(|v|/√2)
		// v·Φ(v) is max(v, 0) - |v|·tail/2 for both signs.
		v.Max(zero).Sub(v.Max(zero.Sub(v)).Mul(tail).Mul(half)).StoreSlice(x)
	}
}

// attendVector does what attendPortable does.
func attendVector(query, turned, scores []float32, rows int, values []float32, width int, mixed []float32) {
	scoreVector(query, turned, scores)
	var largest float32 = -1e30
	for _, v := range scores[:rows] {
		largest = max(largest, v)
	}
	less := archsimd.BroadcastFloat32x8(largest)
	for j := 0; j < len(scores); j += lanes {
		at := (*[lanes]float32)(scores[j:])
		exp(archsimd.LoadFloat32x8(at).Sub(less).Min(archsimd.Float32x8{})).Store(at)
	}
	var sum float32
	for _, v := range scores[:rows] {
		sum += v
	}
	for i := 0; i < len(mixed); i += block {
		mixVector(scores[:rows], values[i:], width, 1/sum, mixed[i:])
	}
}

// scoreVector sets the scores, of which there are a multiple of 32, to the products of the query and
// the keys.
func scoreVector(query, turned, scores []float32) {
	for j := 0; j < len(scores); j += block {
		var s0, s1, s2, s3 archsimd.Float32x8
		for i, v := range query {
			q := archsimd.BroadcastFloat32x8(v)
			k := (*[4][lanes]float32)(unsafe.Pointer((*[block]float32)(turned[i*len(scores)+j:])))
			s0, s1 = q.MulAdd(archsimd.LoadFloat32x8(&k[0]), s0), q.MulAdd(archsimd.LoadFloat32x8(&k[1]), s1)
			s2, s3 = q.MulAdd(archsimd.LoadFloat32x8(&k[2]), s2), q.MulAdd(archsimd.LoadFloat32x8(&k[3]), s3)
		}
		to := (*[4][lanes]float32)(unsafe.Pointer((*[block]float32)(scores[j:])))
		s0.Store(&to[0])
		s1.Store(&to[1])
		s2.Store(&to[2])
		s3.Store(&to[3])
	}
}

// mixVector adds to 32 numbers of mixed the sum of the values weighted by the shares and by factor.
func mixVector(shares, values []float32, width int, factor float32, mixed []float32) {
	var m0, m1, m2, m3 archsimd.Float32x8
	for j, v := range shares {
		share := archsimd.BroadcastFloat32x8(v)
		k := (*[4][lanes]float32)(unsafe.Pointer((*[block]float32)(values[j*width:])))
		m0, m1 = share.MulAdd(archsimd.LoadFloat32x8(&k[0]), m0), share.MulAdd(archsimd.LoadFloat32x8(&k[1]), m1)
		m2, m3 = share.MulAdd(archsimd.LoadFloat32x8(&k[2]), m2), share.MulAdd(archsimd.LoadFloat32x8(&k[3]), m3)
	}
	f := archsimd.BroadcastFloat32x8(factor)
	to := (*[4][lanes]float32)(unsafe.Pointer((*[block]float32)(mixed)))
	f.MulAdd(m0, archsimd.LoadFloat32x8(&to[0])).Store(&to[0])
	f.MulAdd(m1, archsimd.LoadFloat32x8(&to[1])).Store(&to[1])
	f.MulAdd(m2, archsimd.LoadFloat32x8(&to[2])).Store(&to[2])
	f.MulAdd(m3, archsimd.LoadFloat32x8(&to[3])).Store(&to[3])
}
