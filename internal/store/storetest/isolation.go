package storetest

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

func testIsolation(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"another_workspace_sees_nothing_by_any_read":     nothingByID,
		"another_workspace_lists_nothing":                nothingInLists,
		"the_pipeline_finds_a_version_in_its_place_only": versionInPlace,
		"the_same_names_in_two_workspaces_do_not_meet":   sameNames,
	})
}

// belongings fills acme with one of everything.
func (f *fixture) belongings() (store.Version, []knowledge.Chunk) {
	f.Helper()
	v, chunks := f.publish(upload("a.txt", func(nv *store.NewVersion) {
		nv.Access = &knowledge.Access{Workspace: true, Users: []string{"ann"}, Groups: []string{"legal"}}
	}), "x")
	_, err := f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: "talk"})
	f.must(err)
	f.must(f.SaveMessages(f.ctx, "acme", store.Message{ID: "m1", ConversationID: "talk", ChunkIDs: []string{chunks[0].ID}}))
	f.must(f.SetPreferences(f.ctx, reader("ann"), []byte(`{"rag":{"model":"m"}}`)))
	f.must(f.CreateKey(f.ctx, store.Key{ID: "key", Workspace: "acme", Hash: "hash"}))
	return v, chunks
}

// intruders share every name with ann but the workspace.
func intruders() map[string]knowledge.Principal {
	c := knowledge.Claims{Workspace: "other", User: "ann", Groups: []string{"legal", "acme"}, KeyID: "reader", ConversationID: "talk"}
	list := map[string]knowledge.Principal{}
	for _, scope := range []knowledge.Scope{knowledge.ScopeWrite, knowledge.ScopeAdmin} {
		c.Scopes = []knowledge.Scope{scope}
		list[string(scope)] = knowledgetest.Principal(c)
	}
	c.Instance = true
	list["instance"] = knowledgetest.Principal(c)
	return list
}

func nothingByID(f *fixture) {
	v, chunks := f.belongings()
	for scope, p := range intruders() {
		for name, err := range f.everyRead(p, v, chunks[0].ID, "talk") {
			if !knowledge.IsCode(err, knowledge.CodeNotFound) {
				f.Errorf("%s by %s: %v, want code not_found", name, scope, err)
			}
		}
		_, err := f.RunForSystem(f.ctx, "other", v.RunID)
		f.wantCode(err, knowledge.CodeNotFound)
		f.wantCode(f.EndRun(f.ctx, "other", v.RunID, store.RunEnd{Status: knowledge.RunFailed}), knowledge.CodeNotFound)
		_, err = f.UpdateProject(f.ctx, p, "press", func(project *knowledge.Project) error { project.Name = "taken"; return nil })
		f.wantCode(err, knowledge.CodeNotFound)
		f.wantCode(f.SaveMessages(f.ctx, "other", store.Message{ID: "m2", ConversationID: "talk"}), knowledge.CodeNotFound)
	}
	if _, err := f.KeyByHash(f.ctx, "hash"); err != nil {
		f.Errorf("the key was revoked from another workspace: %v", err)
	}
	if d := f.document(v.Document); d.Status != knowledge.StatusPublished {
		f.Errorf("the document is %s", d.Status)
	}
}

func nothingInLists(f *fixture) {
	v, chunks := f.belongings()
	for scope, p := range intruders() {
		if got := f.sees(p, chunks...); len(got) != 0 {
			f.Errorf("%s sees %q", scope, got)
		}
		if got := f.names(p, store.DocumentQuery{}); len(got) != 0 {
			f.Errorf("%s lists %v", scope, got)
		}
		if missing, err := f.UnreachedDocuments(f.ctx, p, []string{v.Document}); err != nil || len(missing) != 1 {
			f.Errorf("%s reaches the document, %v", scope, err)
		}
		runs, _, err := f.Runs(f.ctx, p, store.RunQuery{})
		f.must(err)
		conversations, _, err := f.Conversations(f.ctx, p, store.Page{})
		f.must(err)
		keys, _, err := f.Keys(f.ctx, p, store.Page{})
		f.must(err)
		if len(runs)+len(conversations)+len(keys) != 0 {
			f.Errorf("%s lists %d runs, %d conversations, %d keys", scope, len(runs), len(conversations), len(keys))
		}
		projects, _, err := f.Projects(f.ctx, p, store.Page{})
		if err != nil || len(projects) != 1 || projects[0].Workspace != "other" {
			f.Errorf("%s lists the projects %+v, %v", scope, projects, err)
		}
		if preferences, err := f.Preferences(f.ctx, p); err != nil || string(preferences) != "{}" {
			f.Errorf("%s reads the preferences %s, %v", scope, preferences, err)
		}
		workspaces, _, err := f.Workspaces(f.ctx, p, store.Page{})
		f.must(err)
		if want := map[bool]int{false: 1, true: 2}[p.Instance()]; len(workspaces) != want {
			f.Errorf("%s lists %d workspaces", scope, len(workspaces))
		}
	}
}

func versionInPlace(f *fixture) {
	v := f.add(upload("a.txt"))
	for _, ref := range []knowledge.VersionRef{
		{Workspace: "other", Project: "handbook", Document: v.Document, Version: 1},
		{Workspace: "acme", Project: "press", Document: v.Document, Version: 1},
		{Workspace: "acme", Project: "handbook", Document: "missing", Version: 1},
	} {
		_, err := f.Version(f.ctx, ref)
		f.wantCode(err, knowledge.CodeNotFound)
		_, err = f.BeginVersion(f.ctx, ref, v.RunID, 0)
		f.wantCode(err, knowledge.CodeNotFound)
		_, err = f.Publish(f.ctx, ref)
		f.wantCode(err, knowledge.CodeNotFound)
		f.wantCode(f.PutChunks(f.ctx, ref, nil), knowledge.CodeNotFound)
		f.wantCode(f.FailVersion(f.ctx, ref, v.RunID, knowledge.DocumentError{}), knowledge.CodeNotFound)
	}
	foreign := v.VersionRef
	foreign.Workspace = "other"
	f.must(f.SetStage(f.ctx, foreign, knowledge.StageEmbed, 0.5, store.Facts{}))
	f.must(f.RemoveRows(f.ctx, store.Removal{Workspace: "other", Document: v.Document, Upto: 1}))
	if d := f.document(v.Document); d.Stage != knowledge.StageFetch || d.PublishedVersion != 0 {
		f.Errorf("changed from another workspace: %+v", d)
	}
	keys, err := f.SourceKeys(f.ctx, "other", v.Document, 0)
	if running, err2 := f.RunningVersions(f.ctx, "other", v.Document, 1); len(keys)+len(running) != 0 || err != nil || err2 != nil {
		f.Errorf("%v, %v, %v, %v", keys, running, err, err2)
	}
}

func sameNames(f *fixture) {
	there := knowledgetest.Principal(knowledge.Claims{Workspace: "other", User: "ann", Scopes: []knowledge.Scope{knowledge.ScopeRead}})
	for _, p := range []knowledge.Principal{reader("ann"), there} {
		c, err := f.EnsureConversation(f.ctx, p, store.Conversation{ID: "talk", Title: p.Workspace()})
		f.must(err)
		if c.Title != p.Workspace() || c.Workspace != p.Workspace() {
			f.Errorf("%s got the conversation %+v", p.Workspace(), c)
		}
		f.must(f.SaveMessages(f.ctx, p.Workspace(), store.Message{ID: "m", ConversationID: "talk", Text: p.Workspace(), CreatedAt: time.Now()}))
		f.must(f.SetPreferences(f.ctx, p, []byte(`"`+p.Workspace()+`"`)))
	}
	f.must(f.DeleteConversation(f.ctx, there, "talk"))
	list, _, err := f.Messages(f.ctx, reader("ann"), "talk", store.Page{})
	if err != nil || len(list) != 1 || list[0].Text != "acme" {
		f.Errorf("messages %+v, %v", list, err)
	}
	if got, err := f.Preferences(f.ctx, reader("ann")); err != nil || string(got) != `"acme"` {
		f.Errorf("preferences %s, %v", got, err)
	}
}
