package evaluate_test

import (
	"io/fs"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/samples"
)

// BenchmarkJudge judges an answer of ten sentences by ten passages of 1,500 bytes.
func BenchmarkJudge(b *testing.B) {
	documents, err := samples.Documents()
	if err != nil {
		b.Fatal(err)
	}
	text, err := fs.ReadFile(documents, "handbook.md")
	if err != nil {
		b.Fatal(err)
	}
	c := evaluate.Case{Item: evaluate.Item{Question: "What about holidays?", Reference: "27 days of holiday, of which two weeks in a row are taken between June and September."}}
	for i := range 10 {
		at := i * 300
		c.Passages = append(c.Passages, evaluate.Passage{ChunkID: string(rune('a' + i)), Text: string(text[at : at+1500])})
	}
	c.Answer = string(text[1200:2700])
	for b.Loop() {
		evaluate.Judge(c)
	}
}
