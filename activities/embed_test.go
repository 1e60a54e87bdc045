package activities_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// manyChunks uploads and cuts a document of about n chunks.
func (f *fixture) manyChunks(n int) (activities.StepInput, int) {
	f.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "Paragraph %d. %s\n\n", i, strings.Repeat("words and more words ", 5))
	}
	in := f.upload("many.txt", text.String(), func(nv *store.NewVersion) {
		nv.Splitter = knowledge.Splitter{Strategy: "structure", ChunkSize: 130}
	})
	return in, f.prepare(in)
}

func TestEmbedChunks(t *testing.T) {
	t.Parallel()

	t.Run("each batch is requested once, although the result of the step is lost", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(150)
		if count < 2*activities.BatchSize+1 || count > 3*activities.BatchSize {
			t.Fatalf("%d chunks are no three batches", count)
		}
		f.embed(in, count)
		first := f.vectors(in)
		for range 2 { // a worker that died before it reported the result runs the step again
			f.embed(in, count)
			if diff := cmp.Diff(first, f.vectors(in)); diff != "" {
				t.Error(diff)
			}
		}
		totals := f.server.Totals()
		if totals.Embeddings.Asked != 3 || totals.Texts != count {
			t.Errorf("%d requests for %d texts, of %d chunks in 3 batches", totals.Embeddings.Asked, totals.Texts, count)
		}
		batch := f.embeddingTexts(in)
		want := map[string]int{}
		for i := 0; i < count; i += activities.BatchSize {
			want[modeltest.BatchKey(batch[i:min(i+activities.BatchSize, count)])] = 1
		}
		asked := map[string]int{}
		for key, n := range f.server.Embeddings() {
			asked[key] = n.Asked
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("batches (-of the chunks +that were asked for): %s", diff)
		}
	})

	t.Run("an answer that is on its way when the step is canceled is stored", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", "some text")
		embed := activities.EmbedInput{StepInput: in, Last: f.prepare(in), Count: 1}
		answered := make(chan struct{})
		f.server.ScriptEmbeddings(modeltest.Reply{Until: answered})
		ctx, cancel := context.WithCancel(attempts(t, 1)[0])
		ended := make(chan error, 1)
		go func() { ended <- f.ingestion.EmbedChunks(ctx, embed) }()
		f.must(f.server.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked == 1 }))
		cancel() // another step of the document has failed
		close(answered)
		if err := <-ended; !errors.Is(err, context.Canceled) && !temporal.IsCanceledError(err) {
			t.Errorf("the canceled step ended with %v", err)
		}
		f.must(step(f, f.ingestion.EmbedChunks, embed))
		if asked := f.server.Totals().Embeddings.Asked; asked != 1 {
			t.Errorf("the vectors were requested %d times", asked)
		}
	})

	t.Run("only a batch that was not stored is requested again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(150)
		f.embed(in, count)
		f.must(f.blobs.Delete(f.ctx, f.vectors(in)[1]))
		f.embed(in, count)
		if n := f.server.Totals().Embeddings.Asked; n != 4 {
			t.Errorf("%d requests, want 3 and 1", n)
		}
	})

	t.Run("only the part that holds a batch is read", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(9 * activities.BatchSize)
		if count <= 8*activities.BatchSize {
			t.Fatalf("%d chunks are no long document", count)
		}
		texts := f.embeddingTexts(in)
		f.must(step(f, f.ingestion.EmbedChunks, activities.EmbedInput{StepInput: in, Last: 8 * activities.BatchSize, Count: count}))
		parts := f.keys(blob.StepKey(in.VersionRef, "chunks/"))
		f.must(f.blobs.Delete(f.ctx, parts[0]))
		f.must(step(f, f.ingestion.EmbedChunks, activities.EmbedInput{StepInput: in, First: 8 * activities.BatchSize, Last: count, Count: count}))
		asked := f.server.Embeddings()
		for i := 0; i < count; i += activities.BatchSize {
			if asked[modeltest.BatchKey(texts[i:min(i+activities.BatchSize, count)])].Asked != 1 {
				t.Errorf("the batch of chunk %d is not what was asked for", i)
			}
		}
	})

	t.Run("the chunks of a short document are one blob", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, _ := f.manyChunks(3 * activities.BatchSize)
		if keys := f.keys(blob.StepKey(in.VersionRef, "chunks/")); len(keys) != 0 {
			t.Errorf("stored %v too", keys)
		}
	})

	t.Run("a batch is requested again for another model or dimension", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(3)
		f.embed(in, count)
		for _, change := range []func(*model.Endpoint){
			func(e *model.Endpoint) { e.Model = "another" },
			func(e *model.Endpoint) { e.Dimensions /= 2 },
		} {
			endpoint := f.server.Endpoint()
			change(&endpoint)
			f.ingestion.Embedder = model.New(endpoint, nil)
			f.embed(in, count)
		}
		if n := f.server.Totals().Embeddings.Asked; n != 3 || len(f.vectors(in)) != 3 {
			t.Errorf("%d requests, %d results", n, len(f.vectors(in)))
		}
	})

	t.Run("the embedded text has the name of the document", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("handbook of gardening.txt", "Apples are picked in autumn.")
		f.embed(in, f.prepare(in))
		texts := f.embeddingTexts(in)
		if _, asked := f.server.Embeddings()[modeltest.BatchKey(texts)]; !asked || !strings.Contains(texts[0], "gardening") {
			t.Errorf("embedded %q: %t", texts, asked)
		}
	})

	t.Run("a batch beyond the chunks is a defect", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(3)
		err := step(f, f.ingestion.EmbedChunks, activities.EmbedInput{StepInput: in, Last: count + 1, Count: count})
		f.failed(err, knowledge.CodeInternal, true)
	})
}

func TestEmbeddingFailures(t *testing.T) {
	t.Parallel()
	wrong := `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1,0.2]}],"usage":{"prompt_tokens":1}}`
	for name, tc := range map[string]struct {
		reply     modeltest.Reply
		retryable bool
	}{
		"a wrong dimension":          {modeltest.Reply{Status: http.StatusOK, Body: wrong, Header: http.Header{"Content-Type": {"application/json"}}}, false},
		"garbage":                    {modeltest.Garbage(), true},
		"an empty answer":            {modeltest.Empty(), true},
		"a broken connection":        {modeltest.Reply{Cut: true}, true},
		"an overloaded endpoint":     {modeltest.Fail(http.StatusServiceUnavailable), true},
		"an endpoint that limits":    {modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "7"), true},
		"credentials that are wrong": {modeltest.Fail(http.StatusUnauthorized), false},
		"a request that is refused":  {modeltest.Fail(http.StatusBadRequest), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			in := f.upload("a.txt", "some text")
			embed := activities.EmbedInput{StepInput: in, Last: f.prepare(in), Count: 1}
			f.server.ScriptEmbeddings(tc.reply)
			err := step(f, f.ingestion.EmbedChunks, embed)
			f.failed(err, knowledge.CodeProviderFailed, tc.retryable)
			if keys := f.vectors(in); len(keys) != 0 {
				t.Errorf("stored %v", keys)
			}
			if name == "an endpoint that limits" && retryDelay(err) != 7*time.Second {
				t.Errorf("it asked to wait 7 s, and Temporal waits %v", retryDelay(err))
			}
			embed.Now = true // the endpoint is well again, before the time that it asked for
			f.must(step(f, f.ingestion.EmbedChunks, embed))
		})
	}
}

// embeddingTexts returns the embedded texts of a version's chunks.
func (f *fixture) embeddingTexts(in activities.StepInput) []string {
	f.Helper()
	chunks := f.chunks(in)
	for _, part := range f.keys(blob.StepKey(in.VersionRef, "chunks/")) {
		var some []knowledge.Chunk
		f.must(f.blobs.GetJSON(f.ctx, part, &some))
		chunks = append(chunks, some...)
	}
	var texts []string
	for _, c := range chunks {
		texts = append(texts, chunk.EmbeddingText(c))
	}
	return texts
}
