package knowledge_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestLinesAsJSON(t *testing.T) {
	t.Parallel()
	lines := knowledge.Lines{
		{Start: 0, End: 12, Page: 3, Box: knowledge.Box{X1: 60, Y1: 7.5, X2: 100.126, Y2: -0.04}},
		{Start: 13, End: 20, Page: 4, Box: knowledge.Box{X1: -12.3, X2: .999}, Hyphen: true},
	}
	const want = "[[0,12,3,60,7.5,100.13,-0.04],[13,20,4,-12.3,0,1,0,1]]"
	got, err := json.Marshal(lines)
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	rounded := knowledge.Lines{
		{Start: 0, End: 12, Page: 3, Box: knowledge.Box{X1: 60, Y1: 7.5, X2: 100.13, Y2: -0.04}},
		{Start: 13, End: 20, Page: 4, Box: knowledge.Box{X1: -12.3, X2: 1}, Hyphen: true},
	}
	for _, tc := range []struct {
		behaviour, text string
		want            knowledge.Lines
	}{
		{"what was written", want, rounded},
		{"white space", "[ [1, 2, 3, 4, 5, 6, 7] ]", knowledge.Lines{{Start: 1, End: 2, Page: 3, Box: knowledge.Box{X1: 4, Y1: 5, X2: 6, Y2: 7}}}},
		{"the objects of earlier versions", `[{"start":1,"end":2,"page_number":3,"bbox":[4,5,6,7.25],"hyphen":true}]`,
			knowledge.Lines{{Start: 1, End: 2, Page: 3, Box: knowledge.Box{X1: 4, Y1: 5, X2: 6, Y2: 7.25}, Hyphen: true}}},
		{"none", "[]", nil},
		{"null", "null", nil},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			var got knowledge.Lines
			if err := json.Unmarshal([]byte(tc.text), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("no lines are an empty list", func(t *testing.T) {
		t.Parallel()
		if got, err := json.Marshal(knowledge.Lines{}); err != nil || string(got) != "[]" {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("a number that is not finite is an error", func(t *testing.T) {
		t.Parallel()
		for _, box := range []knowledge.Box{{X1: math.NaN()}, {Y2: math.Inf(-1)}} {
			if got, err := json.Marshal(box); err == nil {
				t.Errorf("got %s", got)
			}
		}
	})
}

// FuzzNumbers reads any text as lines and pages: it is refused, or what was read
// is written and read again unchanged.
func FuzzNumbers(f *testing.F) {
	f.Add("[[1,2,3,4,5,6,7],[1,2,3,-4.5,5,6,7.25]]")
	f.Add("[[1,2,3]]")
	f.Add("[[1e9,--,.]]")
	f.Add("[")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := knowledge.ParsePages(text); err != nil {
			t.Log(err) // refused, and no panic
		}
		lines, err := knowledge.ParseLines(text)
		if err != nil {
			return
		}
		for i := range lines { // as they are written: hundredths of a point
			if b := lines[i].Box; max(b.X1, b.Y1, b.X2, b.Y2) > 1e6 || min(b.X1, b.Y1, b.X2, b.Y2) < -1e6 || lines[i].Start > 1e9 || lines[i].Start < -1e9 {
				t.Skip("no page is that large")
			}
		}
		first := string(lines.Append(nil))
		again, err := knowledge.ParseLines(first)
		if err != nil {
			t.Fatalf("%q: %v", first, err)
		}
		if second := string(again.Append(nil)); second != first {
			t.Error(cmp.Diff(first, second))
		}
	})
}

func TestSpeechAsJSON(t *testing.T) {
	t.Parallel()
	speech := knowledge.Speech{
		{Start: 0, End: 12, Time: knowledge.Seconds{Start: .5, End: 3.25}}, {Start: 13, End: 20, Time: knowledge.Seconds{Start: 3.25, End: 7200.04}},
	}
	const want = "[[0,12,0.5,3.25],[13,20,3.25,7200.04]]"
	data, err := json.Marshal(speech)
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	var got knowledge.Speech
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(speech, got); diff != "" {
		t.Error(diff)
	}
	for behaviour, tc := range map[string]struct {
		start, end int
		want       knowledge.Seconds
	}{
		"within a segment":   {3, 5, knowledge.Seconds{Start: .5, End: 3.25}},
		"of two segments":    {11, 14, knowledge.Seconds{Start: .5, End: 7200.04}},
		"between two":        {12, 13, knowledge.Seconds{}},
		"behind the segment": {20, 30, knowledge.Seconds{}},
	} {
		if got := speech.During(tc.start, tc.end); got != tc.want {
			t.Errorf("%s: %v, want %v", behaviour, got, tc.want)
		}
	}
}
