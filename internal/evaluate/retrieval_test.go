package evaluate_test

import (
	"math"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

func TestRanking(t *testing.T) {
	t.Parallel()
	relevant := map[string]bool{"a": true, "b": true, "x": false}
	for _, c := range []struct {
		ranked []string
		want   evaluate.Retrieval
	}{
		{[]string{"a", "b"}, evaluate.Retrieval{NDCG10: 1, Recall10: 1, MRR10: 1}},
		{[]string{"x", "a"}, evaluate.Retrieval{NDCG10: (1 / math.Log2(3)) / (1 + 1/math.Log2(3)), Recall10: .5, MRR10: .5}},
		{[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "a"}, evaluate.Retrieval{}},
		{nil, evaluate.Retrieval{}},
	} {
		got := evaluate.Ranking(c.ranked, relevant)
		if math.Abs(got.NDCG10-c.want.NDCG10) > 1e-12 || got.Recall10 != c.want.Recall10 || got.MRR10 != c.want.MRR10 {
			t.Errorf("%v: %+v, want %+v", c.ranked, got, c.want)
		}
	}
	if got := evaluate.Ranking([]string{"a"}, nil); got != (evaluate.Retrieval{}) {
		t.Errorf("nothing is relevant: %+v", got)
	}
}

func TestMeasured(t *testing.T) {
	t.Parallel()
	passages := []evaluate.Passage{
		{DocumentID: "d1", ExternalID: "other.md"}, {DocumentID: "d1", ExternalID: "other.md"},
		{DocumentID: "d2", ExternalID: "manual.pdf", Document: "Manual", Pages: []int{2}}, {DocumentID: "d2", ExternalID: "manual.pdf", Document: "Manual", Pages: []int{3, 4}},
	}
	for name, c := range map[string]struct {
		item evaluate.Item
		want evaluate.Retrieval
	}{
		"by id":          {evaluate.Item{ExpectedDocuments: []string{"d2"}}, evaluate.Retrieval{NDCG10: 1 / math.Log2(3), Recall10: 1, MRR10: .5}},
		"by external id": {evaluate.Item{ExpectedDocuments: []string{"manual.pdf"}}, evaluate.Retrieval{NDCG10: 1 / math.Log2(3), Recall10: 1, MRR10: .5}},
		"by name":        {evaluate.Item{ExpectedDocuments: []string{"Manual"}}, evaluate.Retrieval{NDCG10: 1 / math.Log2(3), Recall10: 1, MRR10: .5}},
		"one of two":     {evaluate.Item{ExpectedDocuments: []string{"other.md", "missing.md"}}, evaluate.Retrieval{NDCG10: 1 / (1 + 1/math.Log2(3)), Recall10: .5, MRR10: 1}},
		"a page":         {evaluate.Item{ExpectedDocuments: []string{"d2"}, ExpectedPages: []evaluate.Page{{Number: 4}}}, evaluate.Retrieval{NDCG10: 1 / math.Log2(4), Recall10: 1, MRR10: 1.0 / 3}},
		"another page":   {evaluate.Item{ExpectedPages: []evaluate.Page{{Document: "d2", Number: 7}}}, evaluate.Retrieval{}},
	} {
		got, ok := evaluate.Measured(evaluate.Case{Item: c.item, Passages: passages})
		if !ok || math.Abs(got.NDCG10-c.want.NDCG10) > 1e-12 || got.Recall10 != c.want.Recall10 || got.MRR10 != c.want.MRR10 {
			t.Errorf("%s: %+v, %v, want %+v", name, got, ok, c.want)
		}
	}
	if _, ok := evaluate.Measured(evaluate.Case{Passages: passages}); ok {
		t.Error("an item without expected documents is measured")
	}
}
