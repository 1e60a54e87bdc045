package evaluate

import (
	"fmt"
	"math"
	"slices"
)

// Agreement is how well a judge agrees with people on the same answers.
type Agreement struct {
	N        int      `json:"n"`
	Kappa    Estimate `json:"kappa"`    // Cohen's, with quadratic weights
	Raw      float64  `json:"raw"`      // share of equal grades
	Guessing float64  `json:"guessing"` // the same for a judge that always says the people's most frequent grade
	Bias     Estimate `json:"bias"`     // mean of judge minus person, in stored scores
	Warnings []string `json:"warnings,omitempty"`
	MayGate  bool     `json:"may_gate"` // whether its scores can decide; Against says why not
	Against  []string `json:"against,omitempty"`
}

// Pair is a judge's and a person's stored score of the same answer.
type Pair struct{ Judge, Person float64 }

const (
	grades     = 3   // 0, 1 and 2
	leastKappa = 0.4 // agreement below which a judge's scores are not to be relied on
)

// confusion counts the answers by the judge's grade and the person's.
type confusion [grades][grades]float64

// Agree returns the agreement of a judge with people. Kappa is 0 if it is not defined, with a
// warning.
func Agree(pairs []Pair) Agreement {
	a := Agreement{N: len(pairs)}
	if len(pairs) == 0 {
		a.Against = a.reasons(false)
		a.Warnings = a.Against
		return a
	}
	pairs = slices.Clone(pairs)
	slices.SortFunc(pairs, func(x, y Pair) int { // the resamples depend on the order
		return grades*(Grade(x.Judge)-Grade(y.Judge)) + Grade(x.Person) - Grade(y.Person)
	})
	var all confusion
	bias := make([]float64, len(pairs))
	for i, p := range pairs {
		all[Grade(p.Judge)][Grade(p.Person)]++
		bias[i] = p.Judge - p.Person
	}
	a.Raw, a.Guessing = all.raw(), all.guessing()
	a.Bias = interval(bias)
	kappa, defined := all.kappa()
	a.Kappa = Estimate{Mean: kappa, N: len(pairs)}
	a.Kappa.Low, a.Kappa.High = percentiles(bootstrap(len(pairs), func(chosen []int) float64 {
		var c confusion
		for _, i := range chosen {
			c[Grade(pairs[i].Judge)][Grade(pairs[i].Person)]++
		}
		k, _ := c.kappa()
		return k
	}))
	a.warn(defined)
	a.Against = a.reasons(defined)
	a.MayGate = len(a.Against) == 0
	return a
}

func (a *Agreement) warn(defined bool) {
	add := func(format string, values ...any) { a.Warnings = append(a.Warnings, fmt.Sprintf(format, values...)) }
	switch {
	case !defined:
		add("kappa is not defined, because judge and people gave all answers one grade: score answers of other quality too")
	case a.Kappa.Mean < leastKappa:
		add("kappa is %.2f, below %.1f: the judge does not see what people see", a.Kappa.Mean, leastKappa)
	case a.Kappa.Low < leastKappa:
		add("kappa may be below %.1f (%.2f to %.2f): score more answers", leastKappa, a.Kappa.Low, a.Kappa.High)
	}
	if defined && a.Raw <= a.Guessing {
		add("the judge agrees with people in %.0f %% of answers, no more than one that always says the most frequent grade (%.0f %%)", 100*a.Raw, 100*a.Guessing)
	}
	if a.Bias.Low > 0 {
		add("the judge scores higher than people, by %.2f on average", a.Bias.Mean)
	}
	if a.Bias.High < 0 {
		add("the judge scores lower than people, by %.2f on average", -a.Bias.Mean)
	}
	if a.N < LeastCalibrated {
		add("few answers were scored (%d): score at least %d", a.N, LeastCalibrated)
	}
}

// kappa returns Cohen's kappa with quadratic weights, and 0 and false if chance alone would agree
// fully.
func (c confusion) kappa() (float64, bool) {
	var judge, person [grades]float64
	n, observed := 0.0, 0.0
	for i := range c {
		for j := range c[i] {
			judge[i], person[j], n = judge[i]+c[i][j], person[j]+c[i][j], n+c[i][j]
			observed += float64((i-j)*(i-j)) * c[i][j]
		}
	}
	expected := 0.0
	for i := range judge {
		for j := range person {
			expected += float64((i-j)*(i-j)) * judge[i] * person[j] / max(n, 1)
		}
	}
	if expected == 0 {
		return 0, false
	}
	return 1 - observed/expected, true
}

func (c confusion) raw() float64 {
	equal, n := 0.0, 0.0
	for i := range c {
		for j := range c[i] {
			n += c[i][j]
		}
		equal += c[i][i]
	}
	return equal / max(n, 1)
}

func (c confusion) guessing() float64 {
	most, n := 0.0, 0.0
	for j := range grades {
		person := 0.0
		for i := range c {
			person += c[i][j]
		}
		most, n = math.Max(most, person), n+person
	}
	return most / max(n, 1)
}

// Consistency is how often a judge contradicts itself on the same input.
type Consistency struct {
	Inputs  int     `json:"inputs"`
	Asked   int     `json:"asked"`   // the most times that one was asked for
	Flipped int     `json:"flipped"` // inputs that got different grades
	Share   float64 `json:"share"`   // of the inputs
	MayGate bool    `json:"may_gate"`
}

// MaxFlipped is the share of inputs above which a judge cannot gate.
const MaxFlipped = 0.1

// Consistent returns the consistency of a judge: grades has, for each input, the grades of its
// repeated judgements. Inputs with fewer than two grades do not count. A judge without any input
// that counts may not gate.
func Consistent(grades [][]int) Consistency {
	var c Consistency
	for _, given := range grades {
		if len(given) < 2 {
			continue
		}
		c.Inputs++
		c.Asked = max(c.Asked, len(given))
		if slices.Min(given) != slices.Max(given) {
			c.Flipped++
		}
	}
	if c.Inputs > 0 {
		c.Share = float64(c.Flipped) / float64(c.Inputs)
		c.MayGate = c.Share <= MaxFlipped
	}
	return c
}

// Reason says how often the judge contradicts itself.
func (c Consistency) Reason() string {
	if c.Inputs == 0 {
		return "no input was judged twice, so it is not known whether the judge contradicts itself"
	}
	limit := "more than"
	if c.MayGate {
		limit = "no more than"
	}
	return fmt.Sprintf("the judge gave %d of %d inputs different grades when asked up to %d times, %s %.0f %%", c.Flipped, c.Inputs, c.Asked, limit, 100*MaxFlipped)
}
