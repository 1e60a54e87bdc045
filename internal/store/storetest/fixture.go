package storetest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

// Run runs the contract suite. open returns a fresh, empty store, and closes it
// when the test ends.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, group := range []struct {
		name string
		run  func(t *testing.T, open func(t *testing.T) Store)
	}{
		{"versions", testVersions},
		{"unchanged", testUnchanged},
		{"attributes", testAttributes},
		{"publishing", testPublishing},
		{"combined", testCombined},
		{"batches", testBatches},
		{"reindex", testReindex},
		{"backlog", testBacklog},
		{"superseded", testSuperseded},
		{"siblings", testSiblings},
		{"documents", testDocuments},
		{"children", testChildren},
		{"found", testFound},
		{"facets", testFacets},
		{"room", testRoom},
		{"rates", testRates},
		{"limits", testLimits},
		{"uploads", testUploads},
		{"permissions", testPermissions},
		{"explain", testExplain},
		{"clearance", testClearance},
		{"grants", testGrants},
		{"holds", testHolds},
		{"retention", testRetention},
		{"consents", testConsents},
		{"publications", testPublications},
		{"erasure", testErasure},
		{"isolation", testIsolation},
		{"removal", testRemoval},
		{"project_removal", testProjectRemoval},
		{"imports", testImports},
		{"imported_objects", testImportedObjects},
		{"syncs", testSyncs},
		{"followed_objects", testFollowedObjects},
		{"citations", testCitations},
		{"conversation_order", testConversationOrder},
		{"conversations", testConversations},
		{"shares", testShares},
		{"runs", testRuns},
		{"webhook_events", testWebhookEvents},
		{"webhook_queue", testWebhookQueue},
		{"idempotency", testIdempotency},
		{"tenancy", testTenancy},
		{"secrets", testSecrets},
		{"data_keys", testDataKeys},
		{"roles", testRoles},
		{"provisioning", testProvisioning},
		{"pages", testPages},
		{"found_parts", testFoundParts},
		{"hostile_input", testHostileInput},
		{"generations", testGenerations},
		{"reports", testReports},
		{"evaluations", testEvaluations},
		{"health", testHealth},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			group.run(t, open)
		})
	}
}

// fixture is a store with two workspaces: acme with the projects handbook and
// press, and other with a project handbook.
type fixture struct {
	testing.TB
	Store
	ctx context.Context
}

func newFixture(t *testing.T, open func(t *testing.T) Store) *fixture {
	t.Helper()
	f := &fixture{t, open(t), t.Context()}
	for _, w := range []string{"acme", "other"} {
		f.must(f.CreateWorkspace(f.ctx, store.Workspace{ID: w, Name: w}))
		f.must(f.CreateProject(f.ctx, knowledge.Project{ID: "handbook", Workspace: w, Name: "Handbook"}))
	}
	f.must(f.CreateProject(f.ctx, knowledge.Project{ID: "press", Workspace: "acme", Name: "Press"}))
	return f
}

// each runs subtests side by side, each on a store of its own.
func each(t *testing.T, open func(t *testing.T) Store, tests map[string]func(f *fixture)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newFixture(t, open))
		})
	}
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) wantCode(err error, code knowledge.Code) {
	f.Helper()
	if !knowledge.IsCode(err, code) {
		f.Errorf("got error %v, want code %s", err, code)
	}
}

// wantField is wantCode for an invalid request, with the place of the mistake.
func (f *fixture) wantField(err error, location string) {
	f.Helper()
	f.wantCode(err, knowledge.CodeInvalid)
	if fields := knowledge.AsError(err).Fields; len(fields) != 1 || fields[0].Location != location {
		f.Errorf("the error names %v, want %s", fields, location)
	}
}

// reader reads in acme as user, and in groups.
func reader(user string, groups ...string) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{
		Workspace: "acme", Scopes: []knowledge.Scope{knowledge.ScopeRead}, KeyID: "reader", User: user, Groups: groups,
	})
}

// manager has the write scope in a workspace, by a key, and the highest clearance.
func manager(workspace string) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{
		Workspace: workspace, Scopes: []knowledge.Scope{knowledge.ScopeWrite}, KeyID: "manager", Covered: []string{knowledge.EveryLevel},
	})
}

// everyone is the access of a document that its whole workspace sees.
var everyone = knowledge.Access{Workspace: true}

// upload is an upload to acme/handbook that the whole workspace may see.
func upload(name string, change ...func(*store.NewVersion)) store.NewVersion {
	nv := store.NewVersion{
		Workspace: "acme", Project: "handbook", ExternalID: name, Name: name, MediaType: "text/plain",
		Bytes: 100, Access: &everyone, RunID: knowledge.NewID(), Now: time.Now(),
	}
	for _, c := range change {
		c(&nv)
	}
	if nv.DocumentID == "" {
		nv.DocumentID = knowledge.DocumentID(nv.Workspace, nv.Project, nv.ExternalID)
	}
	nv.SourceKey = nv.DocumentID + "/upload-" + nv.RunID
	return nv
}

func (f *fixture) add(nv store.NewVersion) store.Version {
	f.Helper()
	if nv.ConversationID != nil && *nv.ConversationID != "" {
		if _, err := f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: *nv.ConversationID}); !knowledge.IsCode(err, knowledge.CodeNotFound) {
			f.must(err) // not found: it is another reader's
		}
	}
	_, v, err := f.AddVersion(f.ctx, nv)
	f.must(err)
	return v
}

// passages makes chunks of a version, one of each text.
func passages(ref knowledge.VersionRef, texts ...string) []knowledge.Chunk {
	chunks := make([]knowledge.Chunk, 0, len(texts))
	for i, text := range texts {
		chunks = append(chunks, knowledge.Chunk{
			ID: knowledge.ChunkID(ref.Document, ref.Version, i), DocumentID: ref.Document, Version: ref.Version, Ordinal: i,
			Text: text, Span: knowledge.Span{Start: 10 * i, End: 10*i + len([]rune(text))}, Language: "eng",
		})
	}
	return chunks
}

// hitsOf are search hits for chunks.
func hitsOf(chunks ...knowledge.Chunk) []knowledge.Hit {
	hits := make([]knowledge.Hit, 0, len(chunks))
	for i, c := range chunks {
		hits = append(hits, knowledge.Hit{ChunkID: c.ID, DocumentID: c.DocumentID, Version: c.Version, Score: 1 / float64(i+1)})
	}
	return hits
}

// publish takes a version from its upload to its publication.
func (f *fixture) publish(nv store.NewVersion, texts ...string) (store.Version, []knowledge.Chunk) {
	f.Helper()
	v := f.add(nv)
	_, err := f.BeginVersion(f.ctx, v.VersionRef, v.RunID, 0)
	f.must(err)
	chunks := passages(v.VersionRef, texts...)
	f.must(f.SetStage(f.ctx, v.VersionRef, knowledge.StageChunk, 0.35, store.Facts{ChunkCount: len(chunks)}))
	f.must(f.PutChunks(f.ctx, v.VersionRef, chunks))
	published, err := f.Publish(f.ctx, v.VersionRef)
	f.must(err)
	if !published.Done {
		f.Fatalf("version %d of %s was not published", v.Version, nv.Name)
	}
	f.must(f.RetireChunks(f.ctx, v.VersionRef))
	f.must(f.EndRun(f.ctx, v.Workspace, v.RunID, store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()}))
	return v, chunks
}

// remove takes a document away, all steps at once.
func (f *fixture) remove(p knowledge.Principal, document string) store.Removal {
	f.Helper()
	_, err := f.MarkRemoving(f.ctx, p, document, knowledge.NewID(), time.Now())
	f.must(err)
	r, err := f.Removal(f.ctx, p, document)
	f.must(err)
	f.must(f.RemoveRows(f.ctx, r))
	return r
}

// sees are the texts of chunks that pass the check for a principal.
func (f *fixture) sees(p knowledge.Principal, chunks ...knowledge.Chunk) []string {
	f.Helper()
	views, err := f.VisibleChunks(f.ctx, p, nil, hitsOf(chunks...))
	f.must(err)
	texts := []string{}
	for _, v := range views {
		texts = append(texts, v.Text)
	}
	return texts
}

func (f *fixture) document(id string) knowledge.Document {
	f.Helper()
	d, err := f.Document(f.ctx, manager("acme"), id)
	f.must(err)
	return d
}

func numbered(prefix string, i int) string { return prefix + strconv.Itoa(i) }
