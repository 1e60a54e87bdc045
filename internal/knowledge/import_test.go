package knowledge_test

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestPace(t *testing.T) {
	t.Parallel()
	counts := knowledge.ImportCounts{Discovered: 100, Published: 30, Skipped: 15, Failed: 5}
	for _, test := range []struct {
		name   string
		counts knowledge.ImportCounts
		active time.Duration
		listed bool
		rate   float64
		left   time.Duration // -1 = not known
	}{
		{"half_of_a_listed_source", counts, 10 * time.Second, true, 5, 10 * time.Second},
		{"a_source_that_is_still_listed_has_no_end", counts, 10 * time.Second, false, 5, -1},
		{"nothing_is_done_yet", knowledge.ImportCounts{Discovered: 100}, 10 * time.Second, true, 0, -1},
		{"an_empty_source_is_done", knowledge.ImportCounts{}, 0, true, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := test.counts.Pace(test.active, test.listed)
			left := time.Duration(-1)
			if got.Left != nil {
				left = *got.Left
			}
			if got.PerSecond != test.rate || left != test.left {
				t.Errorf("%v documents/s and %v left, want %v and %v", got.PerSecond, left, test.rate, test.left)
			}
		})
	}
}
