package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

func testWebhookEvents(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_new_document_is_announced_once":                       announcedOnce,
		"what_failed_its_check_is_not_announced":                 notBeforeTheCheck,
		"a_version_that_replaces_one_is_an_update":               replacedIsUpdated,
		"a_patch_is_an_update":                                   patchIsUpdate,
		"a_removal_is_announced_when_it_is_accepted":             removalAnnounced,
		"the_attachments_of_a_conversation_are_announced_too":    attachmentsAnnounced,
		"a_document_that_comes_back_is_new":                      announcedAgain,
		"an_imported_document_is_announced_when_it_is_published": importedAnnounced,
		"only_webhooks_that_want_an_event_are_told":              onlyThoseThatWant,
		"a_removal_deletes_what_events_say":                      eventsForget,
	})
}

// hook subscribes acme/handbook to types, all if none is named, and returns the
// webhook's queue.
func (f *fixture) hook(types ...knowledge.WebhookType) store.WebhookQueue {
	f.Helper()
	if len(types) == 0 {
		types = knowledge.WebhookTypes()
	}
	w := knowledge.Webhook{ID: knowledge.NewID(), URL: "https://receiver.test/", Types: types, Secret: "sealed", Enabled: true}
	_, err := f.UpdateProject(f.ctx, manager("acme"), "handbook", func(p *knowledge.Project) error {
		p.Webhooks = append(p.Webhooks, w)
		return nil
	})
	f.must(err)
	return store.WebhookQueue{Workspace: "acme", Project: "handbook", Webhook: w.ID}
}

// deliveries lists deliveries of acme, oldest first.
func (f *fixture) deliveries(query store.DeliveryQuery) []store.Delivery {
	f.Helper()
	list, _, err := f.Deliveries(f.ctx, manager("acme"), query)
	f.must(err)
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// events are the deliveries to a webhook as "number type", oldest first.
func (f *fixture) events(q store.WebhookQueue) []string {
	f.Helper()
	words := []string{}
	for _, d := range f.deliveries(store.DeliveryQuery{}) {
		if d.Webhook == q.Webhook {
			words = append(words, fmt.Sprintf("%d %s", d.Number, d.Type))
		}
	}
	return words
}

func (f *fixture) wantEvents(q store.WebhookQueue, want ...string) {
	f.Helper()
	if diff := cmp.Diff(append([]string{}, want...), f.events(q)); diff != "" {
		f.Errorf("events (-want +got):\n%s", diff)
	}
}

// check takes a version through its check.
func (f *fixture) check(v store.Version) {
	f.Helper()
	_, err := f.PrepareVersion(f.ctx, v.VersionRef, v.RunID, 0, knowledge.StageExtract, 0.1, store.Facts{Bytes: 7})
	f.must(err)
}

// arrive takes an upload through its check and publishes it.
func (f *fixture) arrive(nv store.NewVersion) store.Version {
	f.Helper()
	v := f.add(nv)
	f.check(v)
	f.must(f.PutChunks(f.ctx, v.VersionRef, passages(v.VersionRef, "text")))
	_, err := f.Publish(f.ctx, v.VersionRef)
	f.must(err)
	return v
}

func announcedOnce(f *fixture) {
	q := f.hook()
	v := f.add(upload("a.txt", func(nv *store.NewVersion) { nv.Tags = []string{"blue"} }))
	f.check(v)
	shown := f.document(v.Document)
	f.check(v) // the step runs again
	f.wantEvents(q, "1 documents_created")
	d := f.deliveries(store.DeliveryQuery{})[0]
	if d.DocumentID != v.Document || d.Project != "handbook" || d.Status != store.DeliveryPending || d.CreatedAt.IsZero() || d.ID == d.Event {
		f.Errorf("delivery %+v", d)
	}
	if diff := cmp.Diff(shown, *d.Document); diff != "" {
		f.Errorf("the event shows another document (-want +got):\n%s", diff)
	}

	f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeUnavailable, Retryable: true}))
	again, err := f.RetryVersion(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	f.check(again)
	f.check(f.add(upload("a.txt")))
	f.wantEvents(q, "1 documents_created")

	second := f.hook()
	f.check(f.add(upload("a.txt")))
	f.wantEvents(q, "1 documents_created")
	f.wantEvents(second, "2 documents_created")
}

func notBeforeTheCheck(f *fixture) {
	q := f.hook()
	v := f.add(upload("a.txt"))
	_, err := f.BeginVersion(f.ctx, v.VersionRef, v.RunID, 0)
	f.must(err)
	f.must(f.SetStage(f.ctx, v.VersionRef, knowledge.StageCheck, 0, store.Facts{}))
	f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeTooLarge, Stage: knowledge.StageCheck}))
	f.wantEvents(q)
	f.arrive(upload("a.txt"))
	f.wantEvents(q, "1 documents_created")
}

func replacedIsUpdated(f *fixture) {
	q := f.hook()
	f.arrive(upload("a.txt"))
	v2 := f.add(upload("a.txt", func(nv *store.NewVersion) { nv.Name = "b.txt" }))
	f.check(v2)
	f.wantEvents(q, "1 documents_created")
	for range 2 { // the step runs again
		_, err := f.Publish(f.ctx, v2.VersionRef)
		f.must(err)
	}
	f.wantEvents(q, "1 documents_created", "2 documents_updated")
	shown := f.deliveries(store.DeliveryQuery{})[1].Document
	if shown.Name != "b.txt" || shown.PublishedVersion != 2 || shown.Status != knowledge.StatusPublished {
		f.Errorf("the event shows %+v", shown)
	}
}

func patchIsUpdate(f *fixture) {
	q := f.hook()
	v := f.arrive(upload("a.txt"))
	_, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Tags: &[]string{"green"}})
	f.must(err)
	tooMany := make([]string, 65)
	for i := range tooMany {
		tooMany[i] = numbered("t", i)
	}
	_, err = f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Tags: &tooMany})
	f.wantCode(err, knowledge.CodeInvalid)
	f.wantEvents(q, "1 documents_created", "2 documents_updated")
	if shown := f.deliveries(store.DeliveryQuery{})[1].Document; !cmp.Equal(shown.Tags, []string{"green"}) {
		f.Errorf("the event shows the tags %q", shown.Tags)
	}
	f.arrive(upload("a.txt"))
	f.wantEvents(q, "1 documents_created", "2 documents_updated", "3 documents_updated")
}

func removalAnnounced(f *fixture) {
	q := f.hook()
	v := f.arrive(upload("a.txt"))
	f.mark(v.Document)
	f.mark(v.Document)
	f.add(upload("a.txt"))
	f.mark(v.Document) // takes what was uploaded meanwhile too
	f.wantEvents(q, "1 documents_created", "2 documents_deleted")
	if d := f.deliveries(store.DeliveryQuery{})[1]; d.Document != nil {
		f.Errorf("the event shows %+v", d.Document)
	}
}

func attachmentsAnnounced(f *fixture) {
	q := f.hook(knowledge.WebhookDeleted)
	ann := knowledgetest.Principal(knowledge.Claims{Workspace: "acme", Scopes: []knowledge.Scope{knowledge.ScopeRead}, KeyID: "reader", User: "ann"})
	_, err := f.EnsureConversation(f.ctx, ann, store.Conversation{ID: "talk"})
	f.must(err)
	f.add(upload("a.txt", func(nv *store.NewVersion) { nv.ConversationID = new("talk") }))
	f.must(f.DeleteConversation(f.ctx, ann, "talk"))
	f.wantEvents(q, "1 documents_deleted")
}

func announcedAgain(f *fixture) {
	q := f.hook()
	v := f.arrive(upload("a.txt"))
	f.remove(manager("acme"), v.Document)
	f.arrive(upload("a.txt"))
	f.wantEvents(q, "1 documents_created", "2 documents_deleted", "3 documents_created")
}

func importedAnnounced(f *fixture) {
	i := f.imported("bucket")
	q := f.hook()
	versions := f.importObjects(i, "a.txt", "b.txt")
	f.wantEvents(q, "1 documents_created", "1 documents_created")
	for _, d := range f.deliveries(store.DeliveryQuery{Document: versions[0].Ref.Document}) {
		if d.Document.Status != knowledge.StatusPublished || d.Document.PublishedVersion != 1 {
			f.Errorf("the event shows %+v", d.Document)
		}
	}
}

func onlyThoseThatWant(f *fixture) {
	created, deleted := f.hook(knowledge.WebhookCreated), f.hook(knowledge.WebhookDeleted)
	disabled := f.hook()
	_, err := f.UpdateProject(f.ctx, manager("acme"), "handbook", func(p *knowledge.Project) error {
		p.Webhooks[2].Enabled = false
		return nil
	})
	f.must(err)
	v := f.arrive(upload("a.txt"))
	f.arrive(upload("b.txt", func(nv *store.NewVersion) { nv.Project = "press" }))
	f.mark(v.Document)
	f.wantEvents(created, "1 documents_created")
	f.wantEvents(deleted, "2 documents_deleted")
	f.wantEvents(disabled)
}

func eventsForget(f *fixture) {
	q := f.hook()
	v := f.arrive(upload("a.txt"))
	f.answer(q, &knowledge.WebhookAnswer{Status: "error", Message: "no a.txt here"})
	_, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Tags: &[]string{"green"}})
	f.must(err)
	f.remove(manager("acme"), v.Document)
	f.wantEvents(q, "1 documents_created", "2 documents_updated", "3 documents_deleted")
	for _, d := range f.deliveries(store.DeliveryQuery{}) {
		if d.Document != nil || d.Answer != nil {
			f.Errorf("a delivery of the removed document holds %+v, %+v", d.Document, d.Answer)
		}
	}
	f.answer(q, &knowledge.WebhookAnswer{Status: "error", Message: "still no a.txt"})
	if d := f.deliveries(store.DeliveryQuery{})[1]; d.Status != store.DeliveryDelivered || d.Answer != nil {
		f.Errorf("the answer about a removed document is kept: %+v", d)
	}
}
