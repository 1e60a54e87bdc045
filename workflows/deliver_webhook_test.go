package workflows_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/delivery"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/telemetry"
	"github.com/cairn-rag/cairn/internal/webhook"
	"github.com/cairn-rag/cairn/workflows"
)

var hook = store.WebhookQueue{Workspace: "w", Project: "p", Webhook: "hook"}

// deliverTest runs DeliverWebhook against an activity of the test, and records when
// it was called, from the start on.
type deliverTest struct {
	env   *testsuite.TestWorkflowEnvironment
	calls []time.Duration
}

// newDeliverTest takes the results of the activity's calls; the last one is repeated.
func newDeliverTest(results ...func(now time.Time) (delivery.DeliverResult, error)) *deliverTest {
	test := &deliverTest{env: newEnvironment()}
	test.env.RegisterActivity(&delivery.Delivering{})
	began := test.env.Now()
	var acts *delivery.Delivering
	test.env.OnActivity(acts.DeliverWebhooks, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in delivery.DeliverInput) (delivery.DeliverResult, error) {
			if in.WebhookQueue != hook {
				return delivery.DeliverResult{}, fmt.Errorf("the queue is %+v", in.WebhookQueue)
			}
			test.calls = append(test.calls, test.env.Now().Sub(began).Round(time.Second))
			return results[min(len(test.calls), len(results))-1](test.env.Now())
		})
	return test
}

func (test *deliverTest) run(t *testing.T, calls ...time.Duration) {
	t.Helper()
	test.env.ExecuteWorkflow(workflows.DeliverWebhook, delivery.DeliverInput{WebhookQueue: hook})
	if err := test.env.GetWorkflowError(); !test.env.IsWorkflowCompleted() || err != nil {
		t.Fatalf("ended: %t, %v", test.env.IsWorkflowCompleted(), err)
	}
	if diff := gocmp.Diff(calls, test.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func nothingPending(time.Time) (delivery.DeliverResult, error) {
	return delivery.DeliverResult{Rests: true}, nil
}

func turnOver(time.Time) (delivery.DeliverResult, error) { return delivery.DeliverResult{}, nil }

func restsFor(d time.Duration) func(time.Time) (delivery.DeliverResult, error) {
	return func(now time.Time) (delivery.DeliverResult, error) {
		return delivery.DeliverResult{Rests: true, NextAt: now.Add(d)}, nil
	}
}

func TestDeliverWebhook(t *testing.T) {
	t.Parallel()

	t.Run("it ends when nothing is pending", func(t *testing.T) {
		t.Parallel()
		newDeliverTest(turnOver, turnOver, nothingPending).run(t, 0, 0, 0)
	})
	t.Run("it rests until the next attempt", func(t *testing.T) {
		t.Parallel()
		newDeliverTest(restsFor(time.Minute), restsFor(2*time.Hour), nothingPending).run(t, 0, time.Minute, 121*time.Minute)
	})
	t.Run("a time that has passed is no reason to wait", func(t *testing.T) {
		t.Parallel()
		newDeliverTest(restsFor(-time.Minute), nothingPending).run(t, 0, 0)
	})
	t.Run("a new event wakes it", func(t *testing.T) {
		t.Parallel()
		test := newDeliverTest(restsFor(3*time.Hour), nothingPending)
		test.env.RegisterDelayedCallback(func() { test.env.SignalWorkflow(workflows.SignalWake, nil) }, time.Hour)
		test.run(t, 0, time.Hour)
	})
	t.Run("an event that comes while it delivers is not missed", func(t *testing.T) {
		t.Parallel()
		var test *deliverTest
		test = newDeliverTest(func(time.Time) (delivery.DeliverResult, error) {
			test.env.SignalWorkflow(workflows.SignalWake, nil)
			return delivery.DeliverResult{Rests: true}, nil
		}, nothingPending)
		test.run(t, 0, 0)
	})
	t.Run("stores that fail end nothing", func(t *testing.T) {
		t.Parallel()
		failures := 8
		test := newDeliverTest(func(time.Time) (delivery.DeliverResult, error) {
			if failures--; failures > 0 {
				return delivery.DeliverResult{}, temporal.NewApplicationError("the disk is full", "unavailable")
			}
			return delivery.DeliverResult{Rests: true}, nil
		})
		test.env.ExecuteWorkflow(workflows.DeliverWebhook, delivery.DeliverInput{WebhookQueue: hook})
		if err := test.env.GetWorkflowError(); err != nil || len(test.calls) != 8 {
			t.Errorf("%d calls, %v", len(test.calls), err)
		}
	})
	t.Run("a long history is continued as new", func(t *testing.T) {
		t.Parallel()
		test := newDeliverTest(turnOver)
		test.env.SetContinueAsNewSuggested(true)
		test.env.ExecuteWorkflow(workflows.DeliverWebhook, delivery.DeliverInput{WebhookQueue: hook})
		if in := continued[delivery.DeliverInput](t, test.env.GetWorkflowError()); in.WebhookQueue != hook {
			t.Errorf("continued with %+v", in)
		}
	})
}

// down is a receiver that fails until a time.
type down struct {
	now   func() time.Time
	until time.Time
	sent  []string
}

func (d *down) Send(_ context.Context, m webhook.Message) webhook.Result {
	d.sent = append(d.sent, m.ID)
	if d.now().Before(d.until) {
		return webhook.Result{HTTPStatus: 500, Error: "the address answered 500"}
	}
	return webhook.Result{Outcome: webhook.Taken, HTTPStatus: 200}
}

// TestReceiverIsDown delivers two events of a document, with the real store, to a
// receiver that is down, for a time that is skipped.
func TestReceiverIsDown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		outage time.Duration
		want   []store.DeliveryStatus
	}{
		"for two days: both are delivered, in order":   {48 * time.Hour, []store.DeliveryStatus{"delivered", "delivered"}},
		"for four days: both are given up after three": {96 * time.Hour, []store.DeliveryStatus{"failed", "failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment()
			began := env.Now()
			receiver := &down{now: env.Now, until: began.Add(test.outage)}
			s := twoEvents(t, env)
			env.RegisterActivity(&delivery.Delivering{
				Deliveries: s, Secrets: open{}, Sender: receiver, OperatorURL: func(string) string { return "" },
				Metrics: telemetry.NewMetrics("test"), Log: slog.New(slog.DiscardHandler), Now: env.Now,
			})
			env.ExecuteWorkflow(workflows.DeliverWebhook, delivery.DeliverInput{WebhookQueue: hook})
			if err := env.GetWorkflowError(); err != nil {
				t.Fatal(err)
			}
			list, _, err := s.Deliveries(t.Context(), principalOf(t), store.DeliveryQuery{})
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(list, func(a, b store.Delivery) int { return cmp.Compare(a.Number, b.Number) })
			got := []store.DeliveryStatus{list[0].Status, list[1].Status}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			took := env.Now().Sub(began)
			if min(test.outage, webhook.GiveUpAfter) > took+time.Second || took > webhook.GiveUpAfter+time.Minute {
				t.Errorf("it took %v", took)
			}
			last := slices.Index(receiver.sent, list[1].Event)
			if last < 20 || slices.ContainsFunc(receiver.sent[:last], func(id string) bool { return id != list[0].Event }) || slices.Contains(receiver.sent[last:], list[0].Event) {
				t.Errorf("requests of the first event, then of the second: %v", receiver.sent)
			}
		})
	}
}

// open opens every sealed value as it is.
type open struct{}

func (open) Open(sealed, _ string) (string, error) { return sealed, nil }

func principalOf(t *testing.T) (p knowledge.Principal) {
	t.Helper()
	if err := p.UnmarshalJSON([]byte(`{"workspace":"w","scopes":["write"],"key_id":"k"}`)); err != nil {
		t.Fatal(err)
	}
	return p
}

// twoEvents returns a store, with the clock of an environment, in which a document
// was made and changed.
func twoEvents(t *testing.T, env *testsuite.TestWorkflowEnvironment) *store.Store {
	t.Helper()
	ctx := t.Context()
	s, err := store.Open(ctx, store.Config{URL: "sqlite://" + t.TempDir() + "/cairn.db", Clock: env.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.CreateWorkspace(ctx, store.Workspace{ID: "w"}))
	must(s.CreateProject(ctx, knowledge.Project{ID: "p", Workspace: "w", Webhooks: []knowledge.Webhook{
		{ID: "hook", URL: "https://receiver.test/", Types: knowledge.WebhookTypes(), Secret: webhook.NewSecret(), Enabled: true},
	}}))
	_, v, err := s.AddVersion(ctx, store.NewVersion{Workspace: "w", Project: "p", DocumentID: "d", RunID: knowledge.NewID()})
	must(err)
	_, err = s.PrepareVersion(ctx, v.VersionRef, v.RunID, 0, knowledge.StageExtract, 0, store.Facts{})
	must(err)
	_, err = s.UpdateDocument(ctx, principalOf(t), "d", store.DocumentPatch{Tags: &[]string{"new"}})
	must(err)
	return s
}
