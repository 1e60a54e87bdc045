package activities_test

import (
	"testing"

	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestProgressInSQL(t *testing.T) {
	t.Parallel()
	stage := func(f *fixture, in activities.StepInput, want knowledge.Stage) {
		f.Helper()
		v, err := f.store.Version(f.ctx, in.VersionRef)
		f.must(err)
		if v.Stage != want {
			f.Errorf("stage %s, want %s", v.Stage, want)
		}
	}

	t.Run("a document that takes its time is in the stage that it is in", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "text")
		_, err := do(f, f.ingestion.CheckDocument, in)
		f.must(err)
		stage(f, in, knowledge.StageExtract)
		_, err = do(f, f.ingestion.ExtractDocument, in)
		f.must(err)
		stage(f, in, knowledge.StageEnrich)
		f.must(step(f, f.ingestion.EnrichDocument, in))
		stage(f, in, knowledge.StageChunk)
		_, err = do(f, f.ingestion.ChunkDocument, in)
		f.must(err)
		stage(f, in, knowledge.StageEmbed)
		if _, err := do(f, f.ingestion.PublishDocument, activities.PublishInput{StepInput: in}); err == nil {
			t.Error("published without vectors")
		}
		stage(f, in, knowledge.StagePublish)
	})

	t.Run("one that ends within milliseconds writes no more than its facts", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "text")
		_, err := do(f, f.ingestion.CheckDocument, in)
		f.must(err)
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(quiet())
		_, err = suite.NewTestActivityEnvironment().ExecuteLocalActivity(f.ingestion.ExtractDocument, in)
		f.must(err)
		stage(f, in, knowledge.StageExtract)
	})

	t.Run("a long document moves on while it is embedded", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(9 * activities.BatchSize)
		last := 0.4
		for first := 0; first < 8*activities.BatchSize; first += activities.BatchSize {
			_, err := do(f, f.ingestion.EmbedChunks, activities.EmbedInput{
				StepInput: in, First: first, Last: first + activities.BatchSize, Count: count,
			})
			f.must(err)
			d, err := f.store.Document(f.ctx, manager(), in.Document)
			f.must(err)
			if d.Progress < last || d.Progress > 0.9 || d.Stage != knowledge.StageEmbed {
				t.Errorf("after chunk %d: stage %s, progress %g, before %g", first, d.Stage, d.Progress, last)
			}
			last = d.Progress
		}
		if last <= 0.4 {
			t.Errorf("progress %g after %d of %d chunks", last, 8*activities.BatchSize, count)
		}
	})
}
