package ingestion_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// used returns what the row of a run says that it has used.
func (f *fixture) used(run string) (u knowledge.RunUsage) {
	f.Helper()
	row, err := f.Store.RunForSystem(f.Ctx, "w", run)
	f.Must(err)
	if row.Usage != nil {
		f.Must(json.Unmarshal(row.Usage, &u))
	}
	return u
}

func TestUsageOfAnIngest(t *testing.T) {
	t.Parallel()

	t.Run("steps that run again count once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(150)
		f.Embed(in, count)
		f.Embed(in, count)
		publish := ingestion.PublishInput{StepInput: in, Count: count}
		for range 2 {
			_, err := do(f, f.Ingestion.PublishDocument, publish)
			f.Must(err)
		}
		got := f.used(in.Run)
		if got.EmbeddingCalls != 3 || got.EmbeddingTokens == 0 || got.Model != f.IngestionUses.Embedder.Endpoint().Model {
			t.Errorf("usage %+v", got)
		}
		f.Must(act(f, f.Ingestion.FinishVersion, ingestion.FinishInput{StepInput: in, Status: knowledge.RunCompleted}))
		if diff := cmp.Diff(got, f.used(in.Run)); diff != "" {
			t.Errorf("the end of the run changes its usage: %s", diff)
		}
	})

	t.Run("a version counts what it embeds itself", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		text := strings.Repeat("The first part is the same. ", 60)
		f.Publish(f.Upload("a.txt", text))
		same := f.Upload("a.txt", text, func(nv *store.NewVersion) { nv.Metadata = map[string]any{"changed": true} })
		f.Publish(same)
		if got := f.used(same.Run); got != (knowledge.RunUsage{}) {
			t.Errorf("nothing was embedded again, and the usage is %+v", got)
		}
	})

	t.Run("the calls of chat models are counted too", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", strings.Repeat("A sentence about tea. ", 100), func(nv *store.NewVersion) {
			nv.Enrichment = knowledge.VersionEnrichment{Enrichment: knowledge.Enrichment{Topics: true}}
		})
		count := f.Prepare(in)
		f.Server.ScriptChat(toolCall("describe_document", `{"summary":"About tea.","topics":["tea"],"tags":["drinks"]}`))
		for range 2 {
			_, err := do(f, f.Ingestion.EnrichDocument, ingestion.EnrichInput{StepInput: in, Last: count, Count: count})
			f.Must(err)
		}
		_, err := do(f, f.Ingestion.PublishDocument, f.Embed(in, count))
		f.Must(err)
		if got := f.used(in.Run); got.ModelCalls != 1 || got.PromptTokens == 0 || got.EmbeddingCalls != 1 {
			t.Errorf("usage %+v", got)
		}
	})

	t.Run("a failed version counts what it used, and its retry only the rest", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(150)
		f.Must(act(f, f.Ingestion.EmbedChunks, ingestion.EmbedInput{StepInput: in, Last: ingestion.BatchSize, Count: count}))
		failed := &knowledge.DocumentError{Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Message: "the endpoint failed", Retryable: true}
		f.Must(act(f, f.Ingestion.FinishVersion, ingestion.FinishInput{StepInput: in, Status: knowledge.RunFailed, Error: failed}))
		if got := f.used(in.Run); got.EmbeddingCalls != 1 {
			t.Errorf("usage of the run that failed: %+v", got)
		}
		v, err := f.Store.RetryVersion(f.Ctx, activitytest.Manager(), in.Document, "again", time.Now())
		f.Must(err)
		again := ingestion.StepInput{VersionRef: v.VersionRef, Run: v.RunID}
		const size = ingestion.BatchSize
		for first := 0; first < count; first += size {
			f.Must(act(f, f.Ingestion.EmbedChunks, ingestion.EmbedInput{StepInput: again, First: first, Last: min(first+size, count), Count: count}))
		}
		_, err = do(f, f.Ingestion.PublishDocument, ingestion.PublishInput{StepInput: again, Count: count})
		f.Must(err)
		if got, want := f.used("again").EmbeddingCalls, (count-1)/size; got != want {
			t.Errorf("the retry counts %d requests, want %d", got, want)
		}
	})
}

func TestUsageOfAnImport(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	f.shelf.size = 20
	for n := range 30 {
		f.shelf.put(fmt.Sprintf("notes/%02d.txt", n), fmt.Sprintf("The watchword of note %d is word%dx.", n, n))
	}
	i := f.start(func(*store.ImportRequest) {})
	f.list(i)
	f.Server.ScriptEmbeddings(modeltest.Fail(http.StatusBadRequest)) // then each document is tried by itself
	for range 2 {
		for page := range 2 {
			f.Must(f.batch(i, page))
		}
	}
	if got := f.used(i.RunID); got.EmbeddingCalls != 21 || got.EmbeddingTokens == 0 {
		t.Errorf("usage %+v", got)
	}
}

func TestUsageOfAReindex(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := f.Upload("a.txt", twoParts(1))
	f.Publish(in)
	f.Must(f.Blobs.Delete(f.Ctx, f.Keys(blob.StepKey(in.VersionRef, "vectors/"))[0]))
	f.Must(f.Blobs.Delete(f.Ctx, f.Vectors(in)[0]))
	of, err := f.Store.ProjectGenerations(f.Ctx, "w", "p")
	f.Must(err)
	fill := ingestion.FillInput{RunRef: knowledge.RunRef{Workspace: "w", Project: "p", Run: "reindex"}, Generations: of.Names()}
	for range 2 { // the second time it requests nothing
		result, err := do(f, f.Ingestion.FillGenerations, fill)
		f.Must(err)
		if result.Documents != 1 || result.Usage.EmbeddingCalls != 1 {
			t.Errorf("%+v", result)
		}
	}
	if asked := f.Server.Totals().Embeddings.Asked; asked != 2 {
		t.Errorf("%d requests", asked)
	}
}
