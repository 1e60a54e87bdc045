package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	resamples = 2000
	seed      = 0x6361_6972_6e // any number; the same data have the same interval
	tail      = 0.025          // of a 95 % interval, on each side
	manyItems = 1000           // from which on a mean is normally distributed, and a bootstrap takes seconds
	deviation = 1.959964       // of a normal distribution, outside of which are two tails
)

// interval returns the mean of values with the percentile interval of a bootstrap over them. It does
// not depend on their order. docs/evaluation-method.md compares it with another interval.
func interval(values []float64) Estimate {
	values = slices.Sorted(slices.Values(values))
	if len(values) >= manyItems {
		return normalInterval(values)
	}
	low, high := percentiles(bootstrap(len(values), func(chosen []int) float64 {
		sum := 0.0
		for _, i := range chosen {
			sum += values[i]
		}
		return sum / float64(len(chosen))
	}))
	return Estimate{Mean: mean(values), Low: low, High: high, N: len(values)}
}

// normalInterval returns the mean of values and its interval by the standard error.
func normalInterval(values []float64) Estimate {
	e := Estimate{Mean: mean(values), N: len(values)}
	squares := 0.0
	for _, x := range values {
		squares += (x - e.Mean) * (x - e.Mean)
	}
	half := deviation * math.Sqrt(squares/float64(len(values)-1)/float64(len(values)))
	e.Low, e.High = e.Mean-half, e.Mean+half
	return e
}

// bootstrap returns a statistic of resamples of n items, sorted. Each resample is n indexes.
func bootstrap(n int, statistic func(chosen []int) float64) []float64 {
	if n == 0 {
		return nil
	}
	source := rand.New(rand.NewPCG(seed, uint64(n)))
	chosen, found := make([]int, n), make([]float64, resamples)
	for r := range found {
		for i := range chosen {
			chosen[i] = int(source.Uint32N(uint32(n)))
		}
		found[r] = statistic(chosen)
	}
	slices.Sort(found)
	return found
}

// percentiles returns the ends of the interval of a sorted bootstrap, zeros for none.
func percentiles(sorted []float64) (low, high float64) {
	if len(sorted) == 0 {
		return 0, 0
	}
	return quantile(sorted, tail), quantile(sorted, 1-tail)
}

// quantile returns a quantile of sorted values, between two of them by their distance.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	below := int(math.Floor(at))
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

// mean returns the mean of values, 0 of none.
func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// widen widens the interval of a measure between 0 and greatest by what its items leave open: n items
// of which none is bad are also seen where a share of 1 - tail^(1/n) is. Without that, items of equal
// value would have an interval without a width.
func (e *Estimate) widen(greatest float64) {
	if e.N == 0 || math.IsInf(greatest, 0) {
		return
	}
	open := 1 - math.Pow(tail, 1/float64(e.N))
	e.Low = max(0, min(e.Low, e.Mean-open*e.Mean))
	e.High = min(greatest, max(e.High, e.Mean+open*(greatest-e.Mean)))
}
