package audit_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/audit"
)

// BenchmarkRecord measures how long a reader waits for its row, alone and beside others who
// share its commits.
func BenchmarkRecord(b *testing.B) {
	for _, readers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			j, err := audit.OpenJournal(filepath.Join(b.TempDir(), "audit.journal"), audit.Position{})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = j.Close() }() // nothing reads it
			r := audit.NewRecorder(j)
			row := audit.Row{ID: "r", Workspace: "acme", Entry: chain("acme", 1)[0]}
			b.SetParallelism(readers)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := r.Record(b.Context(), row); err != nil {
						b.Error(err)
					}
				}
			})
			rows, _ := j.Take()
			j.Done(len(rows))
		})
	}
}
