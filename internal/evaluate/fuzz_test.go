package evaluate_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

// FuzzJudge judges anything. Scores are on the scale, faithfulness is a share, and what is asked for is
// judged.
func FuzzJudge(f *testing.F) {
	f.Add("How long?", "36 months.", `It lasts 1.234,5 months <citation id="a">[1]</citation>.`, "| a | b |\n|--|--|\n| x | 36 |")
	f.Add("共有多少天?", "27天", "共有27天。<citation id=\"a\">[1]</citation>", "每人有27天假期。")
	f.Add("Wer?", "Am 3. Mai 2024", "<citation <citation id=\"a\"", "# a\n- 1. b\n\ue000 1,2,3")
	f.Fuzz(func(t *testing.T, question, reference, answer, text string) {
		c := evaluate.Case{Item: evaluate.Item{ID: "i", Question: question, Reference: reference}, Answer: answer, Passages: []evaluate.Passage{{ChunkID: "a", Text: text}}}
		j := evaluate.Judge(c)
		if (j.Score == nil) != (reference == "") || (j.Context == nil) != (reference == "") {
			t.Errorf("with the reference %q the judgement is %+v", reference, j)
		}
		for _, score := range []*float64{j.Score, j.Context} {
			if score != nil && *score != 0 && *score != 1.5 && *score != 2 {
				t.Errorf("the score is %v", *score)
			}
		}
		if j.Faithfulness != nil && !(*j.Faithfulness >= 0 && *j.Faithfulness <= 1) {
			t.Errorf("faithfulness is %v", *j.Faithfulness)
		}
		for _, r := range evaluate.Requests(c) {
			if strings.Count(r.User, "</answer>") > 1 || strings.Count(r.User, "</passage>") > 1 {
				t.Errorf("a text closes its tag: %s", r.User)
			}
		}
		evaluate.GenerateOffline(c.Passages, 5, 1)
		evaluate.Contradictions([]evaluate.Passage{{ChunkID: "a", Text: text}, {ChunkID: "b", Text: answer}}, 0)
		evaluate.WithoutDuplicates([]evaluate.Generated{{Item: c.Item}, {Item: evaluate.Item{Question: answer}}})
	})
}
