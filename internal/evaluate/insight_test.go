package evaluate_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/samples"
	"github.com/google/go-cmp/cmp"
)

func TestGroupQuestions(t *testing.T) {
	t.Parallel()
	model := localmodel.New(localmodel.Config{})
	texts := []string{
		"How many days of holiday are there?", "What does the fault E02 mean?", "How many days of holiday do we have?", "How many holiday days are there?",
		"What does fault E02 mean?", "Who founded the company?",
	}
	var asked []evaluate.Asked
	for i, vector := range model.Embed(texts) {
		asked = append(asked, evaluate.Asked{ID: fmt.Sprint(i), Text: texts[i], Vector: vector})
	}
	asked = append(asked, evaluate.Asked{ID: "n1", Text: "Without a vector"}, evaluate.Asked{ID: "n2", Text: "Without a vector"}, evaluate.Asked{ID: "n3", Text: "Alone", Vector: make([]float32, 3)})
	groups := evaluate.GroupQuestions(asked, 0)
	var ids [][]string
	for _, g := range groups {
		ids = append(ids, g.IDs)
	}
	want := [][]string{{"0", "2", "3"}, {"1", "4"}, {"n1", "n2"}, {"5"}, {"n3"}}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if again := evaluate.GroupQuestions(asked, 0); !cmp.Equal(groups, again) {
		t.Error("the same questions have other groups")
	}
	if none := evaluate.GroupQuestions(nil, 0); none == nil || len(none) != 0 {
		t.Errorf("no questions have the groups %v", none)
	}
}

// TestGroupsOfClouds: points around three directions form three groups, each with all of its points.
func TestGroupsOfClouds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var asked []evaluate.Asked
	for i := range 300 {
		vector := make([]float32, 16)
		for d := range vector {
			vector[d] = float32(random.NormFloat64() * .08)
		}
		vector[i%3] += 1
		asked = append(asked, evaluate.Asked{ID: fmt.Sprint(i), Vector: vector})
	}
	groups := evaluate.GroupQuestions(asked, .7)
	if len(groups) != 3 {
		t.Fatalf("%d groups", len(groups))
	}
	for i, g := range groups {
		if len(g.IDs) != 100 || g.IDs[0] != fmt.Sprint(i) {
			t.Errorf("group %d has %d questions, the first is %s", i, len(g.IDs), g.IDs[0])
		}
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	passage := func(id, text string) evaluate.Passage {
		return evaluate.Passage{ChunkID: id, DocumentID: "d" + id, Text: text}
	}
	for name, c := range map[string]struct {
		first, second string
		values        []string // empty: none
	}{
		"another number":           {"The warranty on the HX-4 lasts 36 months.", "The warranty on the HX-4 lasts 24 months.", []string{"36 months", "24 months"}},
		"another date":             {"The new handbook is valid from 1 March 2026.", "The new handbook is valid from 1 May 2026.", []string{"1 March 2026", "1 May 2026"}},
		"another year":             {"The company was founded in 1987 in Halden.", "The company was founded in 1978 in Halden.", []string{"1987", "1978"}},
		"German":                   {"Die Dichtung der Pumpe wird alle 12 Monate gewechselt.", "Die Dichtung der Pumpe wird alle 6 Monate gewechselt.", []string{"12 Monate", "6 Monate"}},
		"a row of a table":         {"| Where | Interval |\n|---|---|\n| Fjord or coast | 18 months |\n| Open sea | 24 months |", "| Where | Interval |\n|---|---|\n| Fjord or coast | 9 months |", []string{"18 months", "9 months"}},
		"the same number":          {"The warranty on the HX-4 lasts 36 months.", "The warranty on the HX-4 lasts three years.", nil},
		"another instrument":       {"The warranty on the HX-4 lasts 36 months.", "The warranty on the HX-5 lasts 24 months.", nil},
		"another name":             {"The travel allowance in Hamburg is 30 euros a day.", "The travel allowance in Bergen is 40 euros a day.", nil},
		"another unit":             {"The warranty on the pump lasts 36 months.", "The warranty on the pump lasts 2 weeks.", nil},
		"another thing":            {"The warranty on the pump lasts 36 months.", "The interval of the boat show lasts 24 months.", nil},
		"another year's number":    {"In 2024 the company sold 120 pumps to customers.", "In 2025 the company sold 120 pumps to customers.", nil},
		"both differ":              {"In 2024 the company sold 120 pumps to customers.", "In 2025 the company sold 150 pumps to customers.", nil},
		"rows without own names":   {"| Serial | Offset |\n|---|---|\n| HX4-1 pump | 3 mm |\n| HX4-1 pump | 4 mm |", "| Serial | Offset |\n|---|---|\n| HX4-1 pump | 5 mm |", nil},
		"a negation":               {"The warranty on the pump lasts 36 months.", "The warranty on the pump never lasts 24 months.", nil},
		"entries of a list":        {"1.3.0 released on 2016-04-19.", "1.3.0 released on 2014-08-19.", nil},
		"no sentences":             {"Support for the blue pump in Bergen, 5 kg", "Support for the blue pump in Bergen, 6 kg", nil},
		"another row":              {"| Pump | Weight |\n|---|---|\n| Blue pump with fallback | 5 kg |", "| Pump | Weight |\n|---|---|\n| Blue pump with fallback + | 6 kg |", nil},
		"no numbers":               {"The warranty on the pump lasts long.", "The warranty on the pump lasts longer.", nil},
		"the same passage's words": {"The warranty on the pump lasts 36 months. The warranty on the pump lasts 24 months.", "Boats float on water.", nil},
	} {
		found := evaluate.Contradictions([]evaluate.Passage{passage("1", c.first), passage("2", c.second)}, 0)
		var values []string
		for _, x := range found {
			values = append(values, x.First.Value, x.Second.Value)
			if x.First.DocumentID != "d1" || x.Second.ChunkID != "2" || x.Subject == "" {
				t.Errorf("%s: %+v", name, x)
			}
		}
		if diff := cmp.Diff(c.values, values); diff != "" {
			t.Errorf("%s: values (-want +got):\n%s", name, diff)
		}
	}
	same := []evaluate.Passage{{ChunkID: "1", DocumentID: "d", Text: "The new pump weighs 5 kg today."}, {ChunkID: "2", DocumentID: "d", Text: "The new pump weighs 6 kg today."}}
	if got := evaluate.Contradictions(same, 0); len(got) != 1 {
		t.Errorf("%d contradictions in one document, want 1", len(got))
	}
	same[0].Text, same[1].Text = "The list of pumps was updated in May 2023.", "The list of pumps was updated in June 2024."
	if got := evaluate.Contradictions(same, 0); len(got) != 0 {
		t.Errorf("a list by date contradicts itself: %+v", got)
	}
	same[0].Text, same[1].Text = "The new pump weighs 5 kg today.", "The new blue pump in Bergen weighs 6 kg today."
	if got := evaluate.Contradictions(same, 0); len(got) != 0 {
		t.Errorf("a document contradicts itself in other words: %+v", got)
	}
	many := []evaluate.Passage{passage("1", "The pump weighs 5 kg today."), passage("2", "The pump weighs 6 kg today."), passage("3", "The pump weighs 7 kg today.")}
	if got := evaluate.Contradictions(many, 2); len(got) != 2 {
		t.Errorf("%d contradictions, want the limit of 2", len(got))
	}
}

// TestSamplesDoNotContradict: the samples agree, although a table has many numbers for the same names.
func TestSamplesDoNotContradict(t *testing.T) {
	t.Parallel()
	documents, err := samples.Documents()
	if err != nil {
		t.Fatal(err)
	}
	var passages []evaluate.Passage
	for _, name := range []string{"handbook.md", "calibrations.csv"} {
		text, err := fs.ReadFile(documents, name)
		if err != nil {
			t.Fatal(err)
		}
		whole := string(text)
		if name == "calibrations.csv" {
			whole = "| " + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(whole), ",", " | "), "\n", " |\n| ") + " |"
		}
		for i, part := range strings.Split(whole, "\n## ") {
			passages = append(passages, evaluate.Passage{ChunkID: fmt.Sprint(name, i), DocumentID: name, Text: part})
		}
	}
	if found := evaluate.Contradictions(passages, 0); len(found) > 0 {
		t.Errorf("the samples contradict each other: %+v", found)
	}
	planted := evaluate.Passage{ChunkID: "p", DocumentID: "rules.md", Text: "Everybody has 30 days of holiday."}
	found := evaluate.Contradictions(append(passages, planted), 0)
	if len(found) != 1 || found[0].First.Value != "27 days" || found[0].Second.Value != "30 days" {
		t.Errorf("a planted contradiction is not found: %+v", found)
	}
}
