package ingestion_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// stagesIn records the stages that SetStage stores.
type stagesIn struct {
	ingestion.Versions
	noted []knowledge.Stage
}

func (s *stagesIn) SetStage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, facts store.Facts) error {
	s.noted = append(s.noted, stage)
	return s.Versions.SetStage(ctx, ref, stage, progress, facts)
}

// progressIn sends the progress within the extraction that SetStage has stored.
type progressIn struct {
	ingestion.Versions
	stored chan float64
}

func (p *progressIn) SetStage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, facts store.Facts) error {
	err := p.Versions.SetStage(ctx, ref, stage, progress, facts)
	if stage == knowledge.StageExtract {
		p.stored <- progress
	}
	return err
}

func TestStageInSQL(t *testing.T) {
	t.Parallel()
	stage := func(f *fixture, in ingestion.StepInput, want knowledge.Stage) {
		f.Helper()
		v, err := f.Store.Version(f.Ctx, in.VersionRef)
		f.Must(err)
		if v.Stage != want {
			f.Errorf("stage %s, want %s", v.Stage, want)
		}
	}

	t.Run("the stage of a long document is stored", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", strings.Repeat("text and more\n\n", 20_000))
		prepared, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		if f.Must(err); prepared.Chunked {
			t.Fatal("a long text was prepared as a small one")
		}
		stage(f, in, knowledge.StageExtract)
		stages := &stagesIn{Versions: f.Store}
		f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = stages })
		_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
		f.Must(err)
		if diff := cmp.Diff([]knowledge.Stage{knowledge.StageEnrich, knowledge.StageChunk, knowledge.StageEmbed}, stages.noted); diff != "" {
			t.Error(diff)
		}
		stage(f, in, knowledge.StageEmbed)
		if _, err := do(f, f.Ingestion.PublishDocument, ingestion.PublishInput{StepInput: in}); err == nil {
			t.Error("published without vectors")
		}
		stage(f, in, knowledge.StagePublish)
	})

	t.Run("a document that takes milliseconds writes only its facts", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "text")
		stages := &stagesIn{Versions: f.Store}
		f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = stages })
		count := f.Prepare(in)
		stage(f, in, knowledge.StageEmbed)
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(activitytest.Quiet())
		_, err := suite.NewTestActivityEnvironment().ExecuteLocalActivity(f.Ingestion.EmbedChunks, ingestion.EmbedInput{StepInput: in, Last: count, Count: count})
		f.Must(err)
		if len(stages.noted) > 0 {
			t.Errorf("noted %v", stages.noted)
		}
	})
}

func TestProgressInSQL(t *testing.T) {
	t.Parallel()

	t.Run("the progress does not fall when the steps of a document end in another order", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(3 * ingestion.BatchSize)
		for _, first := range []int{ingestion.BatchSize, 0} {
			f.Must(act(f, f.Ingestion.EmbedChunks, ingestion.EmbedInput{
				StepInput: in, First: first, Last: first + ingestion.BatchSize, Count: count,
			}))
		}
		d, err := f.Store.Document(f.Ctx, activitytest.Manager(), in.Document)
		f.Must(err)
		if want := record.Progress(knowledge.StageEmbed, 2*ingestion.BatchSize/float64(count)); d.Progress != want {
			t.Errorf("progress %g after two of three steps, want %g", d.Progress, want)
		}
	})

	t.Run("the progress of a long extraction grows with its pages", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		stored := make(chan float64, 100)
		f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = &progressIn{f.Store, stored} })
		f.slides(nil, nil)
		read := f.Parser.Read
		f.Parser.Read = func(in extract.Input) (format.Result, error) {
			in.Pages(100, 1000)
			in.Pages(250, 1000)
			select {
			case got := <-stored:
				if want := record.Progress(knowledge.StageExtract, 0.25); got != want {
					t.Errorf("progress %g after 250 of 1000 pages, want %g", got, want)
				}
			case <-time.After(time.Minute):
				t.Error("the progress is not stored")
			}
			d, err := f.Store.Document(f.Ctx, activitytest.Manager(), knowledge.DocumentID("w", "p", "a.pdf"))
			if err != nil || d.PageCount != 1000 {
				t.Errorf("%d pages, %v; want 1000 while they are read", d.PageCount, err)
			}
			return read(in)
		}
		in := f.Upload("a.pdf", "%PDF-1.7\n")
		_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		f.Must(err)
		_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
		f.Must(err)
	})

	t.Run("the progress of a long document grows while it is embedded", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(9 * ingestion.BatchSize)
		last := 0.4
		for first := 0; first < 8*ingestion.BatchSize; first += ingestion.BatchSize {
			f.Must(act(f, f.Ingestion.EmbedChunks, ingestion.EmbedInput{
				StepInput: in, First: first, Last: first + ingestion.BatchSize, Count: count,
			}))
			d, err := f.Store.Document(f.Ctx, activitytest.Manager(), in.Document)
			f.Must(err)
			if d.Progress < last || d.Progress > 0.9 || d.Stage != knowledge.StageEmbed {
				t.Errorf("after chunk %d: stage %s, progress %g, before %g", first, d.Stage, d.Progress, last)
			}
			last = d.Progress
		}
		if last <= 0.4 {
			t.Errorf("progress %g after %d of %d chunks", last, 8*ingestion.BatchSize, count)
		}
	})
}
