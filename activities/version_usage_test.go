package activities_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// used returns what the row of a run says that it has used.
func (f *fixture) used(run string) (u knowledge.RunUsage) {
	f.Helper()
	row, err := f.store.RunForSystem(f.ctx, "w", run)
	f.must(err)
	if row.Usage != nil {
		f.must(json.Unmarshal(row.Usage, &u))
	}
	return u
}

func TestUsageOfAnIngest(t *testing.T) {
	t.Parallel()

	t.Run("steps that run again count once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(150)
		f.embed(in, count)
		f.embed(in, count)
		publish := activities.PublishInput{StepInput: in, Count: count}
		for range 2 {
			_, err := do(f, f.ingestion.PublishDocument, publish)
			f.must(err)
		}
		got := f.used(in.Run)
		if got.EmbeddingCalls != 3 || got.EmbeddingTokens == 0 || got.Model != f.ingestion.Embedder.Endpoint().Model {
			t.Errorf("usage %+v", got)
		}
		f.must(step(f, f.ingestion.FinishVersion, activities.FinishInput{StepInput: in, Status: knowledge.RunCompleted}))
		if diff := cmp.Diff(got, f.used(in.Run)); diff != "" {
			t.Errorf("the end of the run changes its usage: %s", diff)
		}
	})

	t.Run("a version counts what it embeds itself", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		text := strings.Repeat("The first part is the same. ", 60)
		f.publish(f.upload("a.txt", text))
		same := f.upload("a.txt", text, func(nv *store.NewVersion) { nv.Metadata = map[string]any{"changed": true} })
		f.publish(same)
		if got := f.used(same.Run); got != (knowledge.RunUsage{}) {
			t.Errorf("nothing was embedded again, and the usage is %+v", got)
		}
	})

	t.Run("the calls of chat models are counted too", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", strings.Repeat("A sentence about tea. ", 100), func(nv *store.NewVersion) {
			nv.Enrichment = knowledge.VersionEnrichment{Enrichment: knowledge.Enrichment{Topics: true}}
		})
		count := f.prepare(in)
		f.server.ScriptChat(toolCall("describe_document", `{"summary":"About tea.","topics":["tea"],"tags":["drinks"]}`))
		for range 2 {
			_, err := do(f, f.ingestion.EnrichDocument, activities.EnrichInput{StepInput: in, Last: count, Count: count})
			f.must(err)
		}
		_, err := do(f, f.ingestion.PublishDocument, f.embed(in, count))
		f.must(err)
		if got := f.used(in.Run); got.ModelCalls != 1 || got.PromptTokens == 0 || got.EmbeddingCalls != 1 {
			t.Errorf("usage %+v", got)
		}
	})

	t.Run("a failed version counts what it used, and its retry only the rest", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(150)
		f.must(step(f, f.ingestion.EmbedChunks, activities.EmbedInput{StepInput: in, Last: activities.BatchSize, Count: count}))
		failed := &knowledge.DocumentError{Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Message: "the endpoint failed", Retryable: true}
		f.must(step(f, f.ingestion.FinishVersion, activities.FinishInput{StepInput: in, Status: knowledge.RunFailed, Error: failed}))
		if got := f.used(in.Run); got.EmbeddingCalls != 1 {
			t.Errorf("usage of the run that failed: %+v", got)
		}
		v, err := f.store.RetryVersion(f.ctx, manager(), in.Document, "again", time.Now())
		f.must(err)
		again := activities.StepInput{VersionRef: v.VersionRef, Run: v.RunID}
		const size = activities.BatchSize
		for first := 0; first < count; first += size {
			f.must(step(f, f.ingestion.EmbedChunks, activities.EmbedInput{StepInput: again, First: first, Last: min(first+size, count), Count: count}))
		}
		_, err = do(f, f.ingestion.PublishDocument, activities.PublishInput{StepInput: again, Count: count})
		f.must(err)
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
	f.server.ScriptEmbeddings(modeltest.Fail(http.StatusBadRequest)) // then each document is tried by itself
	for range 2 {
		for page := range 2 {
			f.must(f.batch(i, page))
		}
	}
	if got := f.used(i.RunID); got.EmbeddingCalls != 21 || got.EmbeddingTokens == 0 {
		t.Errorf("usage %+v", got)
	}
}

func TestUsageOfAReindex(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := f.upload("a.txt", twoParts(1))
	f.publish(in)
	f.must(f.blobs.Delete(f.ctx, f.keys(blob.StepKey(in.VersionRef, "vectors/"))[0]))
	f.must(f.blobs.Delete(f.ctx, f.vectors(in)[0]))
	of, err := f.store.ProjectGenerations(f.ctx, "w", "p")
	f.must(err)
	fill := activities.FillInput{RunRef: knowledge.RunRef{Workspace: "w", Project: "p", Run: "reindex"}, Generations: of.Names()}
	for range 2 { // the second time it requests nothing
		result, err := do(f, f.ingestion.FillGenerations, fill)
		f.must(err)
		if result.Documents != 1 || result.Usage.EmbeddingCalls != 1 {
			t.Errorf("%+v", result)
		}
	}
	if asked := f.server.Totals().Embeddings.Asked; asked != 2 {
		t.Errorf("%d requests", asked)
	}
}
