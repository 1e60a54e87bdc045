package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// benchStore is a warm file with a thousand published documents.
func benchStore(b *testing.B) (*store.Store, []knowledge.Hit) {
	b.Helper()
	s, _ := openAt(b)
	var hits []knowledge.Hit
	lines := make([]knowledge.Line, 12)
	for i := range lines {
		lines[i] = knowledge.Line{Start: 80 * i, End: 80*i + 79, Page: 1, Box: knowledge.Box{X1: 72.5, Y1: 14.25 * float64(i), X2: 523.27, Y2: 14.25*float64(i) + 12}}
	}
	for i := range 1000 {
		_, v, err := s.AddVersion(b.Context(), newVersion(fmt.Sprint("document ", i)))
		must(b, err)
		chunks := make([]knowledge.Chunk, 3)
		for j := range chunks {
			chunks[j] = knowledge.Chunk{
				ID: knowledge.ChunkID(v.Document, 1, j), Ordinal: j, Text: strings.Repeat("a passage of a document ", 40),
				HeadingPath: []string{"Chapter", "Section"}, Lines: lines, Pages: []knowledge.PageSize{{Page: 1, Width: 595.28, Height: 841.89}},
			}
		}
		must(b, s.PutChunks(b.Context(), v.VersionRef, chunks))
		if i%20 == 0 {
			hits = append(hits, knowledge.Hit{ChunkID: chunks[1].ID, DocumentID: v.Document, Version: 1})
		}
		_, err = s.Publish(b.Context(), v.VersionRef)
		must(b, err)
	}
	return s, hits
}

func newVersion(name string) store.NewVersion {
	return store.NewVersion{
		Workspace: "w", Project: "p", DocumentID: knowledge.DocumentID("w", "p", name), ExternalID: name, Name: name, MediaType: "text/plain",
		Tags: []string{"one", "two"}, Metadata: map[string]any{"author": "Ann"}, Access: &knowledge.Access{Workspace: true}, RunID: knowledge.NewID(), Now: time.Now(),
	}
}

func BenchmarkVisibleChunks(b *testing.B) {
	s, hits := benchStore(b)
	p := knowledge.NewPrincipal(knowledge.Claims{Workspace: "w", User: "ann", Groups: []string{"a", "b"}})
	b.ReportAllocs()
	for b.Loop() {
		views, err := s.VisibleChunks(b.Context(), p, nil, hits)
		if err != nil || len(views) != 50 {
			b.Fatal(len(views), err)
		}
	}
}

func BenchmarkAddVersion(b *testing.B) {
	s, _ := benchStore(b)
	i := 0
	for b.Loop() {
		i++
		_, _, err := s.AddVersion(b.Context(), newVersion(fmt.Sprint("new ", i)))
		must(b, err)
	}
}

func BenchmarkSetStage(b *testing.B) {
	s, _ := benchStore(b)
	_, v, err := s.AddVersion(b.Context(), newVersion("new"))
	must(b, err)
	for b.Loop() {
		must(b, s.SetStage(b.Context(), v.VersionRef, knowledge.StageChunk, 0.3, store.Facts{ChunkCount: 3}))
	}
}

func BenchmarkPublish(b *testing.B) {
	s, _ := benchStore(b)
	i := 0
	for b.Loop() {
		i++
		b.StopTimer()
		_, v, err := s.AddVersion(b.Context(), newVersion(fmt.Sprint("new ", i)))
		must(b, err)
		b.StartTimer()
		_, err = s.Publish(b.Context(), v.VersionRef)
		must(b, err)
	}
}

func BenchmarkPutChunks(b *testing.B) {
	s, _ := benchStore(b)
	_, v, err := s.AddVersion(b.Context(), newVersion("new"))
	must(b, err)
	chunks := make([]knowledge.Chunk, 3)
	for j := range chunks {
		chunks[j] = knowledge.Chunk{ID: knowledge.ChunkID(v.Document, 1, j), Ordinal: j, Text: strings.Repeat("a passage of a document ", 40)}
	}
	for b.Loop() {
		must(b, s.PutChunks(b.Context(), v.VersionRef, chunks))
	}
}

func BenchmarkVersion(b *testing.B) {
	s, _ := benchStore(b)
	_, v, err := s.AddVersion(b.Context(), newVersion("new"))
	must(b, err)
	for b.Loop() {
		_, err := s.Version(b.Context(), v.VersionRef)
		must(b, err)
	}
}

func BenchmarkKeyByHash(b *testing.B) {
	s, _ := benchStore(b)
	must(b, s.CreateWorkspace(b.Context(), store.Workspace{ID: "w"}))
	must(b, s.CreateKey(b.Context(), store.Key{ID: "k", Workspace: "w", Hash: "hash"}))
	for b.Loop() {
		_, err := s.KeyByHash(b.Context(), "hash")
		must(b, err)
	}
}
