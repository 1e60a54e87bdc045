package ingestion_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestSamples(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]bool{"of chunks as they were cut": false, "of chunks in SQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			in := f.Upload("a", "The northern pier has a lighthouse.")
			f.Publish(in)
			if forget {
				f.Must(f.Blobs.Delete(f.Ctx, "w/p/"+in.Document+"/1/cut.json"))
			}
			list, err := f.Store.PublishedIn(f.Ctx, "", 8)
			f.Must(err)
			texts, vectors, err := ingestion.Samples(f.IngestionUses)(f.Ctx, "", list)
			f.Must(err)
			if len(list) != 1 || len(texts) != 1 || len(vectors) != 1 {
				t.Errorf("of %+v: texts %q, %d vectors", list, texts, len(vectors))
			}
		})
	}
}

// recordedAddresses are ingestion.EmbeddingAddresses in memory.
type recordedAddresses struct {
	at   map[string]string
	used string
	lost func() // is called once before an address is recorded
}

func (a *recordedAddresses) EmbeddingAddress(_ context.Context, generation string) (string, error) {
	return a.at[generation], nil
}

func (a *recordedAddresses) MoveEmbeddings(_ context.Context, generation, was, address string) (string, error) {
	if lost := a.lost; lost != nil {
		a.lost = nil
		lost()
	}
	if a.at[generation] == was {
		a.at[generation] = address
	}
	return a.at[generation], nil
}

func (a *recordedAddresses) UseGeneration(_ context.Context, generation string) error {
	a.used = generation
	return nil
}

func (a *recordedAddresses) PublishedIn(context.Context, string, int) ([]store.PublishedVersion, error) {
	return nil, nil
}

func TestRevisions(t *testing.T) {
	t.Parallel()
	first, second := []float32{1, 0}, []float32{0, 1}
	for name, test := range map[string]struct {
		recorded map[string]string
		stored   map[string][]float32 // vectors of documents, by generation
		answer   []float32            // of the endpoint at "here", nil = it does not answer
		want     string               // "" = an error
		calls    int
	}{
		"the first start records the address":         {map[string]string{}, nil, nil, "m/0", 0},
		"the same address is not asked":               {map[string]string{"m/0": "here"}, map[string][]float32{"m/0": first}, nil, "m/0", 0},
		"without documents only the address moves":    {map[string]string{"m/0": "there"}, nil, nil, "m/0", 0},
		"equal vectors are of the same generation":    {map[string]string{"m/0": "there"}, map[string][]float32{"m/0": first}, []float32{2, 0.01}, "m/0", 1},
		"other vectors begin a revision":              {map[string]string{"m/0": "there"}, map[string][]float32{"m/0": first}, second, "m #2/0", 1},
		"vectors of another length begin a revision":  {map[string]string{"m/0": "there"}, map[string][]float32{"m/0": first}, []float32{1, 0, 0}, "m #2/0", 1},
		"an earlier endpoint has its revision again":  {map[string]string{"m/0": "here", "m #2/0": "there"}, map[string][]float32{"m/0": first, "m #2/0": second}, nil, "m/0", 0},
		"an earlier model elsewhere has its revision": {map[string]string{"m/0": "a", "m #2/0": "b"}, map[string][]float32{"m/0": first, "m #2/0": second}, first, "m/0", 2},
		"an endpoint that is down decides nothing":    {map[string]string{"m/0": "there"}, map[string][]float32{"m/0": first}, nil, "", 1},
		"a third model begins a third revision":       {map[string]string{"m/0": "a", "m #2/0": "b"}, map[string][]float32{"m/0": first, "m #2/0": second}, []float32{-1, 0}, "m #3/0", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, calls := &recordedAddresses{at: test.recorded}, 0
			r := revisionsOf(a, "here", test.stored, func() []float32 { calls++; return test.answer })
			for range 2 {
				got, err := r.Revision(t.Context(), "m/0")
				if got != test.want || (err != nil) != (test.want == "") || calls != test.calls || a.used != test.want {
					t.Errorf("got %q, %v, after %d calls; used is %q", got, err, calls, a.used)
				}
			}
			if n := len(r.Undecided()); (n == 1) != (test.want == "") {
				t.Errorf("%d are undecided", n)
			}
		})
	}
	t.Run("of two processes the first decides", func(t *testing.T) {
		t.Parallel()
		a := &recordedAddresses{at: map[string]string{"m/0": "there"}}
		a.lost = func() { a.at["m #2/0"] = "elsewhere" }
		r := revisionsOf(a, "here", map[string][]float32{"m/0": first}, func() []float32 { return second })
		if got, err := r.Revision(t.Context(), "m/0"); err != nil || got != "m #3/0" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("a generation of another endpoint is a conflict that a reindex repairs", func(t *testing.T) {
		t.Parallel()
		a := &recordedAddresses{at: map[string]string{"m/0": "there"}}
		r := revisionsOf(a, "here", map[string][]float32{"m/0": first}, func() []float32 { return second })
		err := r.Check(t.Context(), "m/0")
		if e, ok := errors.AsType[*knowledge.Error](err); !ok || e.Code != knowledge.CodeConflict || !e.Retryable {
			t.Errorf("got %v", err)
		}
		if err := r.Check(t.Context(), "m #2/0"); err != nil {
			t.Error(err)
		}
	})
}

// revisionsOf returns the Revisions of an endpoint with one document in each generation.
func revisionsOf(a *recordedAddresses, address string, stored map[string][]float32, answer func() []float32) *ingestion.Revisions {
	return &ingestion.Revisions{
		Addresses: a, Log: slog.New(slog.DiscardHandler),
		Samples: func(_ context.Context, generation string, _ []store.PublishedVersion) ([]string, [][]float32, error) {
			if stored[generation] == nil {
				return nil, nil, nil
			}
			return []string{"text"}, [][]float32{stored[generation]}, nil
		},
		Address: func(string) string { return address },
		Embed: func(context.Context, string, []string) ([][]float32, error) {
			if vector := answer(); vector != nil {
				return [][]float32{slices.Clone(vector)}, nil
			}
			return nil, errors.New("connection refused")
		},
	}
}
