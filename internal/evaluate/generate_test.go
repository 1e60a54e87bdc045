package evaluate_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/samples"
	"github.com/google/go-cmp/cmp"
)

var (
	handbook = evaluate.Passage{ChunkID: "c1", DocumentID: "d1", ExternalID: "handbook.md", Text: "Everybody has 27 days of holiday. Tell your group by the end of March.", Pages: []int{4}}
	limits   = evaluate.Passage{ChunkID: "c2", DocumentID: "d2", ExternalID: "manual.pdf", Header: "| Where it is used | Interval | Who |\n| --- | --- | --- |",
		Text: "| Fjord or coast | 18 months | Halden |\n| Open sea | 24 months | Halden |", Pages: []int{1, 2}}
)

func TestReadGenerated(t *testing.T) {
	t.Parallel()
	reply := "```json\n" + `{"questions":[
		{"question":"How long is the holiday?","answer":"27 days","quote":"Everybody has 27 days of holiday."},
		{"question":"How long is the holiday of managers?","answer":"30 days","quote":"Everybody has 27 days of holiday."},
		{"question":"Who was Napoleon?","answer":"An emperor of France","quote":"Everybody has 27 days of holiday."},
		{"question":"How long is it elsewhere?","answer":"27 days","quote":"Every emperor had a horse in his garden."},
		{"question":"","answer":"27 days","quote":"Everybody has 27 days of holiday."},
		{"question":"And then?","answer":"","quote":"Everybody has 27 days of holiday."}]}` + "\n```"
	got, err := evaluate.ReadGenerated(evaluate.KindFact, []evaluate.Passage{handbook}, reply)
	if err != nil {
		t.Fatal(err)
	}
	want := []evaluate.Generated{{Item: evaluate.Item{
		Question: "How long is the holiday?", Reference: "27 days", Kind: evaluate.KindFact, Passages: []string{"c1"},
		ExpectedDocuments: []string{"handbook.md"}, ExpectedPages: []evaluate.Page{{Document: "handbook.md", Number: 4}},
	}}}
	if len(got) == 1 {
		want[0].Item.ID = got[0].Item.ID
	}
	if diff := cmp.Diff(want, got); diff != "" || got[0].Item.ID == "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	got, err = evaluate.ReadGenerated(evaluate.KindUnanswerable, []evaluate.Passage{handbook}, `{"questions":[{"question":"Who pays for the holiday?","answer":"nobody"}]}`)
	if err != nil || len(got) != 1 || got[0].Item.Reference != "" || len(got[0].Item.Passages) != 1 || len(got[0].Item.ExpectedDocuments) > 0 {
		t.Errorf("unanswerable: %+v, %v", got, err)
	}
	got, err = evaluate.ReadGenerated(evaluate.KindComparison, []evaluate.Passage{handbook, limits}, `{"questions":[{"question":"Is the interval at the coast longer than the holiday?","answer":"Yes, 18 months and 27 days","quote":"Fjord or coast"}]}`)
	if err != nil || len(got) != 1 || len(got[0].Item.Passages) != 2 || len(got[0].Item.ExpectedDocuments) != 2 {
		t.Errorf("a comparison: %+v, %v", got, err)
	}
	if _, err := evaluate.ReadGenerated(evaluate.KindFact, nil, "I cannot do that."); err == nil {
		t.Error("prose is taken for questions")
	}
}

func TestGenerationRequests(t *testing.T) {
	t.Parallel()
	for _, kind := range evaluate.GeneratedKinds() {
		r := evaluate.GenerationRequest(kind, []evaluate.Passage{handbook, limits}, 3)
		if r.Part != evaluate.PartGenerate || !strings.Contains(r.System, `{"questions": [`) || !strings.Contains(r.User, "at most 3") || !strings.Contains(r.User, "| Where it is used |") {
			t.Errorf("%s: %+v", kind, r)
		}
	}
}

func TestWithoutDuplicates(t *testing.T) {
	t.Parallel()
	var list []evaluate.Generated
	for _, question := range []string{
		"How many days of holiday are there?", "How many holiday days are there?", "How many weeks of holiday are there?",
		"What does fault E02 mean?", "What does fault E04 mean?", "What does the fault E02 mean?", "Wie viele Urlaubstage gibt es?", "Wie viel Urlaubstage gibt es?",
	} {
		list = append(list, evaluate.Generated{Item: evaluate.Item{Question: question}})
	}
	var kept []string
	for _, g := range evaluate.WithoutDuplicates(list) {
		kept = append(kept, g.Item.Question)
	}
	want := []string{"How many days of holiday are there?", "How many weeks of holiday are there?", "What does fault E02 mean?", "What does fault E04 mean?", "Wie viele Urlaubstage gibt es?"}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

func TestNeedsPassage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    evaluate.Kind
		without *float64
		needs   bool
	}{
		{evaluate.KindFact, pointer(2), false}, {evaluate.KindFact, pointer(1.5), true}, {evaluate.KindFact, pointer(0), true},
		{evaluate.KindFact, nil, true}, {evaluate.KindUnanswerable, pointer(2), true},
	} {
		if got := evaluate.NeedsPassage(evaluate.Item{Kind: c.kind}, evaluate.Judgement{Score: c.without}); got != c.needs {
			t.Errorf("%s, %v: needs is %v", c.kind, c.without, got)
		}
	}
}

// TestGenerateOffline makes questions of the handbook and of a table. The offline judge gives their
// references full marks, and another answer none.
func TestGenerateOffline(t *testing.T) {
	t.Parallel()
	documents, err := samples.Documents()
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(documents, "handbook.md")
	if err != nil {
		t.Fatal(err)
	}
	german := evaluate.Passage{ChunkID: "c4", DocumentID: "d4", Text: "Die Dichtung der Pumpe wird in der Werkstatt alle 12 Monate gewechselt."}
	passages := []evaluate.Passage{{ChunkID: "c3", DocumentID: "d3", ExternalID: "handbook.md", Text: string(text)}, limits, german}
	list := evaluate.GenerateOffline(passages, 20, 1)
	if again := evaluate.GenerateOffline(passages, 20, 1); !cmp.Equal(list, again) {
		t.Error("the same seed gives other questions")
	}
	var shown strings.Builder
	kinds := map[evaluate.Kind]int{}
	items := []evaluate.Item{}
	for _, g := range list {
		kinds[g.Item.Kind]++
		items = append(items, g.Item)
		fmt.Fprintf(&shown, "%s\n  %s\n  %s\n", g.Item.Kind, g.Item.Question, g.Item.Reference)
		right, wrong := evaluate.Judge(evaluate.Case{Item: g.Item, Answer: g.Item.Reference}), evaluate.Judge(evaluate.Case{Item: g.Item, Answer: "Algae weigh 97.25 kroner."})
		if *right.Score != evaluate.ScoreRight || *wrong.Score != evaluate.ScoreWrong {
			t.Errorf("%q: its reference scores %v (%s), another answer %v (%s)", g.Item.Question, *right.Score, right.Reason, *wrong.Score, wrong.Reason)
		}
	}
	golden(t, "generated.golden", shown.String())
	if err := evaluate.Check(items); err != nil || len(list) < 15 || kinds[evaluate.KindTable] == 0 || kinds[evaluate.KindComparison] == 0 {
		t.Errorf("%d questions of the kinds %v, error %v", len(list), kinds, err)
	}
	if none := evaluate.GenerateOffline(nil, 5, 1); len(none) != 0 {
		t.Errorf("no passages give %v", none)
	}
}
