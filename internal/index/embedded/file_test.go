package embedded_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

var member = knowledge.NewPrincipal(knowledge.Claims{Workspace: "acme", Covered: []string{knowledge.EveryLevel}})

// passage returns a chunk of a document whose words, tokens, tags and metadata
// all contain mark.
func passage(mark string, document, ordinal int, vector []float32) index.Entry {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "%sword%d and common words ", mark, i*ordinal)
	}
	id := fmt.Sprintf("%s-document-%d", mark, document)
	return index.Entry{
		ChunkID: fmt.Sprintf("%s-%d", id, ordinal), Workspace: "acme", Project: "p", DocumentID: id, Version: 1, Ordinal: ordinal,
		Text: text.String(), Vector: vector, ACL: []string{"w:acme", "u:" + mark}, Tags: []string{mark}, Name: mark + ".txt",
		Classification: mark, Metadata: map[string]any{mark: mark}, CreatedAt: time.Unix(1, 0),
	}
}

func randomVector(r *rand.Rand, dimension int) []float32 {
	v := make([]float32, dimension)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// raw returns the bytes of the index's files.
func raw(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return append(data, wal...)
}

func TestRemoveDocument(t *testing.T) {
	t.Parallel()
	t.Run("leaves nothing of the document in the files", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "index.db")
		x := open(t, path)
		r := randomNumbers(t, 1)
		var vectors [][]float32
		// Documents to keep are before, between and after the removed one.
		for i := range 30 {
			for _, mark := range []string{"keepsake", "zebrafish"} {
				v := randomVector(r, 64)
				if mark == "zebrafish" {
					vectors = append(vectors, v)
				}
				if err := x.Upsert(t.Context(), []index.Entry{passage(mark, 0, i, v)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := raw(t, path)
		if !bytes.Contains(before, []byte("zebrafish")) || !containsVector(before, vectors[3]) {
			t.Fatal("the document is not in the files before it is removed: the scan proves nothing")
		}
		if err := x.RemoveDocument(t.Context(), "acme", "zebrafish-document-0", 1); err != nil {
			t.Fatal(err)
		}
		after := raw(t, path)
		for _, mark := range []string{"zebrafish", "zebraf", "ebrafi"} {
			if i := bytes.Index(after, []byte(mark)); i >= 0 {
				t.Errorf("%q is still in the files, at %d: %q", mark, i, after[max(0, i-20):min(len(after), i+40)])
			}
		}
		for i, v := range vectors {
			if containsVector(after, v) {
				t.Errorf("vector %d is still in the files", i)
			}
		}
		hits, err := x.BM25(t.Context(), index.Query{Principal: member, Limit: 100}, "keepsakeword0")
		if err != nil || len(hits) != 30 {
			t.Errorf("the other document has %d of 30 chunks, error %v", len(hits), err)
		}
	})
	t.Run("waits for a running query", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "index.db")
		x := open(t, path)
		if err := x.Upsert(t.Context(), []index.Entry{passage("zebrafish", 0, 1, nil)}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				_, _ = x.BM25(ctx, index.Query{Principal: member, Limit: 100}, "common") // it ends with the error of ctx
			}
		}()
		if err := x.RemoveDocument(t.Context(), "acme", "zebrafish-document-0", 1); err != nil {
			t.Error(err)
		}
		stop()
		<-done
		if bytes.Contains(raw(t, path), []byte("zebrafish")) {
			t.Error("words are still in the files")
		}
	})
}

func containsVector(data []byte, v []float32) bool {
	// Normalising may change the last bit of a component, so equality of all
	// would be too strict. Three consecutive exact components are enough.
	for i := range len(v) - 1 {
		var b []byte
		for _, f := range v[i : i+2] {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
		}
		if bytes.Contains(data, b) {
			return true
		}
	}
	return false
}

func TestOpen(t *testing.T) {
	t.Parallel()
	t.Run("finds the entries of a killed process", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "index.db")
		x := open(t, path)
		if err := x.Upsert(t.Context(), []index.Entry{passage("kept", 0, 1, []float32{1, 0})}); err != nil {
			t.Fatal(err)
		}
		// The files now are those that a killed process would leave.
		copied := filepath.Join(t.TempDir(), "copy.db")
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		y := open(t, copied)
		q := index.Query{Principal: member, Limit: 10}
		dense, err := y.Dense(t.Context(), q, []float32{1, 0})
		if err != nil || len(dense) != 1 {
			t.Errorf("dense: %v, error %v", dense, err)
		}
		words, err := y.BM25(t.Context(), q, "keptword0")
		if err != nil || len(words) != 1 {
			t.Errorf("BM25: %v, error %v", words, err)
		}
	})
	t.Run("only the owner can read the file", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "new", "index.db")
		open(t, path)
		for _, suffix := range []string{"", "-wal"} {
			info, err := os.Stat(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", filepath.Base(path+suffix), info.Mode())
			}
		}
	})
	t.Run("fails for a file that is not an index", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "index.db")
		if err := os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		if x, err := embedded.Open(t.Context(), embedded.Config{Path: path}); err == nil {
			t.Error("opened", x.Close())
		}
	})
}

// TestDenseIsExact compares the three ways of searching with the definition,
// over enough entries to use each of them.
func TestDenseIsExact(t *testing.T) {
	t.Parallel()
	x := open(t, filepath.Join(t.TempDir(), "index.db"))
	r := randomNumbers(t, 3)
	var entries []index.Entry
	for i := range 1600 {
		d := i / 2
		e := index.Entry{ChunkID: fmt.Sprintf("%04d", i), Workspace: "acme", Project: fmt.Sprint("p", d%3), DocumentID: fmt.Sprint("d", d),
			Version: 1, Vector: randomVector(r, 16), ACL: []string{fmt.Sprint("u:", d%8), "w:acme"}[:1+d%2], Metadata: map[string]any{"third": d / 3 % 3}}
		entries = append(entries, e)
	}
	if err := x.Upsert(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]index.Query{
		"most are allowed":       {Principal: knowledge.NewPrincipal(knowledge.Claims{Workspace: "acme", Groups: nil, User: "0", Covered: []string{knowledge.EveryLevel}}), Limit: 20},
		"one project":            {Principal: member, Limit: 20, Projects: []string{"p1"}},
		"two projects":           {Principal: member, Limit: 20, Projects: []string{"p1", "p2"}},
		"a filter leaves many":   {Principal: member, Limit: 20, Filter: knowledge.Filter{{Field: "metadata.third", Type: "ne", Value: 1.0}}},
		"a filter leaves few":    {Principal: member, Limit: 20, Documents: []string{"d1", "d2", "d3", "d5", "d7"}},
		"the limit is above all": {Principal: member, Limit: 2000},
	} {
		t.Run(name, func(t *testing.T) {
			vector := randomVector(r, 16)
			hits, err := x.Dense(t.Context(), q, vector)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, h := range hits {
				got = append(got, h.ChunkID)
			}
			for _, e := range nearest(entries, q, vector) {
				want = append(want, e.ChunkID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("found %v\n want %v", got, want)
			}
		})
	}
}

// nearest is the definition of a dense search, for the queries above.
func nearest(entries []index.Entry, q index.Query, vector []float32) []index.Entry {
	var allowed []index.Entry
	for _, e := range entries {
		if !q.Principal.Sees(e.Workspace, e.ACL) ||
			len(q.Projects) > 0 && !slices.Contains(q.Projects, e.Project) ||
			len(q.Documents) > 0 && !slices.Contains(q.Documents, e.DocumentID) ||
			len(q.Filter) > 0 && e.Metadata["third"] == 1 {
			continue
		}
		allowed = append(allowed, e)
	}
	product := func(e index.Entry) (sum float64) {
		for i := range vector {
			sum += float64(vector[i]) * float64(e.Vector[i])
		}
		return sum
	}
	slices.SortFunc(allowed, func(a, b index.Entry) int {
		if product(a) > product(b) {
			return -1
		}
		return 1
	})
	return allowed[:min(len(allowed), q.Limit)]
}
