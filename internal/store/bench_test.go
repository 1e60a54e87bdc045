package store_test

import (
	"fmt"
	"strings"
	"syscall"
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

// reportCPU reports the processor time of an operation, user and system, which
// other processes disturb less than its duration. Call it before the loop, and
// what it returns after.
func reportCPU(b *testing.B) func() {
	b.Helper()
	used := func() int64 {
		var u syscall.Rusage
		must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}

// BenchmarkDocument measures the transactions of a short document.
func BenchmarkDocument(b *testing.B) {
	s, _ := benchStore(b)
	ctx := b.Context()
	must(b, s.CreateWorkspace(ctx, store.Workspace{ID: "w"}))
	must(b, s.CreateProject(ctx, knowledge.Project{ID: "p", Workspace: "w"}))
	must(b, s.CreateKey(ctx, store.Key{ID: "k", Workspace: "w", Hash: "hash"}))
	b.ReportAllocs()
	defer reportCPU(b)()
	for i := 0; b.Loop(); i++ {
		_, err := s.KeyByHash(ctx, "hash")
		must(b, err)
		_, err = s.Project(ctx, manager(), "p")
		must(b, err)
		_, v, err := s.AddVersion(ctx, newVersion(fmt.Sprint("new ", i)))
		must(b, err)
		_, err = s.PrepareVersion(ctx, v.VersionRef, v.RunID, 1, knowledge.StageEmbed, 0.4, store.Facts{Language: "eng", ChunkCount: 3})
		must(b, err)
		_, err = s.Version(ctx, v.VersionRef)
		must(b, err)
		_, err = s.RunForSystem(ctx, "w", v.RunID)
		must(b, err)
		_, err = s.PublishVersion(ctx, store.Publication{
			Ref: v.VersionRef, RunID: v.RunID, Chunks: chunksOf(v.VersionRef, 3), End: &store.RunEnd{Status: knowledge.RunCompleted, LogKey: "log"},
		})
		must(b, err)
		_, err = s.Document(ctx, manager(), v.Document)
		must(b, err)
	}
}

// BenchmarkQuestion measures the transactions of a question, without its search.
func BenchmarkQuestion(b *testing.B) {
	s, hits := benchStore(b)
	ctx := b.Context()
	must(b, s.CreateWorkspace(ctx, store.Workspace{ID: "w"}))
	must(b, s.CreateProject(ctx, knowledge.Project{ID: "p", Workspace: "w"}))
	must(b, s.CreateKey(ctx, store.Key{ID: "k", Workspace: "w", Hash: "hash"}))
	ann := knowledge.NewPrincipal(knowledge.Claims{Workspace: "w", User: "ann", Scopes: []knowledge.Scope{knowledge.ScopeRead}, Covered: []string{knowledge.EveryLevel}})
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		id := knowledge.NewID()
		_, err := s.KeyByHash(ctx, "hash")
		must(b, err)
		_, err = s.Project(ctx, ann, "p")
		must(b, err)
		_, err = s.Preferences(ctx, ann)
		must(b, err)
		r := store.Run{ID: id, Workspace: "w", Project: "p", Kind: "query", Owner: ann.Owner(), ConversationID: id}
		_, err = s.StartRun(ctx, ann, r, &store.Conversation{ID: id, Title: "A question"})
		must(b, err)
		_, err = s.Run(ctx, ann, id)
		must(b, err)
		_, err = s.Superseded(ctx, ann, []string{"p"}, hits)
		must(b, err)
		_, err = s.RunForSystem(ctx, "w", id)
		must(b, err)
		must(b, s.EndAnswer(ctx, "w", id, store.RunEnd{Status: knowledge.RunCompleted, LogKey: "log", ResultKey: "answer"},
			store.Message{ID: "q" + id, ConversationID: id, RunID: id, Role: "user", Text: "Why?", Status: "completed"},
			store.Message{ID: "a" + id, ConversationID: id, RunID: id, Role: "assistant", Text: "Because.", Status: "completed", ChunkIDs: []string{hits[0].ChunkID, hits[1].ChunkID}}))
	}
}

func BenchmarkVisibleChunks(b *testing.B) {
	s, hits := benchStore(b)
	p := knowledge.NewPrincipal(knowledge.Claims{Workspace: "w", User: "ann", Groups: []string{"a", "b"}, Covered: []string{knowledge.EveryLevel}})
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
