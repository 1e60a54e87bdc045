package knowledge_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestRevisedGeneration(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"m/0", "org/m/1536", "m #/4", "m #1/4", "m #x/4"} {
		if got := knowledge.RevisedGeneration(base, 1); got != base {
			t.Errorf("the first of %q is %q", base, got)
		}
		if got := knowledge.BaseGeneration(base); got != base {
			t.Errorf("the base of %q is %q", base, got)
		}
		for _, n := range []int{2, 12} {
			if got := knowledge.BaseGeneration(knowledge.RevisedGeneration(base, n)); got != base {
				t.Errorf("revision %d of %q has the base %q", n, base, got)
			}
		}
	}
	if got := knowledge.RevisedGeneration("org/m/1536", 2); got != "org/m #2/1536" {
		t.Errorf("got %q", got)
	}
}

func TestDescribeGeneration(t *testing.T) {
	t.Parallel()
	for generation, want := range map[string]string{"m/0": "m", "org/m #2/1536": "org/m #2 (1536 dimensions)"} {
		if got := knowledge.DescribeGeneration(generation); got != want {
			t.Errorf("%q is described as %q, want %q", generation, got, want)
		}
	}
}
