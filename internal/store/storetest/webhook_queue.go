package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

func testWebhookQueue(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"events_of_a_document_are_due_one_after_the_other":   dueInOrder,
		"a_delivery_that_waits_holds_up_its_document_alone":  waitsAlone,
		"an_attempt_ends_once":                               attemptOnce,
		"a_webhook_rests_when_nothing_is_due":                rests,
		"a_webhook_that_is_gone_is_disabled":                 goneDisables,
		"disabling_a_webhook_cancels_what_is_pending":        disablingCancels,
		"an_answer_that_is_an_error_is_kept_with_a_document": answersKept,
		"a_delivery_can_be_made_again":                       redeliver,
		"deliveries_are_listed_by_what_they_are_of":          listDeliveries,
		"old_deliveries_are_dropped":                         dropDeliveries,
	})
}

// due lists what is due at a time.
func (f *fixture) due(q store.WebhookQueue, at time.Time) []store.Delivery {
	f.Helper()
	list, err := f.DueDeliveries(f.ctx, q, at, 10)
	f.must(err)
	return list
}

// numbersOf are the numbers of events, each of its document's.
func numbersOf(list []store.Delivery) []int64 {
	numbers := []int64{}
	for _, d := range list {
		numbers = append(numbers, d.Number)
	}
	return numbers
}

func (f *fixture) wantDue(q store.WebhookQueue, at time.Time, want ...int64) {
	f.Helper()
	if diff := cmp.Diff(append([]int64{}, want...), numbersOf(f.due(q, at))); diff != "" {
		f.Errorf("due (-want +got):\n%s", diff)
	}
}

// end ends an attempt of a delivery.
func (f *fixture) end(d store.Delivery, status store.DeliveryStatus, change ...func(*store.DeliveryAttempt)) {
	f.Helper()
	a := store.DeliveryAttempt{Delivery: d, Status: status, At: time.Now()}
	for _, c := range change {
		c(&a)
	}
	f.must(f.EndAttempt(f.ctx, a))
}

// answer delivers what is due first.
func (f *fixture) answer(q store.WebhookQueue, a *knowledge.WebhookAnswer) {
	f.Helper()
	f.end(f.due(q, time.Now())[0], store.DeliveryDelivered, func(x *store.DeliveryAttempt) { x.HTTPStatus, x.Answer = 200, a })
}

// first is the oldest delivery.
func (f *fixture) first() store.Delivery {
	f.Helper()
	return f.deliveries(store.DeliveryQuery{})[0]
}

func dueInOrder(f *fixture) {
	q := f.hook()
	v := f.arrive(upload("a.txt"))
	f.arrive(upload("a.txt"))
	f.mark(v.Document)
	for number := int64(1); number <= 3; number++ {
		f.wantDue(q, time.Now(), number)
		f.answer(q, nil)
	}
	f.wantDue(q, time.Now())
	if d := f.first(); d.Status != store.DeliveryDelivered || d.Attempts != 1 || d.HTTPStatus != 200 || d.EndedAt.IsZero() {
		f.Errorf("delivery %+v", d)
	}
}

func waitsAlone(f *fixture) {
	q := f.hook()
	a := f.arrive(upload("a.txt"))
	b := f.arrive(upload("b.txt"))
	later := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	f.end(f.due(q, time.Now())[0], store.DeliveryPending, func(x *store.DeliveryAttempt) {
		x.HTTPStatus, x.Error, x.NextAt = 503, "the address answered 503", later
	})
	if d := f.first(); d.Status != store.DeliveryPending || d.Attempts != 1 || d.Error == "" || !d.NextAt.Equal(later) || !d.EndedAt.IsZero() {
		f.Errorf("delivery %+v", d)
	}
	f.mark(a.Document)
	f.mark(b.Document)
	f.wantDue(q, time.Now(), 1)
	f.answer(q, nil)
	f.wantDue(q, time.Now(), 2)
	f.answer(q, nil)
	f.wantDue(q, time.Now())
	f.wantDue(q, later, 1)
	f.end(f.due(q, later)[0], store.DeliveryFailed)
	f.wantDue(q, time.Now(), 2) // it does not wait any longer
}

func attemptOnce(f *fixture) {
	q := f.hook()
	f.arrive(upload("a.txt"))
	d := f.due(q, time.Now())[0]
	f.end(d, store.DeliveryPending, func(x *store.DeliveryAttempt) { x.NextAt = time.Now() })
	f.end(d, store.DeliveryDelivered) // of an activity that was given up
	if now := f.first(); now.Status != store.DeliveryPending || now.Attempts != 1 {
		f.Errorf("delivery %+v", now)
	}
	f.answer(q, nil)
	f.end(d, store.DeliveryFailed)
	if now := f.first(); now.Status != store.DeliveryDelivered || now.Attempts != 2 {
		f.Errorf("delivery %+v", now)
	}
}

// queues are the webhooks that PendingQueues lists.
func (f *fixture) queues(before time.Time) []store.PendingQueue {
	f.Helper()
	list, err := f.PendingQueues(f.ctx, before)
	f.must(err)
	return list
}

func rests(f *fixture) {
	q := f.hook()
	if list := f.queues(time.Now().Add(time.Hour)); len(list) != 0 {
		f.Errorf("without an event there is %v", list)
	}
	began := time.Now()
	f.arrive(upload("a.txt"))
	if list := f.queues(began); len(list) != 0 {
		f.Errorf("just woken: %v", list)
	}
	awake := []store.PendingQueue{{WebhookQueue: q, Awake: true}}
	if diff := cmp.Diff(awake, f.queues(time.Now().Add(time.Second))); diff != "" {
		f.Error(diff)
	}
	due, _, err := f.RestWebhook(f.ctx, q, time.Now())
	if err != nil || !due {
		f.Errorf("it rests although a delivery is due, %v", err)
	}
	later := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	f.end(f.due(q, time.Now())[0], store.DeliveryPending, func(x *store.DeliveryAttempt) { x.NextAt = later })
	due, next, err := f.RestWebhook(f.ctx, q, time.Now())
	if err != nil || due || !next.Equal(later) {
		f.Errorf("rest: due %t, next %v, %v", due, next, err)
	}
	if diff := cmp.Diff([]store.PendingQueue{{WebhookQueue: q}}, f.queues(began)); diff != "" {
		f.Error(diff)
	}
	f.arrive(upload("b.txt"))
	if diff := cmp.Diff(awake, f.queues(time.Now().Add(time.Second))); diff != "" {
		f.Error(diff)
	}
	for _, d := range f.due(q, later) {
		f.end(d, store.DeliveryDelivered)
	}
	if due, next, err := f.RestWebhook(f.ctx, q, time.Now()); err != nil || due || !next.IsZero() {
		f.Errorf("rest: due %t, next %v, %v", due, next, err)
	}
	if list := f.queues(time.Now().Add(time.Hour)); len(list) != 0 {
		f.Errorf("with nothing pending there is %v", list)
	}
}

func goneDisables(f *fixture) {
	q, other := f.hook(), f.hook()
	v := f.arrive(upload("a.txt"))
	f.mark(v.Document)
	f.end(f.due(q, time.Now())[0], store.DeliveryFailed, func(x *store.DeliveryAttempt) {
		x.Gone, x.HTTPStatus, x.Error = true, 410, "it is gone"
	})
	_, _, err := f.WebhookOf(f.ctx, q)
	f.wantCode(err, knowledge.CodeNotFound)
	project, err := f.Project(f.ctx, manager("acme"), "handbook")
	f.must(err)
	if w := project.Webhooks[0]; w.Enabled || w.Disabled != "it is gone" || w.Secret != "sealed" {
		f.Errorf("webhook %+v", w)
	}
	f.wantDue(q, time.Now())
	f.wantDue(other, time.Now(), 1)
	statuses := map[store.DeliveryStatus]int{}
	for _, d := range f.deliveries(store.DeliveryQuery{}) {
		statuses[d.Status]++
	}
	if diff := cmp.Diff(map[store.DeliveryStatus]int{"failed": 1, "canceled": 1, "pending": 2}, statuses); diff != "" {
		f.Error(diff)
	}
}

func disablingCancels(f *fixture) {
	q, removed, kept := f.hook(), f.hook(), f.hook()
	f.arrive(upload("a.txt"))
	_, err := f.UpdateProject(f.ctx, manager("acme"), "handbook", func(p *knowledge.Project) error {
		p.Webhooks[0].Enabled = false
		p.Webhooks = []knowledge.Webhook{p.Webhooks[0], p.Webhooks[2]}
		return nil
	})
	f.must(err)
	f.wantDue(q, time.Now())
	f.wantDue(removed, time.Now())
	f.wantDue(kept, time.Now(), 1)
	if w, project, err := f.WebhookOf(f.ctx, kept); err != nil || w.ID != kept.Webhook || project.Name != "Handbook" {
		f.Errorf("webhook %+v of %+v, %v", w, project, err)
	}
}

func answersKept(f *fixture) {
	q, other := f.hook(), f.hook()
	v := f.arrive(upload("a.txt"))
	f.arrive(upload("a.txt"))
	f.answer(q, &knowledge.WebhookAnswer{Status: "error", Message: "no room"})
	f.answer(other, &knowledge.WebhookAnswer{Status: "success"})
	errs := f.document(v.Document).WebhookErrors
	if len(errs) != 1 || errs[0].Webhook != q.Webhook || errs[0].Type != "documents_created" || errs[0].Message != "no room" || errs[0].At.IsZero() {
		f.Fatalf("errors %+v", errs)
	}
	if d := f.first(); d.Answer == nil || d.Answer.Status == "" {
		f.Errorf("delivery %+v", d)
	}
	f.answer(q, nil)
	if errs := f.document(v.Document).WebhookErrors; len(errs) != 0 {
		f.Errorf("after an answer without an error: %+v", errs)
	}
}

func redeliver(f *fixture) {
	q := f.hook()
	f.arrive(upload("a.txt"))
	f.arrive(upload("a.txt"))
	first := f.due(q, time.Now())[0]
	f.end(first, store.DeliveryFailed, func(x *store.DeliveryAttempt) { x.HTTPStatus, x.Error = 400, "refused" })
	f.end(f.due(q, time.Now())[0], store.DeliveryPending, func(x *store.DeliveryAttempt) { x.NextAt = time.Now().Add(time.Hour) })
	_, _, err := f.RestWebhook(f.ctx, q, time.Now())
	f.must(err)
	f.wantDue(q, time.Now())

	again, err := f.Redeliver(f.ctx, manager("acme"), first.ID)
	f.must(err)
	if again.Event != first.Event || again.Status != store.DeliveryPending || again.Attempts != 0 || again.Error != "" || !again.Since.After(first.Since) {
		f.Errorf("redelivered %+v", again)
	}
	f.wantDue(q, time.Now(), 1)
	if list := f.queues(time.Now().Add(time.Second)); len(list) != 1 || !list[0].Awake {
		f.Errorf("queues %+v", list)
	}
	f.answer(q, nil)
	f.wantDue(q, time.Now(), 2)

	for _, p := range []knowledge.Principal{manager("other"), knowledgetest.Principal(knowledge.Claims{
		Workspace: "acme", Project: "press", Scopes: []knowledge.Scope{knowledge.ScopeWrite}, KeyID: "press",
	})} {
		_, err = f.Redeliver(f.ctx, p, first.ID)
		f.wantCode(err, knowledge.CodeNotFound)
	}
	_, err = f.Redeliver(f.ctx, reader("ann"), first.ID)
	f.wantCode(err, knowledge.CodeForbidden)
	_, err = f.UpdateProject(f.ctx, manager("acme"), "handbook", func(p *knowledge.Project) error { p.Webhooks = nil; return nil })
	f.must(err)
	_, err = f.Redeliver(f.ctx, manager("acme"), first.ID)
	f.wantCode(err, knowledge.CodeConflict)
}

func listDeliveries(f *fixture) {
	q := f.hook()
	a, b := f.arrive(upload("a.txt")), f.arrive(upload("b.txt"))
	f.mark(b.Document)
	f.answer(q, nil)
	for want, query := range map[int]store.DeliveryQuery{
		3: {Project: "handbook"}, 0: {Project: "press"}, 1: {Document: a.Document}, 2: {Document: b.Document, Status: "pending"},
	} {
		if list := f.deliveries(query); len(list) != want {
			f.Errorf("%+v lists %d, want %d", query, len(list), want)
		}
	}
	if list, _, err := f.Deliveries(f.ctx, manager("other"), store.DeliveryQuery{}); err != nil || len(list) != 0 {
		f.Errorf("another workspace lists %v, %v", list, err)
	}
	_, _, err := f.Deliveries(f.ctx, reader("ann"), store.DeliveryQuery{})
	f.wantCode(err, knowledge.CodeForbidden)
}

func dropDeliveries(f *fixture) {
	q := f.hook()
	f.arrive(upload("a.txt"))
	f.arrive(upload("b.txt"))
	f.answer(q, nil)
	f.must(f.DropDeliveries(f.ctx, time.Now().Add(-time.Hour), 10))
	if n := len(f.deliveries(store.DeliveryQuery{})); n != 2 {
		f.Errorf("%d deliveries are left", n)
	}
	f.must(f.DropDeliveries(f.ctx, time.Now().Add(time.Hour), 10))
	if list := f.deliveries(store.DeliveryQuery{}); len(list) != 1 || list[0].Status != store.DeliveryPending {
		f.Errorf("left: %+v", list)
	}
}
