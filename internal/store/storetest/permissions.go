package storetest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

func testPermissions(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"tokens_decide_who_finds_a_document":         tokensDecide,
		"the_write_scope_manages_but_does_not_find":  managingIsNotFinding,
		"what_is_not_published_is_for_who_manages":   notPublished,
		"versions_are_for_those_who_may_read_them":   versionNames,
		"a_principal_of_a_project_stays_in_it":       staysInProject,
		"the_zero_principal_is_refused_by_each_read": zeroPrincipal,
	})
}

// claims returns a reading principal of acme with some claims changed.
func claims(change func(*knowledge.Claims)) knowledge.Principal {
	c := knowledge.Claims{Workspace: "acme", Scopes: []knowledge.Scope{knowledge.ScopeRead}, KeyID: "k"}
	change(&c)
	return knowledgetest.Principal(c)
}

func tokensDecide(f *fixture) {
	var chunks []knowledge.Chunk
	var ids []string
	for name, change := range map[string]func(*store.NewVersion){
		"everyone": func(*store.NewVersion) {},
		"nobody":   func(nv *store.NewVersion) { nv.Access = &knowledge.Access{} },
		"ann":      func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"ann"}} },
		"legal":    func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Groups: []string{"legal", "board"}} },
		"both": func(nv *store.NewVersion) {
			nv.Access = &knowledge.Access{Users: []string{"bob"}, Groups: []string{"legal"}}
		},
		"external": func(nv *store.NewVersion) { nv.ExternalUserID = new("42") },
		"session":  func(nv *store.NewVersion) { nv.ConversationID = new("talk") },
	} {
		v, c := f.publish(upload(name, change), name)
		chunks, ids = append(chunks, c...), append(ids, v.Document)
	}
	for name, test := range map[string]struct {
		p    knowledge.Principal
		want []string
	}{
		"a_key":                  {claims(func(*knowledge.Claims) {}), []string{"everyone"}},
		"ann":                    {claims(func(c *knowledge.Claims) { c.User = "ann" }), []string{"ann", "everyone"}},
		"a_user_named_as_others": {claims(func(c *knowledge.Claims) { c.User = "g:legal" }), []string{"everyone"}},
		"a_lawyer":               {claims(func(c *knowledge.Claims) { c.User, c.Groups = "eve", []string{"legal"} }), []string{"both", "everyone", "legal"}},
		"the_external_user":      {claims(func(c *knowledge.Claims) { c.ExternalUser = "42" }), []string{"everyone", "external"}},
		"another_external_user":  {claims(func(c *knowledge.Claims) { c.ExternalUser = "4" }), []string{"everyone"}},
		"the_session":            {claims(func(c *knowledge.Claims) { c.ConversationID = "talk" }), []string{"everyone", "session"}},
		"a_user_named_42":        {claims(func(c *knowledge.Claims) { c.User = "42" }), []string{"everyone"}},
	} {
		if diff := cmp.Diff(test.want, f.names(test.p, store.DocumentQuery{})); diff != "" {
			f.Errorf("%s lists: %s", name, diff)
		}
		found := map[string]bool{}
		for _, text := range f.sees(test.p, chunks...) {
			found[text] = true
		}
		missing, err := f.UnreachedDocuments(f.ctx, test.p, ids)
		f.must(err)
		if len(found) != len(test.want) || len(missing) != len(ids)-len(test.want) {
			f.Errorf("%s finds %v and misses %d of %d", name, found, len(missing), len(ids))
		}
		for i, c := range chunks {
			_, err := f.Chunk(f.ctx, test.p, c.ID)
			if found[c.Text] != (err == nil) {
				f.Errorf("%s opens a chunk of %s: %v", name, c.Text, err)
			}
			if _, err := f.Document(f.ctx, test.p, ids[i]); found[c.Text] != (err == nil) {
				f.Errorf("%s opens the document %s: %v", name, c.Text, err)
			}
		}
	}
}

func managingIsNotFinding(f *fixture) {
	v, chunks := f.publish(upload("private", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"ann"}} }), "secret")
	p := manager("acme")
	if got := f.sees(p, chunks...); len(got) != 0 {
		f.Errorf("a search by a manager returns %q", got)
	}
	missing, err := f.UnreachedDocuments(f.ctx, p, []string{v.Document})
	f.must(err)
	if diff := cmp.Diff([]string{v.Document}, missing); diff != "" {
		f.Error(diff)
	}
	if got := f.names(p, store.DocumentQuery{}); len(got) != 1 {
		f.Errorf("a manager lists %v", got)
	}
	if list, _, err := f.DocumentChunks(f.ctx, p, v.Document, store.Page{}); err != nil || len(list) != 1 {
		f.Errorf("a manager opens %d chunks, %v", len(list), err)
	}
	if _, err := f.Chunk(f.ctx, p, chunks[0].ID); err != nil {
		f.Errorf("a manager opens the chunk: %v", err)
	}
}

func notPublished(f *fixture) {
	failed := f.add(upload("failed"))
	f.must(f.FailVersion(f.ctx, failed.VersionRef, failed.RunID, knowledge.DocumentError{Code: knowledge.CodeEncrypted}))
	pending := map[string]store.Version{
		"pending":  f.add(upload("pending")),
		"failed":   failed,
		"external": f.add(upload("external", func(nv *store.NewVersion) { nv.ExternalUserID = new("42") })),
		"session":  f.add(upload("session", func(nv *store.NewVersion) { nv.ConversationID = new("talk") })),
	}
	for name, test := range map[string]struct {
		p    knowledge.Principal
		want []string
	}{
		"a reader":          {reader("ann"), []string{}},
		"the external user": {claims(func(c *knowledge.Claims) { c.ExternalUser = "42" }), []string{"external"}},
		"the session":       {claims(func(c *knowledge.Claims) { c.ConversationID = "talk" }), []string{"session"}},
		"a manager":         {manager("acme"), []string{"external", "failed", "pending", "session"}},
	} {
		if diff := cmp.Diff(test.want, f.names(test.p, store.DocumentQuery{})); diff != "" {
			f.Errorf("%s lists: %s", name, diff)
		}
		for document, v := range pending {
			want := slices.Contains(test.want, document)
			_, err := f.Document(f.ctx, test.p, v.Document)
			versions, _, listing := f.Versions(f.ctx, test.p, v.Document, store.Page{})
			_, running := f.Run(f.ctx, test.p, v.RunID)
			if (err == nil) != want || (listing == nil) != want || (running == nil) != want || want && len(versions) != 1 {
				f.Errorf("%s opens %s: %v, %v, %v", name, document, err, listing, running)
			}
		}
	}
	for name, p := range map[string]knowledge.Principal{"a reader": reader("ann"), "a manager": manager("acme")} {
		missing, err := f.UnreachedDocuments(f.ctx, p, []string{failed.Document})
		f.must(err)
		named, err := f.UnsearchableDocuments(f.ctx, p, []string{failed.Document}, nil)
		if f.must(err); len(named) != 1 || named[0].ID != failed.Document || named[0].Error == nil {
			f.Errorf("without text are %v", named)
		}
		if reached := len(missing) == 0; reached != p.Can(knowledge.ScopeWrite) {
			f.Errorf("%s may name what has failed: %t", name, reached)
		}
	}
}

func versionNames(f *fixture) {
	v1, _ := f.publish(upload("a.txt", func(nv *store.NewVersion) { nv.Name, nv.Access = "one", users("ann") }), "one")
	v2, _ := f.publish(upload("a.txt", func(nv *store.NewVersion) { nv.Name, nv.Access = "two", &everyone }), "two")
	v3 := f.add(upload("a.txt", func(nv *store.NewVersion) { nv.Name, nv.Access = "three", users("eve") }))
	for name, test := range map[string]struct {
		p    knowledge.Principal
		want []string
	}{
		"ann":       {reader("ann"), []string{"two", "one"}},
		"bob":       {reader("bob"), []string{"two"}},
		"eve":       {reader("eve"), []string{"two"}},
		"a manager": {manager("acme"), []string{"three", "two", "one"}},
	} {
		list, _, err := f.Versions(f.ctx, test.p, v1.Document, store.Page{})
		f.must(err)
		got := []string{}
		for _, v := range list {
			got = append(got, v.Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			f.Errorf("%s: %s", name, diff)
		}
		runs, _, err := f.Runs(f.ctx, test.p, store.RunQuery{})
		if err != nil || len(runs) != len(test.want) {
			f.Errorf("%s lists %d runs of versions, %v", name, len(runs), err)
		}
		for _, v := range []store.Version{v1, v2, v3} {
			opened, err := f.VersionFor(f.ctx, test.p, v.Document, v.Version)
			_, following := f.Run(f.ctx, test.p, v.RunID)
			if slices.Contains(test.want, v.Name) {
				if err != nil || following != nil || opened.Name != v.Name {
					f.Errorf("%s opens %s: %q, %v, its run: %v", name, v.Name, opened.Name, err, following)
				}
				continue
			}
			f.wantCode(err, knowledge.CodeNotFound)
			f.wantCode(following, knowledge.CodeNotFound)
		}
	}
}

func staysInProject(f *fixture) {
	inside, chunks := f.publish(upload("inside"), "inside")
	outside, others := f.publish(upload("outside", func(nv *store.NewVersion) { nv.Project = "press" }), "outside")
	all := slices.Concat(chunks, others)
	for _, scope := range []knowledge.Scope{knowledge.ScopeRead, knowledge.ScopeAdmin} {
		p := claims(func(c *knowledge.Claims) { c.Project, c.Scopes = "handbook", []knowledge.Scope{scope} })
		if diff := cmp.Diff([]string{"inside"}, f.sees(p, all...)); diff != "" {
			f.Error(diff)
		}
		if diff := cmp.Diff([]string{"inside"}, f.names(p, store.DocumentQuery{})); diff != "" {
			f.Error(diff)
		}
		views, err := f.VisibleChunks(f.ctx, p, []string{"press"}, hitsOf(all...))
		if err != nil || len(views) != 0 {
			f.Errorf("sees %+v of the project press, %v", views, err)
		}
		for id, want := range map[string]bool{inside.Document: true, outside.Document: false} {
			_, err := f.Document(f.ctx, p, id)
			_, _, versions := f.Versions(f.ctx, p, id, store.Page{})
			if (err == nil) != want || (versions == nil) != want {
				f.Errorf("opens %s: %v, %v", id, err, versions)
			}
		}
		_, err = f.Chunk(f.ctx, p, others[0].ID)
		f.wantCode(err, knowledge.CodeNotFound)
		_, _, err = f.Documents(f.ctx, p, store.DocumentQuery{Project: "press"})
		f.wantCode(err, knowledge.CodeNotFound)
		_, err = f.Project(f.ctx, p, "press")
		f.wantCode(err, knowledge.CodeNotFound)
		list, _, err := f.Projects(f.ctx, p, store.Page{})
		if err != nil || len(list) != 1 {
			f.Errorf("%d projects, %v", len(list), err)
		}
	}
	views, err := f.VisibleChunks(f.ctx, reader("ann"), []string{"press"}, hitsOf(all...))
	if err != nil || len(views) != 1 || views[0].Text != "outside" {
		f.Errorf("one project of several: %+v, %v", views, err)
	}
}

func zeroPrincipal(f *fixture) {
	v, chunks := f.publish(upload("a.txt"), "x")
	for name, err := range f.everyRead(knowledge.Principal{}, v, chunks[0].ID, "talk") {
		if !knowledge.IsCode(err, knowledge.CodeForbidden) {
			f.Errorf("%s: %v, want code forbidden", name, err)
		}
	}
	_, err := f.EnsureConversation(f.ctx, knowledge.Principal{}, store.Conversation{ID: "talk"})
	f.wantCode(err, knowledge.CodeForbidden)
	f.wantCode(f.SetPreferences(f.ctx, knowledge.Principal{}, []byte("{}")), knowledge.CodeForbidden)
	_, err = f.UpdateProject(f.ctx, knowledge.Principal{}, "handbook", func(*knowledge.Project) error { return nil })
	f.wantCode(err, knowledge.CodeForbidden)
}

// everyRead calls each method that takes a principal and an id of acme.
func (f *fixture) everyRead(p knowledge.Principal, v store.Version, chunk, conversation string) map[string]error {
	errs := map[string]error{}
	_, errs["Document"] = f.Document(f.ctx, p, v.Document)
	_, _, errs["Versions"] = f.Versions(f.ctx, p, v.Document, store.Page{})
	_, errs["VersionFor"] = f.VersionFor(f.ctx, p, v.Document, v.Version)
	_, _, errs["DocumentChunks"] = f.DocumentChunks(f.ctx, p, v.Document, store.Page{})
	_, _, errs["QueryChunks"] = f.QueryChunks(f.ctx, p, v.Document, store.ChunkQuery{})
	_, _, errs["FindChunks"] = f.FindChunks(f.ctx, p, v.Document, store.ChunkQuery{}, keepAll)
	_, errs["Chunk"] = f.Chunk(f.ctx, p, chunk)
	_, errs["Run"] = f.Run(f.ctx, p, v.RunID)
	_, errs["Conversation"] = f.Conversation(f.ctx, p, conversation)
	_, _, errs["Messages"] = f.Messages(f.ctx, p, conversation, store.Page{})
	_, _, errs["LatestMessages"] = f.LatestMessages(f.ctx, p, conversation, store.Page{})
	_, errs["History"] = f.History(f.ctx, p, conversation, 10)
	_, errs["RenameConversation"] = f.RenameConversation(f.ctx, p, conversation, "other")
	errs["AddShare"] = f.AddShare(f.ctx, p, knowledge.Share{ID: "taken", Conversation: conversation, ExpiresAt: v.CreatedAt})
	_, errs["Shares"] = f.Shares(f.ctx, p, conversation)
	_, errs["Share"] = f.Share(f.ctx, p, conversation, "one")
	errs["WithdrawShare"] = f.WithdrawShare(f.ctx, p, conversation, "one")
	errs["SetFeedback"] = f.SetFeedback(f.ctx, p, store.Feedback{Run: v.RunID, Rating: "up"})
	errs["DeleteConversation"] = f.DeleteConversation(f.ctx, p, conversation)
	_, errs["Project"] = f.Project(f.ctx, p, "press")
	_, errs["Removal"] = f.Removal(f.ctx, p, v.Document)
	_, errs["MarkRemoving"] = f.MarkRemoving(f.ctx, p, v.Document, knowledge.NewID(), v.CreatedAt)
	_, errs["RetryVersion"] = f.RetryVersion(f.ctx, p, v.Document, knowledge.NewID(), v.CreatedAt)
	errs["AcknowledgeFailure"] = f.AcknowledgeFailure(f.ctx, p, v.Document, false)
	_, errs["UpdateDocument"] = f.UpdateDocument(f.ctx, p, v.Document, store.DocumentPatch{})
	_, errs["RenewKey"] = f.RenewKey(f.ctx, p, "key", "other", "")
	errs["RevokeKey"] = f.RevokeKey(f.ctx, p, "key")
	if p.Workspace() != "" {
		return errs
	}
	_, _, errs["Documents"] = f.Documents(f.ctx, p, store.DocumentQuery{})
	_, errs["CountDocuments"] = f.CountDocuments(f.ctx, p, store.DocumentQuery{})
	_, errs["VisibleChunks"] = f.VisibleChunks(f.ctx, p, nil, []knowledge.Hit{{ChunkID: chunk}})
	_, errs["Attached"] = f.Attached(f.ctx, p, nil)
	_, errs["Facets"] = f.Facets(f.ctx, p, nil)
	_, errs["Siblings"] = f.Siblings(f.ctx, p, []string{chunk})
	_, errs["DocumentWithChunks"] = f.DocumentWithChunks(f.ctx, p, nil)
	_, errs["VisibleChunks of nothing"] = f.VisibleChunks(f.ctx, p, nil, nil)
	_, errs["UnreachedDocuments"] = f.UnreachedDocuments(f.ctx, p, []string{v.Document})
	_, _, errs["Runs"] = f.Runs(f.ctx, p, store.RunQuery{})
	_, _, errs["Conversations"] = f.Conversations(f.ctx, p, store.Page{})
	_, _, errs["SearchConversations"] = f.SearchConversations(f.ctx, p, "one", store.Page{})
	_, _, errs["Projects"] = f.Projects(f.ctx, p, store.Page{})
	_, _, errs["FindProjects"] = f.FindProjects(f.ctx, p, "handbook", store.Page{})
	_, _, errs["Workspaces"] = f.Workspaces(f.ctx, p, store.Page{})
	_, _, errs["Keys"] = f.Keys(f.ctx, p, store.Page{})
	_, errs["Feedback"] = f.Feedback(f.ctx, p, v.RunID)
	_, errs["Preferences"] = f.Preferences(f.ctx, p)
	return errs
}
