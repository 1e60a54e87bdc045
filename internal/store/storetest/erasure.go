package storetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

func testErasure(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"documents_of_the_person_go":          erasedDocuments,
		"a_hold_keeps_a_document":             erasedUnderHold,
		"removals_wait_for_quotations":        erasedWhileQuoted,
		"conversations_and_runs_go":           erasedTalk,
		"accounts_go":                         erasedAccounts,
		"test_items_of_the_person_go":         erasedTestItems,
		"a_person_and_a_customer_do_not_meet": erasedNamesake,
		"the_import_of_an_archive_goes":       erasedArchive,
		"one_run_at_a_time":                   oneErasure,
		"an_export_reads_what_is_there":       exportedSubject,
	})
}

// person acts in acme for a person, with the write scope.
func person(name string) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{
		Workspace: "acme", Scopes: []knowledge.Scope{knowledge.ScopeWrite}, KeyID: "application", User: name, Covered: []string{knowledge.EveryLevel},
	})
}

func uploadedBy(name string) func(*store.NewVersion) {
	return func(nv *store.NewVersion) { nv.Uploader = person(name) }
}

// erasingAnn begins the erasure of ann, a person of acme or a user of an application.
func (f *fixture) erasingAnn(external bool) store.SubjectScope {
	f.Helper()
	run, err := f.BeginSubjectRun(f.ctx, manager("acme"), knowledge.KindErase, knowledge.Person{Name: "ann", External: external}, knowledge.NewID(), "asked")
	f.must(err)
	scope, err := f.SubjectForSystem(f.ctx, knowledge.RunRef{Workspace: "acme", Run: run.ID})
	f.must(err)
	return scope
}

// erased reads what an erasure has counted.
func (f *fixture) erased(scope store.SubjectScope) (p knowledge.ErasureProgress) {
	f.Helper()
	f.must(json.Unmarshal(f.run(scope.Run).Progress, &p))
	return p
}

// eraseDocuments runs pages of one document, as an erasure does.
func (f *fixture) eraseDocuments(scope store.SubjectScope) map[string]store.Removal {
	f.Helper()
	got, after := map[string]store.Removal{}, ""
	for range 50 {
		removals, last, err := f.EraseDocuments(f.ctx, scope, after, 1)
		f.must(err)
		for _, r := range removals {
			got[r.Document] = r
		}
		if after = last; last == "" {
			return got
		}
	}
	f.Fatal("the erasure does not end")
	return nil
}

func erasedDocuments(f *fixture) {
	byAnn, chunks := f.publish(upload("by ann", uploadedBy("ann")), "one")
	alone, _ := f.publish(upload("alone", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"ann"}} }), "two")
	named, _ := f.publish(upload("named", about("ann")), "three")
	_, err := f.EnsureConversation(f.ctx, person("ann"), store.Conversation{ID: "talk", Project: "handbook"})
	f.must(err)
	attached, _ := f.publish(upload("attached", func(nv *store.NewVersion) { nv.ConversationID, nv.ExternalUserID = new("talk"), new("") }), "four")
	again := f.reingest(byAnn.Document) // by the manager: it stays hers
	if again.UploadedBy != "u:ann" {
		f.Errorf("a reingested version is %q's", again.UploadedBy)
	}
	f.publish(upload("replaced", uploadedBy("ann")), "five")
	replaced, _ := f.publish(upload("replaced", uploadedBy("bob")), "six")
	shared, _ := f.publish(upload("shared", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"ann", "bob"}} }), "seven")
	bobs, other := f.publish(upload("by bob", uploadedBy("bob")), "eight")
	scope := f.erasingAnn(false)
	got := f.eraseDocuments(scope)
	for name, id := range map[string]string{"uploaded": byAnn.Document, "hers alone": alone.Document, "about her": named.Document, "attached": attached.Document} {
		if got[id].RunID == "" {
			f.Errorf("the document that is %s is not removed", name)
		}
	}
	for name, id := range map[string]string{"replaced by another": replaced.Document, "shared": shared.Document, "of another": bobs.Document} {
		if got[id].RunID != "" {
			f.Errorf("the document that is %s is removed", name)
		}
	}
	if len(f.sees(reader("x"), chunks...)) != 0 || len(f.sees(reader("x"), other...)) != 1 {
		f.Error("readers see the document of the person, or not that of another one")
	}
	if again := f.eraseDocuments(scope); len(again) != 4 || f.erased(scope).Removed.Documents != 4 {
		f.Errorf("a repetition returns %v, and %+v is counted", again, f.erased(scope))
	}
	page, err := f.ErasedDocuments(f.ctx, scope, "", 10)
	f.must(err)
	if len(page) != 4 || page[0].Gone {
		f.Errorf("erased are %+v", page)
	}
	f.must(f.RemoveRows(f.ctx, got[page[0].ID]))
	if page, err = f.ErasedDocuments(f.ctx, scope, "", 10); err != nil || !page[0].Gone || page[1].Gone {
		f.Errorf("after a removal: %+v, %v", page, err)
	}
	f.must(f.EndErasure(f.ctx, scope))
	if page, err = f.ErasedDocuments(f.ctx, scope, "", 10); err != nil || len(page) != 0 {
		f.Errorf("at the end: %+v, %v", page, err)
	}
}

// erasedWhileQuoted has the sweep look for removals while answers may quote the documents.
func erasedWhileQuoted(f *fixture) {
	mail, _ := f.publish(upload("mail", uploadedBy("ann")), "one")
	paper := f.attach(mail.VersionRef, "paper.txt")
	scope := f.erasingAnn(false)
	pending := func(want int) {
		f.Helper()
		if list, _, err := f.PendingRemovals(f.ctx, store.Position{}, 10); err != nil || len(list) != want {
			f.Errorf("removals %+v, %v, want %d", list, err, want)
		}
	}
	f.eraseDocuments(scope)
	pending(0)
	quoted, err := f.QuotedDocuments(f.ctx, scope, 10)
	if f.must(err); len(quoted) != 2 || !slices.Contains(quoted, mail.Document) || !slices.Contains(quoted, paper.Document) {
		f.Errorf("answers may quote %v", quoted)
	}
	f.must(f.NoteQuotations(f.ctx, scope, quoted, 3))
	pending(2)
	f.eraseDocuments(scope) // as after a crash
	if quoted, err = f.QuotedDocuments(f.ctx, scope, 10); err != nil || len(quoted) != 0 || f.erased(scope).Removed.Quotations != 3 {
		f.Errorf("afterwards answers may quote %v, %v, and %+v is counted", quoted, err, f.erased(scope))
	}
	f.publish(upload("later", uploadedBy("ann")), "two")
	f.eraseDocuments(scope)
	pending(2)
	f.endAs(scope.Run, knowledge.RunFailed) // nobody will cut them
	pending(3)
}

func erasedUnderHold(f *fixture) {
	held, chunks := f.publish(upload("held", uploadedBy("ann")), "one")
	free, _ := f.publish(upload("free", uploadedBy("ann")), "two")
	h := f.hold("Smith", nil, held.Document)
	scope := f.erasingAnn(false)
	got := f.eraseDocuments(scope)
	if len(got) != 1 || got[free.Document].RunID == "" {
		f.Errorf("removed are %v", got)
	}
	f.must(f.EndErasure(f.ctx, scope))
	kept := f.erased(scope).KeptByHold
	if len(kept) != 1 || kept[0].Document != held.Document || !strings.Contains(kept[0].Holds, "Smith") || !strings.Contains(kept[0].Holds, h.ID) {
		f.Errorf("kept are %+v", kept)
	}
	if len(f.sees(reader("x"), chunks...)) != 1 {
		f.Error("the document under hold is hidden")
	}
}

func erasedTalk(f *fixture) {
	for _, name := range []string{"ann", "bob"} {
		_, err := f.EnsureConversation(f.ctx, person(name), store.Conversation{ID: "talk of " + name, Project: "handbook", Title: "secret"})
		f.must(err)
		for _, id := range []string{"ended of ", "running of "} {
			f.must(f.AddRun(f.ctx, store.Run{ID: id + name, Workspace: "acme", Project: "handbook", Kind: knowledge.KindQuery, Owner: "u:" + name, CreatedAt: time.Now()}))
		}
		f.must(f.EndRun(f.ctx, "acme", "ended of "+name, store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()}))
	}
	f.must(f.SetFeedback(f.ctx, person("ann"), store.Feedback{Run: "ended of ann", Rating: "up", Comment: "mine"}))
	f.must(f.SetFeedback(f.ctx, manager("acme"), store.Feedback{Run: "ended of bob", Rating: "up", Comment: "his"}))
	f.must(f.SetFeedback(f.ctx, person("ann"), store.Feedback{Run: "ended of bob", Rating: "down", Comment: "mine"}))
	scope := f.erasingAnn(false)
	running, err := f.SubjectRuns(f.ctx, scope, true, "", 10)
	if err != nil || len(running) != 1 || running[0].ID != "running of ann" {
		f.Errorf("running are %+v, %v", running, err)
	}
	f.must(f.EraseWords(f.ctx, scope))
	if n, err := f.EraseConversations(f.ctx, scope, 10); err != nil || n != 1 {
		f.Errorf("%d conversations are deleted, %v", n, err)
	}
	ended, err := f.SubjectRuns(f.ctx, scope, false, "", 10)
	if err != nil || len(ended) != 1 || ended[0].ID != "ended of ann" {
		f.Errorf("ended are %+v, %v", ended, err)
	}
	f.must(f.EraseRuns(f.ctx, scope, []string{"ended of ann", "running of ann"}))
	if got := f.erased(scope).Removed; got.Conversations != 1 || got.Runs != 1 || got.Feedback != 2 {
		f.Errorf("counted is %+v", got)
	}
	if list, _, err := f.Conversations(f.ctx, person("bob"), store.Page{}); err != nil || len(list) != 1 {
		f.Errorf("the conversations of another person: %v, %v", list, err)
	}
	admin := knowledgetest.Principal(knowledge.Claims{Workspace: "acme", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, KeyID: "manager", Permissions: []knowledge.Permission{knowledge.RunsAdmin}})
	if list, err := f.Feedback(f.ctx, admin, "ended of bob"); err != nil || len(list) != 1 || list[0].Comment != "his" {
		f.Errorf("the feedback of another person: %v, %v", list, err)
	}
	f.run("running of ann") // which has not ended
}

func erasedAccounts(f *fixture) {
	for _, name := range []string{"ann", "bob"} {
		f.must(f.SetPreferences(f.ctx, person(name), json.RawMessage(`{"a": 1}`)))
		f.consent(name)
		_, err := f.ClaimKey(f.ctx, store.IdempotencyKey{Workspace: "acme", Caller: "key\n\n" + name + "\n", Key: "k", Route: "r", RunID: knowledge.NewID(), Now: time.Now()})
		f.must(err)
		f.must(f.CreateKey(f.ctx, store.Key{ID: "key of " + name, Workspace: "acme", Name: "x", Hash: "hash of " + name, Scopes: []knowledge.Scope{knowledge.ScopeRead}, CreatedBy: store.UserMaker + name}))
		f.must(f.CreateKey(f.ctx, store.Key{ID: "child of " + name, Workspace: "acme", Name: "x", Hash: "hash of child of " + name, Scopes: []knowledge.Scope{knowledge.ScopeRead}, CreatedBy: "key of " + name}))
		_, _, err = f.PutMember(f.ctx, manager("acme"), store.Member{Name: name, Kind: store.PersonMember, Roles: []string{"reader"}}, []string{"reader"})
		f.must(err)
		f.grant("allow", "read", "u:"+name, "t:common")
	}
	scope := f.erasingAnn(false)
	f.must(f.EraseAccounts(f.ctx, scope))
	f.must(f.EraseAccounts(f.ctx, scope)) // again
	want := knowledge.Erased{Preferences: 1, Consents: 1, Requests: 1, Keys: 2, Memberships: 1, Grants: 1}
	if got := f.erased(scope).Removed; got != want {
		f.Errorf("counted is %+v, want %+v", got, want)
	}
	for name, left := range map[string]bool{"ann": false, "bob": true} {
		value, err := f.Preferences(f.ctx, person(name))
		_, member, err2 := f.MemberOf(f.ctx, "acme", name)
		_, err3 := f.KeyByHash(f.ctx, "hash of child of "+name)
		if err != nil || err2 != nil || (string(value) != "{}") != left || member != left || (err3 == nil) != left {
			f.Errorf("of %s there are preferences %s, a member: %t, keys: %v", name, value, member, err3)
		}
	}
}

func erasedTestItems(f *fixture) {
	f.must(f.AddRun(f.ctx, store.Run{ID: "run of ann", Workspace: "acme", Project: "handbook", Kind: knowledge.KindQuery, Owner: "u:ann", CreatedAt: time.Now()}))
	f.must(f.EndRun(f.ctx, "acme", "run of ann", store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()}))
	items := store.TestItems{Hash: "h", Count: 2, Items: json.RawMessage(`[{"id":"run of ann","question":"hers","tags":["feedback","up"]},{"id":"other","question":"his","tags":["feedback"]}]`)}
	set, err := f.AddTestSet(f.ctx, manager("acme"), store.TestSet{ID: knowledge.NewID(), Project: "handbook", Name: "feedback"}, items)
	f.must(err)
	own, err := f.AddTestSet(f.ctx, person("ann"), store.TestSet{ID: knowledge.NewID(), Project: "handbook", Name: "own"}, items)
	f.must(err)
	scope := f.erasingAnn(false)
	f.must(f.EraseWords(f.ctx, scope))
	left, err := f.TestSetItems(f.ctx, manager("acme"), set.ID, 1)
	if err != nil || left.Count != 1 || strings.Contains(string(left.Items), "hers") || !strings.Contains(string(left.Items), "his") || left.Hash == "h" {
		f.Errorf("left is %+v, %v", left, err)
	}
	_, err = f.TestSet(f.ctx, manager("acme"), own.ID)
	f.wantCode(err, knowledge.CodeNotFound)
	if got := f.erased(scope).Removed; got.TestSets != 1 || got.TestItems != 2 {
		f.Errorf("counted is %+v", got)
	}
}

func erasedNamesake(f *fixture) {
	employee, _ := f.publish(upload("employee", uploadedBy("ann")), "one")
	customer, _ := f.publish(upload("customer", func(nv *store.NewVersion) { nv.ExternalUserID, nv.ConversationID = new("ann"), new("") }), "two")
	if got := f.eraseDocuments(f.erasingAnn(true)); len(got) != 1 || got[customer.Document].RunID == "" {
		f.Errorf("of the customer %v are removed", got)
	}
	if got := f.eraseDocuments(f.erasingAnn(false)); len(got) != 1 || got[employee.Document].RunID == "" {
		f.Errorf("of the person %v are removed", got)
	}
}

func oneErasure(f *fixture) {
	first := f.erasingAnn(false)
	if second := f.erasingAnn(false); second.Run != first.Run {
		f.Errorf("a second run %s began beside %s", second.Run, first.Run)
	}
	if other := f.erasingAnn(true); other.Run == first.Run {
		f.Error("the customer has the run of the person")
	}
	held := claims(func(c *knowledge.Claims) { c.Scopes, c.Project = []knowledge.Scope{knowledge.ScopeAdmin}, "handbook" })
	_, err := f.BeginSubjectRun(f.ctx, held, knowledge.KindErase, knowledge.Person{Name: "ann"}, knowledge.NewID(), "x")
	f.wantCode(err, knowledge.CodeForbidden)
	if p := f.erased(first); p.Reason != "asked" {
		f.Errorf("the reason is %q", p.Reason)
	}
}

func exportedSubject(f *fixture) {
	v, _ := f.publish(upload("by ann", uploadedBy("ann")), "one")
	f.must(f.SetPreferences(f.ctx, person("ann"), json.RawMessage(`{"theme": "dark"}`)))
	f.consent("ann")
	_, err := f.EnsureConversation(f.ctx, person("ann"), store.Conversation{ID: "talk", Project: "handbook", Title: "of lamps"})
	f.must(err)
	scope := f.erasingAnn(false)
	p, err := f.SubjectProfileOf(f.ctx, scope)
	f.must(err)
	text, err := json.Marshal(p)
	f.must(err)
	for _, word := range []string{`"theme"`, "form 7", `"person":"ann"`} {
		if !strings.Contains(string(text), word) {
			f.Errorf("the profile lacks %s: %s", word, text)
		}
	}
	documents, err := f.SubjectDocuments(f.ctx, scope, "", 10)
	if err != nil || len(documents) != 1 || documents[0].ID != v.Document {
		f.Errorf("documents %+v, %v", documents, err)
	}
	talks, err := f.SubjectConversations(f.ctx, scope, "", 10)
	if err != nil || len(talks) != 1 || talks[0].Title != "of lamps" {
		f.Errorf("conversations %+v, %v", talks, err)
	}
	if entries, last, err := f.SubjectAudit(f.ctx, scope, "", 10); err != nil || len(entries) != 0 || last != "" {
		f.Errorf("the audit has %v, %q, %v", entries, last, err)
	}
}

func erasedArchive(f *fixture) {
	of := func(source, archive string) store.Import {
		i := f.imported(source, func(n *store.NewImport) { n.Request.Archive = archive })
		f.importObjects(i, "key of "+source)
		f.endImport(i)
		return i
	}
	archive, bucket := of("archive.zip", "blob"), of("s3://bucket", "")
	scope := f.erasingAnn(false)
	f.must(f.EraseImport(f.ctx, scope, archive.Import))
	f.must(f.EraseImport(f.ctx, scope, archive.Import)) // again
	_, err := f.ImportForSystem(f.ctx, archive.ImportRef)
	f.wantCode(err, knowledge.CodeNotFound)
	if _, err := f.ImportForSystem(f.ctx, bucket.ImportRef); err != nil {
		f.Errorf("another import: %v", err)
	}
	again := f.imported("archive.zip")
	if page := f.listPage(again, 0, listed("key of archive.zip", "1")); page.Todo != 1 {
		f.Errorf("the objects of the import are known: %+v", page)
	}
}
