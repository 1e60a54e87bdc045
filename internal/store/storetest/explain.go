package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

func testExplain(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"each_rule_is_found_by_itself":                explainsEachRule,
		"only_administrators_of_the_project_may_ask":  explainsToAdministrators,
		"a_key_is_found_as_it_may_be_used":            findsKeys,
		"a_key_of_another_project_is_not_found":       findsOwnKeys,
		"tokens_that_a_reader_and_a_document_share":   sharedTokens,
		"a_document_of_a_conversation_is_for_it_only": explainsConversations,
	})
}

// asking administers a project, "" = all, and may ask who sees its documents.
func asking(workspace, project string) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{
		Workspace: workspace, Project: project, Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, Permissions: []knowledge.Permission{knowledge.AccessRead}, KeyID: "administrator",
	})
}

// denied returns the rules that do not hold.
func denied(found store.AccessFindings) []store.Rule {
	var rules []store.Rule
	for _, r := range found.Rules {
		if !r.Holds {
			rules = append(rules, r.Rule)
		}
	}
	return rules
}

func explainsEachRule(f *fixture) {
	inactive := knowledge.StatusInactive
	published := func(name string) string {
		v, _ := f.publish(upload(name), name)
		return v.Document
	}
	off := published("inactive")
	_, err := f.UpdateDocument(f.ctx, manager("acme"), off, store.DocumentPatch{Status: &inactive})
	f.must(err)
	removed := published("removed")
	_, err = f.MarkRemoving(f.ctx, manager("acme"), removed, knowledge.NewID(), time.Now())
	f.must(err)
	private, _ := f.publish(upload("private", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"ann"}} }), "private")
	press := claims(func(c *knowledge.Claims) { c.Project = "press" })
	elsewhere := knowledgetest.Principal(knowledge.Claims{Workspace: "other", Scopes: []knowledge.Scope{knowledge.ScopeRead}, KeyID: "k"})
	for name, test := range map[string]struct {
		document string
		reader   knowledge.Principal
		want     []store.Rule
	}{
		"published":  {published("a"), reader("bob"), nil},
		"pending":    {f.add(upload("pending")).Document, reader("bob"), []store.Rule{store.RuleVersion}},
		"inactive":   {off, reader("bob"), []store.Rule{store.RuleStatus}},
		"removed":    {removed, reader("bob"), []store.Rule{store.RuleRemoval}},
		"private":    {private.Document, reader("bob"), []store.Rule{store.RuleAccess}},
		"own":        {private.Document, reader("ann"), nil},
		"project":    {published("b"), press, []store.Rule{store.RuleProject}},
		"workspace":  {published("c"), elsewhere, []store.Rule{store.RuleWorkspace, store.RuleAccess}},
		"no_reader":  {published("d"), knowledge.Principal{}, []store.Rule{store.RuleWorkspace, store.RuleAccess}},
		"management": {private.Document, manager("acme"), []store.Rule{store.RuleAccess}},
	} {
		found, err := f.ExplainAccess(f.ctx, asking("acme", ""), test.reader, test.document)
		f.must(err)
		if diff := cmp.Diff(test.want, denied(found)); diff != "" || found.Allowed() != (test.want == nil) || len(found.Rules) != 8 {
			f.Errorf("%s: allowed %t of %d rules, %s", name, found.Allowed(), len(found.Rules), diff)
		}
	}
}

func explainsToAdministrators(f *fixture) {
	v, _ := f.publish(upload("a"), "a")
	for name, test := range map[string]struct {
		asker knowledge.Principal
		code  knowledge.Code
	}{
		"a reader":                           {reader("bob"), knowledge.CodeForbidden},
		"a writer":                           {manager("acme"), knowledge.CodeForbidden},
		"nobody":                             {knowledge.Principal{}, knowledge.CodeForbidden},
		"an administrator of a project":      {asking("acme", "press"), knowledge.CodeNotFound},
		"an administrator of another tenant": {asking("other", ""), knowledge.CodeNotFound},
	} {
		if _, err := f.ExplainAccess(f.ctx, test.asker, reader("bob"), v.Document); !knowledge.IsCode(err, test.code) {
			f.Errorf("%s: %v", name, err)
		}
	}
	for _, project := range []string{"", "handbook"} {
		if found, err := f.ExplainAccess(f.ctx, asking("acme", project), reader("bob"), v.Document); err != nil || !found.Allowed() {
			f.Errorf("an administrator of project %q: %v, %v", project, found.Rules, err)
		}
	}
	_, err := f.ExplainAccess(f.ctx, asking("acme", ""), reader("bob"), knowledge.NewID())
	f.wantCode(err, knowledge.CodeNotFound)
}

func sharedTokens(f *fixture) {
	v, _ := f.publish(upload("a", func(nv *store.NewVersion) {
		nv.Access = &knowledge.Access{Workspace: true, Users: []string{"ann", "eve"}, Groups: []string{"legal", "board"}}
	}), "a")
	found, err := f.ExplainAccess(f.ctx, asking("acme", ""), reader("ann", "press", "legal"), v.Document)
	f.must(err)
	if diff := cmp.Diff([]string{"g:legal", "u:ann", "w:acme"}, found.Tokens); diff != "" {
		f.Error(diff)
	}
}

func explainsConversations(f *fixture) {
	v, _ := f.publish(upload("a", func(nv *store.NewVersion) { nv.ConversationID = new("talk") }), "a")
	for conversation, want := range map[string]bool{"talk": true, "speech": false, "": false} {
		p := claims(func(c *knowledge.Claims) { c.ConversationID = conversation })
		found, err := f.ExplainAccess(f.ctx, asking("acme", ""), p, v.Document)
		f.must(err)
		if found.Allowed() != want {
			f.Errorf("in the conversation %q: %v", conversation, found.Rules)
		}
	}
}

func findsKeys(f *fixture) {
	now := time.Now()
	create := func(k store.Key) {
		f.Helper()
		k.Workspace, k.Hash, k.Scopes = "acme", "hash of "+k.ID, []knowledge.Scope{knowledge.ScopeRead}
		f.must(f.CreateKey(f.ctx, k))
	}
	create(store.Key{ID: "good", Project: "handbook", ExpiresAt: now.Add(time.Hour)})
	create(store.Key{ID: "old", ExpiresAt: now.Add(-time.Hour)})
	create(store.Key{ID: "revoked"})
	f.must(f.RevokeKey(f.ctx, asking("acme", ""), "revoked"))
	create(store.Key{ID: "of a good one", CreatedBy: "good"})
	create(store.Key{ID: "of an old one", CreatedBy: "old"})
	for id, want := range map[string]bool{"good": true, "old": false, "revoked": false, "of a good one": true, "of an old one": false} {
		k, valid, err := f.FindKey(f.ctx, asking("acme", ""), id)
		f.must(err)
		if valid != want || k.ID != id {
			f.Errorf("key %q is valid: %t", id, valid)
		}
		_, err = f.KeyByHash(f.ctx, "hash of "+id)
		if (err == nil) != want {
			f.Errorf("the key %q can be used: %v", id, err)
		}
	}
	if k, _, err := f.FindKey(f.ctx, asking("acme", ""), "of a good one"); err != nil || k.Project != "handbook" || len(k.Makers) != 1 {
		f.Errorf("a key is for the project %q of its %d makers, %v", k.Project, len(k.Makers), err)
	}
}

func findsOwnKeys(f *fixture) {
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k", Workspace: "acme", Project: "handbook", Hash: "h", Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
	_, _, err := f.FindKey(f.ctx, asking("acme", "press"), "k")
	f.wantCode(err, knowledge.CodeNotFound)
	_, _, err = f.FindKey(f.ctx, asking("acme", ""), "l")
	f.wantCode(err, knowledge.CodeNotFound)
	_, _, err = f.FindKey(f.ctx, knowledge.Principal{}, "k")
	f.wantCode(err, knowledge.CodeForbidden)
	if _, valid, err := f.FindKey(f.ctx, asking("acme", "handbook"), "k"); err != nil || !valid {
		f.Errorf("its own administrator finds it valid: %t, %v", valid, err)
	}
}
