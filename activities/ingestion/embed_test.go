package ingestion_test

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

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// manyChunks uploads and cuts a document of about n chunks.
func (f *fixture) manyChunks(n int) (ingestion.StepInput, int) {
	f.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "Paragraph %d. %s\n\n", i, strings.Repeat("words and more words ", 5))
	}
	in := f.Upload("many.txt", text.String(), func(nv *store.NewVersion) {
		nv.Splitter = knowledge.Splitter{Strategy: "structure", ChunkSize: 130}
	})
	return in, f.Prepare(in)
}

func TestEmbedChunks(t *testing.T) {
	t.Parallel()

	t.Run("only the part that holds a batch is read", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(9 * ingestion.BatchSize)
		if count <= 8*ingestion.BatchSize {
			t.Fatalf("%d chunks are no long document", count)
		}
		texts := f.embeddingTexts(in)
		f.Must(act(f, f.Ingestion.EmbedChunks, ingestion.EmbedInput{StepInput: in, Last: 8 * ingestion.BatchSize, Count: count}))
		parts := f.Keys(blob.StepKey(in.VersionRef, "chunks/"))
		f.Must(f.Blobs.Delete(f.Ctx, parts[0]))
		f.Must(act(f, f.Ingestion.EmbedChunks, ingestion.EmbedInput{StepInput: in, First: 8 * ingestion.BatchSize, Last: count, Count: count}))
		asked := f.Server.Embeddings()
		for i := 0; i < count; i += ingestion.BatchSize {
			if asked[modeltest.BatchKey(texts[i:min(i+ingestion.BatchSize, count)])].Asked != 1 {
				t.Errorf("the batch of chunk %d is not what was asked for", i)
			}
		}
	})

	t.Run("the chunks of a short document are one blob", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, _ := f.manyChunks(3 * ingestion.BatchSize)
		if keys := f.Keys(blob.StepKey(in.VersionRef, "chunks/")); len(keys) != 0 {
			t.Errorf("stored %v too", keys)
		}
	})

	t.Run("the embedded text has the name of the document", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("handbook of gardening.txt", "Apples are picked in autumn.")
		f.Embed(in, f.Prepare(in))
		texts := f.embeddingTexts(in)
		if _, asked := f.Server.Embeddings()[modeltest.BatchKey(texts)]; !asked || !strings.Contains(texts[0], "gardening") {
			t.Errorf("embedded %q: %t", texts, asked)
		}
	})

	t.Run("a batch beyond the chunks is a defect", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(3)
		err := act(f, f.Ingestion.EmbedChunks, ingestion.EmbedInput{StepInput: in, Last: count + 1, Count: count})
		f.FailedWith(err, knowledge.CodeInternal, true)
	})
}

func TestRepeatedEmbedding(t *testing.T) {
	t.Parallel()

	t.Run("each batch is requested once, although the result of the step is lost", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(150)
		if count < 2*ingestion.BatchSize+1 || count > 3*ingestion.BatchSize {
			t.Fatalf("%d chunks are no three batches", count)
		}
		f.Embed(in, count)
		first := f.Vectors(in)
		for range 2 { // a worker that died before it reported the result runs the step again
			f.Embed(in, count)
			if diff := cmp.Diff(first, f.Vectors(in)); diff != "" {
				t.Error(diff)
			}
		}
		totals := f.Server.Totals()
		if totals.Embeddings.Asked != 3 || totals.Texts != count {
			t.Errorf("%d requests for %d texts, of %d chunks in 3 batches", totals.Embeddings.Asked, totals.Texts, count)
		}
		batch := f.embeddingTexts(in)
		want := map[string]int{}
		for i := 0; i < count; i += ingestion.BatchSize {
			want[modeltest.BatchKey(batch[i:min(i+ingestion.BatchSize, count)])] = 1
		}
		asked := map[string]int{}
		for key, n := range f.Server.Embeddings() {
			asked[key] = n.Asked
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("batches (-of the chunks +that were asked for): %s", diff)
		}
	})

	t.Run("an answer that is on its way when the step is canceled is stored", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", "some text")
		embed := ingestion.EmbedInput{StepInput: in, Last: f.Prepare(in), Count: 1}
		answered := make(chan struct{})
		f.Server.ScriptEmbeddings(modeltest.Reply{Until: answered})
		ctx, cancel := context.WithCancel(activitytest.Attempts(t, 1)[0])
		ended := make(chan error, 1)
		go func() { ended <- f.Ingestion.EmbedChunks(ctx, embed) }()
		f.Must(f.Server.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked == 1 }))
		cancel() // another step of the document has failed
		close(answered)
		if err := <-ended; !errors.Is(err, context.Canceled) && !temporal.IsCanceledError(err) {
			t.Errorf("the canceled step ended with %v", err)
		}
		f.Must(act(f, f.Ingestion.EmbedChunks, embed))
		if asked := f.Server.Totals().Embeddings.Asked; asked != 1 {
			t.Errorf("the vectors were requested %d times", asked)
		}
	})

	t.Run("only a batch that was not stored is requested again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(150)
		f.Embed(in, count)
		f.Must(f.Blobs.Delete(f.Ctx, f.Vectors(in)[1]))
		f.Embed(in, count)
		if n := f.Server.Totals().Embeddings.Asked; n != 4 {
			t.Errorf("%d requests, want 3 and 1", n)
		}
	})

	t.Run("a batch is requested again for another model or dimension", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(3)
		f.Embed(in, count)
		for _, change := range []func(*model.Endpoint){
			func(e *model.Endpoint) { e.Model = "another" },
			func(e *model.Endpoint) { e.Dimensions /= 2 },
		} {
			endpoint := f.Server.Endpoint()
			change(&endpoint)
			f.IngestWith(func(d *ingestion.Dependencies) { d.Embedder = model.New(endpoint, nil) })
			f.Embed(in, count)
		}
		if n := f.Server.Totals().Embeddings.Asked; n != 3 || len(f.Vectors(in)) != 3 {
			t.Errorf("%d requests, %d results", n, len(f.Vectors(in)))
		}
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
			in := f.Upload("a.txt", "some text")
			embed := ingestion.EmbedInput{StepInput: in, Last: f.Prepare(in), Count: 1}
			f.Server.ScriptEmbeddings(tc.reply)
			err := act(f, f.Ingestion.EmbedChunks, embed)
			f.FailedWith(err, knowledge.CodeProviderFailed, tc.retryable)
			if keys := f.Vectors(in); len(keys) != 0 {
				t.Errorf("stored %v", keys)
			}
			if name == "an endpoint that limits" && retryDelay(err) != 7*time.Second {
				t.Errorf("it asked to wait 7 s, and Temporal waits %v", retryDelay(err))
			}
			embed.Now = true // the endpoint is well again, before the time that it asked for
			f.Must(act(f, f.Ingestion.EmbedChunks, embed))
		})
	}
}

// embeddingTexts returns the embedded texts of a version's chunks.
func (f *fixture) embeddingTexts(in ingestion.StepInput) []string {
	f.Helper()
	chunks := f.Chunks(in)
	for _, part := range f.Keys(blob.StepKey(in.VersionRef, "chunks/")) {
		var some []knowledge.Chunk
		f.Must(f.Blobs.GetJSON(f.Ctx, part, &some))
		chunks = append(chunks, some...)
	}
	var texts []string
	for _, c := range chunks {
		texts = append(texts, chunk.EmbeddingText(c))
	}
	return texts
}

// TestWrongNumberOfVectors answers a batch of one text with a wrong number of
// vectors of the right length.
func TestWrongNumberOfVectors(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 2} {
		f := newFixture(t)
		in := f.Upload("a.txt", "some text")
		embed := ingestion.EmbedInput{StepInput: in, Last: f.Prepare(in), Count: 1}
		numbers := strings.TrimSuffix(strings.Repeat("0.5,", localmodel.HashedDimensions), ",")
		vectors := []string{}
		for i := range count {
			vectors = append(vectors, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%s]}`, i, numbers))
		}
		f.Server.ScriptEmbeddings(modeltest.Reply{
			Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
			Body: `{"object":"list","data":[` + strings.Join(vectors, ",") + `],"usage":{"prompt_tokens":1}}`,
		})
		err := act(f, f.Ingestion.EmbedChunks, embed)
		f.FailedWith(err, knowledge.CodeProviderFailed, true)
		if keys := f.Vectors(in); len(keys) != 0 {
			t.Errorf("%d vectors for a text: stored %v", count, keys)
		}
	}
}
