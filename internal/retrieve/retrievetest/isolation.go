package retrievetest

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// Store is the part of the store that ingestion, changes and searches use.
type Store interface {
	retrieve.ChunkReader
	CreateWorkspace(ctx context.Context, w store.Workspace) error
	CreateProject(ctx context.Context, p knowledge.Project, keys ...store.Key) error
	EnsureConversation(ctx context.Context, p knowledge.Principal, c store.Conversation) (store.Conversation, error)
	AddVersion(ctx context.Context, nv store.NewVersion) (knowledge.Document, store.Version, error)
	BeginVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64) (store.Version, error)
	SetStage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, f store.Facts) error
	PublishVersion(ctx context.Context, p store.Publication) (store.Published, error)
	UpdateDocument(ctx context.Context, p knowledge.Principal, id string, patch store.DocumentPatch) (knowledge.Document, error)
	AddGrant(ctx context.Context, p knowledge.Principal, g knowledge.Grant) (knowledge.Grant, error)
	RemoveGrant(ctx context.Context, p knowledge.Principal, id string) error
	MarkRemoving(ctx context.Context, p knowledge.Principal, documentID, runID string, now time.Time) (store.Removal, error)
}

// Isolation makes a number of random changes in an empty store and an empty
// index, and searches after each. It fails the test if a search returns a chunk
// that its principal may not see, or misses one that it may see. The same seed
// makes the same changes and searches.
//
// The index lags behind the store at random, as after a crash: a chunk that is
// no longer visible must never be returned even then, and may only be missing
// if the index does not know its newest access yet.
func Isolation(t *testing.T, s Store, x index.Index, seed uint64, changes int) {
	t.Logf("seed %d", seed)
	w := newWorld(t, s, x, seed)
	for range changes {
		changed := w.change()
		// The next search is of somebody who could see the document before.
		w.search(w.holder(changed))
		w.search(w.anyone())
		if w.one(8) {
			w.catchUp()
		}
	}
	w.catchUp()
	for range 20 {
		who := w.anyone()
		w.search(who)
		w.searchIndex(who)
	}
	if w.shown == 0 || w.hidden == 0 {
		t.Errorf("the searches showed %d chunks and hid %d: they prove nothing", w.shown, w.hidden)
	}
}

// Names are shared by users, groups, external users, conversations and one
// workspace, so that a mistaken kind of token shows.
var (
	names      = []string{"a", "b", "c"}
	workspaces = []string{"a", "main", "u:a"}
	projects   = []string{"p", "q"}
)

// world is the state that the store and the index should have.
type world struct {
	*testing.T
	*rand.Rand
	store     Store
	index     index.Index
	retriever *retrieve.Retriever
	documents []*document
	grants    []knowledge.Grant
	words     int // distinct words that were written
	shown     int // chunks that searches returned, and that they rightly did not
	hidden    int
}

func newWorld(t *testing.T, s Store, x index.Index, seed uint64) *world {
	w := &world{T: t, Rand: rand.New(rand.NewPCG(seed, 0)), store: s, index: x, retriever: retrieve.New(x, s, hashed{})}
	for _, workspace := range workspaces {
		w.must(s.CreateWorkspace(t.Context(), store.Workspace{ID: workspace, Name: workspace}))
		for _, project := range projects {
			w.must(s.CreateProject(t.Context(), knowledge.Project{ID: project, Workspace: workspace, Name: project}))
		}
		for _, conversation := range names {
			_, err := s.EnsureConversation(t.Context(), knowledgetest.Principal(knowledge.Claims{Workspace: workspace, KeyID: "key"}), store.Conversation{ID: conversation})
			w.must(err)
		}
	}
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// one reports true in one of n cases.
func (w *world) one(n int) bool { return w.IntN(n) == 0 }

func pick[E any](w *world, list []E) E { return list[w.IntN(len(list))] }

// some returns each element of list with the probability of one half.
func some[E any](w *world, list []E) (chosen []E) {
	for _, e := range list {
		if w.one(2) {
			chosen = append(chosen, e)
		}
	}
	return chosen
}
