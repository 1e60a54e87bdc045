package privacy_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
)

var update = flag.Bool("update", false, "write the golden files")

// counts are the values of an entity in texts and in findings.
type counts struct{ there, found, right int }

func (c counts) recall() float64    { return ratio(c.right, c.there) }
func (c counts) precision() float64 { return ratio(c.right, c.found) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// measure compares the findings of all texts with their values. A finding is right if its
// entity and both of its ends are.
func measure(samples []sample, wrong func(text, what string)) map[string]counts {
	finder := privacy.NewFinder(nil)
	all := map[string]counts{}
	count := func(entity string, more counts) {
		for _, name := range []string{entity, "all"} {
			c := all[name]
			all[name] = counts{c.there + more.there, c.found + more.found, c.right + more.right}
		}
	}
	for _, s := range samples {
		var got []value
		for _, f := range finder.Find(s.text) {
			v := value{f.Entity, f.Span}
			if got = append(got, v); slices.Contains(s.values, v) {
				count(v.entity, counts{found: 1, right: 1})
			} else {
				count(v.entity, counts{found: 1})
				wrong(s.text, fmt.Sprintf("%s is none: %q", v.entity, string([]rune(s.text)[v.Start:v.End])))
			}
		}
		for _, v := range s.values {
			if count(v.entity, counts{there: 1}); !slices.Contains(got, v) {
				wrong(s.text, fmt.Sprintf("%s is missed: %q", v.entity, string([]rune(s.text)[v.Start:v.End])))
			}
		}
	}
	return all
}

// goal returns the least recall and precision of an entity.
func goal(entity string) (recall, precision float64) {
	switch entity {
	case privacy.Email, privacy.Phone, privacy.IP, "UK_NINO", "US_SSN": // without a checksum
		return .95, .95
	}
	return .98, .97
}

// checkMeasured compares the figures of a set with its golden file.
func checkMeasured(t *testing.T, name string, samples []sample) map[string]counts {
	t.Helper()
	all := measure(samples, func(text, what string) { t.Logf("%s in %q", what, text) })
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %6s %6s %6s %7s %9s\n", "entity", "there", "found", "right", "recall", "precision")
	for _, entity := range append(knowledge.PIIEntities(), "all") {
		c := all[entity]
		fmt.Fprintf(&b, "%-26s %6d %6d %6d %7.3f %9.3f\n", entity, c.there, c.found, c.right, c.recall(), c.precision())
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the figures are\n%s\nwant those of %s; go test -update writes them", b.String(), path)
	}
	return all
}

func TestGeneratedTexts(t *testing.T) {
	t.Parallel()
	all := checkMeasured(t, "generated", generate(2000))
	for _, entity := range knowledge.PIIEntities() {
		recall, precision := goal(entity)
		if c := all[entity]; c.there < 30 || c.recall() < recall || c.precision() < precision {
			t.Errorf("%s: recall %.3f and precision %.3f of %d values, want %.2f and %.2f of 30 at least", entity, c.recall(), c.precision(), c.there, recall, precision)
		}
	}
}

// readHard reads the texts of a file, in which a value stands as [[ENTITY:value]].
func readHard(t *testing.T) []sample {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "hard.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var samples []sample
	for text := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n---\n") {
		var s sample
		for {
			before, rest, ok := strings.Cut(text, "[[")
			for strings.HasPrefix(rest, "[") { // a bracket of the text itself
				before, rest = before+"[", rest[1:]
			}
			s.add(before)
			if !ok {
				break
			}
			marked, behind, _ := strings.Cut(rest, "]]")
			entity, value, _ := strings.Cut(marked, ":")
			s.addValue(entity, value)
			text = behind
		}
		samples = append(samples, s)
	}
	return samples
}

func TestHardTexts(t *testing.T) {
	t.Parallel()
	samples := readHard(t)
	if len(samples) < 150 {
		t.Errorf("%d texts, want 150 at least", len(samples))
	}
	all := checkMeasured(t, "hard", samples)
	if c := all["all"]; c.recall() < .9 || c.precision() < .9 {
		t.Errorf("recall %.3f and precision %.3f, want .9 at least", c.recall(), c.precision())
	}
}
