package ingestion_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// chunksOf uploads and cuts a document of n chunks, whose texts have its name.
func (f *fixture) chunksOf(name string, n int) ingestion.EmbedInput {
	f.Helper()
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s, paragraph %d. %s", name, i, strings.Repeat("words and more words ", 5))
	}
	in := f.Upload(name, strings.Join(list, "\n\n"), func(nv *store.NewVersion) {
		nv.Splitter = knowledge.Splitter{Strategy: "structure", ChunkSize: 140}
	})
	if count := f.Prepare(in); count != n {
		f.Fatalf("%s has %d chunks", name, count)
	}
	return ingestion.EmbedInput{StepInput: in, Last: n, Count: n}
}

// embedAgain embeds as the workflow does: after a failure it waits as it is told.
func (f *fixture) embedAgain(in ingestion.EmbedInput) (held int) {
	for range 100 {
		err := act(f, f.Ingestion.EmbedChunks, in)
		application, ok := errors.AsType[*temporal.ApplicationError](err)
		if !ok || application.NonRetryable() {
			f.Must(err)
			return held
		}
		if in.Waited = step.IsHeld(err); in.Waited {
			held++
		}
		time.Sleep(application.NextRetryDelay())
	}
	f.Fatal("it was never embedded")
	return held
}

func TestProviderThatLimitsRequests(t *testing.T) {
	t.Parallel()

	t.Run("delays every document, and nothing is embedded twice", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		const pause = 2500 * time.Millisecond // longer than a step waits in its slot
		inputs := []ingestion.EmbedInput{f.chunksOf("a.txt", 300), f.chunksOf("b.txt", 300)}
		limit := modeltest.Fail(http.StatusTooManyRequests, "Retry-After-Ms", "2500")
		f.Server.ScriptEmbeddings(modeltest.Reply{}, modeltest.Reply{}, modeltest.Reply{}, limit)
		began := time.Now()
		var steps sync.WaitGroup
		held := make([]int, len(inputs))
		for i, in := range inputs {
			steps.Go(func() { held[i] = f.embedAgain(in) })
		}
		steps.Wait()
		if took := time.Since(began); took < pause {
			t.Errorf("it took %v", took)
		}
		if held[0]+held[1] == 0 {
			t.Error("no step was held although one was refused")
		}
		asked := 0
		for _, count := range f.Server.Embeddings() {
			if asked += count.Asked; count.Answered != 1 {
				t.Errorf("a batch was answered %d times", count.Answered)
			}
		}
		if asked != 2*5+1 {
			t.Errorf("%d requests for 10 batches of which one was refused", asked)
		}
	})

	t.Run("takes no slot from a step that would wait for long, which says when to come back", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		first, second := f.chunksOf("a.txt", 1), f.chunksOf("b.txt", 1)
		f.Server.ScriptEmbeddings(modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "60"))
		f.FailedWith(act(f, f.Ingestion.EmbedChunks, first), knowledge.CodeProviderFailed, true)
		began := time.Now()
		err := act(f, f.Ingestion.EmbedChunks, second)
		f.FailedWith(err, knowledge.CodeProviderFailed, true)
		if delay := retryDelay(err); !step.IsHeld(err) || delay < 59*time.Second || time.Since(began) > 10*time.Second {
			t.Errorf("held %t, for %v, after %v", step.IsHeld(err), delay, time.Since(began))
		}
		if n := f.Server.Totals().Embeddings.Asked; n != 1 {
			t.Errorf("%d requests", n)
		}
		second.Now = true
		f.Must(act(f, f.Ingestion.EmbedChunks, second))
		f.Must(act(f, f.Ingestion.EmbedChunks, first))
	})
}

// TestOutageInTheLog has an endpoint that fails for several documents: the log has one line
// of each cause.
func TestOutageInTheLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var replies []modeltest.Reply
	for range 3 {
		replies = append(replies, modeltest.Fail(http.StatusServiceUnavailable))
	}
	f.Server.ScriptEmbeddings(append(replies, modeltest.Fail(http.StatusBadGateway))...)
	inputs := []ingestion.EmbedInput{f.chunksOf("a.txt", 1), f.chunksOf("b.txt", 1)}
	for i := range 4 {
		f.FailedWith(act(f, f.Ingestion.EmbedChunks, inputs[i%2]), knowledge.CodeProviderFailed, true)
	}
	f.Must(act(f, f.Ingestion.EmbedChunks, inputs[0]))
	if n := strings.Count(f.Logged.String(), "model call failed"); n != 2 {
		t.Errorf("%d lines:\n%s", n, f.Logged.String())
	}
}

func TestBatchThatIsTooLargeForTheEndpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	large := modeltest.Fail(http.StatusRequestEntityTooLarge)
	f.Server.ScriptEmbeddings(large, large) // 64 texts, and then 32
	in := f.chunksOf("a.txt", 64)
	f.Must(act(f, f.Ingestion.EmbedChunks, in))
	totals := f.Server.Totals() // which counts an answer when it is written, perhaps after the client has it
	for deadline := time.Now().Add(10 * time.Second); totals.Embeddings.Answered < 3 && time.Now().Before(deadline); totals = f.Server.Totals() {
		time.Sleep(time.Millisecond)
	}
	if totals.Embeddings.Answered != 3 || totals.Embeddings.Asked != 5 {
		t.Errorf("%+v, want answers for 16, 16 and 32 texts", totals)
	}
	result, err := do(f, f.Ingestion.PublishDocument, ingestion.PublishInput{StepInput: in.StepInput, Count: in.Count})
	if f.Must(err); !result.Published {
		t.Error("it was not published")
	}
	before := f.Server.Totals().Embeddings.Asked
	f.Must(act(f, f.Ingestion.EmbedChunks, f.chunksOf("b.txt", 64)))
	if asked := f.Server.Totals().Embeddings.Asked - before; asked != 4 {
		t.Errorf("the next document needed %d requests, want 4 of 16 texts", asked)
	}

	t.Run("one text that is too large fails the document", func(t *testing.T) {
		f.Server.ScriptEmbeddings(large)
		f.FailedWith(act(f, f.Ingestion.EmbedChunks, f.chunksOf("c.txt", 1)), knowledge.CodeProviderFailed, false)
	})
}
