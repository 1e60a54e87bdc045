package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestWoken checks that a webhook is woken by the first event after its rest, and
// only once that event is committed.
func TestWoken(t *testing.T) {
	t.Parallel()
	woken := make(chan store.WebhookQueue, 1)
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + t.TempDir() + "/cairn.db", Woken: woken})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx := t.Context()
	must(t, s.CreateWorkspace(ctx, store.Workspace{ID: "w"}))
	q := store.WebhookQueue{Workspace: "w", Project: "p", Webhook: "hook"}
	must(t, s.CreateProject(ctx, knowledge.Project{ID: "p", Workspace: "w", Webhooks: []knowledge.Webhook{
		{ID: "hook", Types: knowledge.WebhookTypes(), Enabled: true},
	}}))
	arrive := func(ctx context.Context, id string) error {
		_, v, err := s.AddVersion(context.WithoutCancel(ctx), store.NewVersion{Workspace: "w", Project: "p", DocumentID: id, RunID: knowledge.NewID()})
		if err != nil {
			return err
		}
		_, err = s.PrepareVersion(ctx, v.VersionRef, v.RunID, 0, knowledge.StageExtract, 0, store.Facts{})
		return err
	}
	want := func(want ...store.WebhookQueue) {
		t.Helper()
		var got []store.WebhookQueue
		for len(woken) > 0 {
			got = append(got, <-woken)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("woken (-want +got):\n%s", diff)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := arrive(canceled, "x"); err == nil {
		t.Fatal("a canceled write is done")
	}
	want()
	must(t, arrive(ctx, "a"))
	must(t, arrive(ctx, "b"))
	want(q)

	for _, id := range []string{"c", "d"} { // nobody receives: the writes go on
		due, err := s.DueDeliveries(ctx, q, time.Now(), 10)
		must(t, err)
		for _, d := range due {
			must(t, s.EndAttempt(ctx, store.DeliveryAttempt{Delivery: d, Status: store.DeliveryDelivered, At: time.Now()}))
		}
		_, _, err = s.RestWebhook(ctx, q, time.Now())
		must(t, err)
		must(t, arrive(ctx, id))
	}
	want(q)
	list, err := s.PendingQueues(ctx, time.Now().Add(time.Second))
	must(t, err)
	if diff := cmp.Diff([]store.PendingQueue{{WebhookQueue: q, Awake: true}}, list); diff != "" {
		t.Error(diff)
	}
}

// TestRemovedEventsAreNotInTheFile looks for the words of a document, of which a
// webhook was told, in the file of the database after its removal.
func TestRemovedEventsAreNotInTheFile(t *testing.T) {
	t.Parallel()
	s, path := openAt(t)
	ctx := t.Context()
	must(t, s.CreateWorkspace(ctx, store.Workspace{ID: "w"}))
	must(t, s.CreateProject(ctx, knowledge.Project{ID: "p", Workspace: "w", Webhooks: []knowledge.Webhook{
		{ID: "hook", Types: knowledge.WebhookTypes(), Enabled: true},
	}}))
	_, v, err := s.AddVersion(ctx, store.NewVersion{
		Workspace: "w", Project: "p", DocumentID: "d", RunID: knowledge.NewID(), Name: "vermiculant.txt", Metadata: map[string]any{"k": "quixotry"},
	})
	must(t, err)
	_, err = s.PrepareVersion(ctx, v.VersionRef, v.RunID, 0, knowledge.StageExtract, 0, store.Facts{})
	must(t, err)
	q := store.WebhookQueue{Workspace: "w", Project: "p", Webhook: "hook"}
	due, err := s.DueDeliveries(ctx, q, time.Now(), 10)
	must(t, err)
	answer := &knowledge.WebhookAnswer{Status: knowledge.WebhookStatusError, Message: "no vermiculant, please"}
	must(t, s.EndAttempt(ctx, store.DeliveryAttempt{Delivery: due[0], Status: store.DeliveryDelivered, Answer: answer, At: time.Now()}))

	r, err := s.MarkRemoving(ctx, manager(), "d", knowledge.NewID(), time.Now())
	must(t, err)
	must(t, s.RemoveRows(ctx, r))
	must(t, s.EraseDeleted(ctx))
	for _, word := range []string{"vermiculant", "quixotry"} {
		if files := inFiles(t, path, word); len(files) > 0 {
			t.Errorf("%q still stands in %v", word, files)
		}
	}
}

// TestNoWebhooksCostNothing takes documents through their lives in a project without
// webhooks. Every statement about webhooks is prepared when it is first used.
func TestNoWebhooksCostNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	live := func(s *store.Store, webhooks ...knowledge.Webhook) int {
		must(t, s.CreateWorkspace(ctx, store.Workspace{ID: "w"}))
		must(t, s.CreateProject(ctx, knowledge.Project{ID: "p", Workspace: "w", Webhooks: webhooks}))
		for range 2 {
			for range 2 {
				_, v, err := s.AddVersion(ctx, newVersion("a"))
				must(t, err)
				_, err = s.PrepareVersion(ctx, v.VersionRef, v.RunID, 0, knowledge.StageEmbed, 0, store.Facts{})
				must(t, err)
				_, err = s.PublishVersion(ctx, store.Publication{Ref: v.VersionRef, RunID: v.RunID, Chunks: chunksOf(v.VersionRef, 1)})
				must(t, err)
			}
			id := newVersion("a").DocumentID
			_, err := s.UpdateDocument(ctx, manager(), id, store.DocumentPatch{Tags: &[]string{"b"}})
			must(t, err)
			r, err := s.MarkRemoving(ctx, manager(), id, knowledge.NewID(), time.Now())
			must(t, err)
			must(t, s.RemoveRows(ctx, r))
		}
		return s.PreparedFor("webhook_deliveries") + s.PreparedFor("webhook_queues")
	}
	if n := live(open(t)); n != 0 {
		t.Errorf("%d statements about webhooks are run", n)
	}
	if n := live(open(t), knowledge.Webhook{ID: "hook", Types: knowledge.WebhookTypes(), Enabled: true}); n == 0 {
		t.Error("the test would not see one")
	}
}
