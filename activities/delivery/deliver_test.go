package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/delivery"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/secret"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/telemetry"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// deliverTest delivers events of the store of a fixture to a receiver in memory.
type deliverTest struct {
	*fixture
	queue      store.WebhookQueue
	box        *secret.Box
	delivering *delivery.Delivering
	clock      time.Time

	mu   sync.Mutex
	sent []webhook.Message
	// answer is what the receiver does; nil = it takes everything.
	answer func(ctx context.Context, m webhook.Message) webhook.Result
}

// Send implements the sender of delivery.Delivering.
func (d *deliverTest) Send(ctx context.Context, m webhook.Message) webhook.Result {
	d.mu.Lock()
	d.sent = append(d.sent, m)
	answer := d.answer
	d.mu.Unlock()
	if answer == nil {
		return webhook.Result{Outcome: webhook.Taken, HTTPStatus: 200}
	}
	return answer(ctx, m)
}

func newDeliverTest(t *testing.T) *deliverTest {
	t.Helper()
	d := &deliverTest{fixture: newFixture(t), queue: store.WebhookQueue{Workspace: "w", Project: "p", Webhook: "hook"}}
	var err error
	d.box, err = secret.NewBox(secret.NewKey())
	d.Must(err)
	sealed, err := d.box.Seal("whsec_secret", webhook.SecretContext("w", "hook"))
	d.Must(err)
	key, err := d.box.Seal("key of theirs", webhook.APIKeyContext("w", "hook"))
	d.Must(err)
	_, err = d.Store.UpdateProject(d.Ctx, activitytest.Manager(), "p", func(p *knowledge.Project) error {
		p.Webhooks = []knowledge.Webhook{{
			ID: "hook", URL: "https://receiver.test/", Types: knowledge.WebhookTypes(), Secret: sealed, APIKey: key, Enabled: true,
		}}
		return nil
	})
	d.Must(err)
	d.delivering = &delivery.Delivering{
		Deliveries: d.Store, Secrets: d.box, Sender: d, OperatorURL: func(id string) string { return "http://operator.test/" + id },
		Metrics: telemetry.NewMetrics("test"), Log: d.IngestionUses.Log, Now: func() time.Time { return d.clock },
	}
	return d
}

// happen makes a document and updates it until it has so many events.
func (d *deliverTest) happen(document string, events int) {
	d.Helper()
	_, v, err := d.Store.AddVersion(d.Ctx, store.NewVersion{Workspace: "w", Project: "p", DocumentID: document, Name: document, RunID: knowledge.NewID()})
	d.Must(err)
	_, err = d.Store.PrepareVersion(d.Ctx, v.VersionRef, v.RunID, 0, knowledge.StageExtract, 0, store.Facts{})
	d.Must(err)
	for i := range events - 1 {
		_, err := d.Store.UpdateDocument(d.Ctx, activitytest.Manager(), document, store.DocumentPatch{Tags: &[]string{fmt.Sprint("tag ", i)}})
		d.Must(err)
	}
	d.clock = time.Now()
}

// run runs the activity once.
func (d *deliverTest) run() (delivery.DeliverResult, error) {
	d.Helper()
	return do(d.fixture, d.delivering.DeliverWebhooks, delivery.DeliverInput{WebhookQueue: d.queue})
}

// deliver runs the activity and checks that it rests.
func (d *deliverTest) deliver() delivery.DeliverResult {
	d.Helper()
	result, err := d.run()
	d.Must(err)
	if !result.Rests {
		d.Fatalf("result %+v", result)
	}
	return result
}

func (d *deliverTest) deliveries() []store.Delivery {
	d.Helper()
	list, _, err := d.Store.Deliveries(d.Ctx, activitytest.Manager(), store.DeliveryQuery{})
	d.Must(err)
	slices.Reverse(list)
	return list
}

// Callback returns the answer of a run.
func (d *deliverTest) Callback(_ context.Context, workspace, run string) ([]byte, error) {
	return []byte(workspace + " " + run), nil
}

// TestResults returns the results of an evaluation.
func (d *deliverTest) TestResults(_ context.Context, workspace, evaluation string) (any, error) {
	return []string{workspace, evaluation}, nil
}

// TestCallBack ends a run whose question named an address.
func TestCallBack(t *testing.T) {
	t.Parallel()
	d := newDeliverTest(t)
	d.delivering.Answers = d
	secret, err := d.box.Seal("whsec_callbacks", webhook.CallbackContext("w"))
	d.Must(err)
	headers, err := d.box.Seal(`{"X-Trace":"7"}`, webhook.HeadersContext("w"))
	d.Must(err)
	_, err = d.Store.UpdateProject(d.Ctx, activitytest.Manager(), "p", func(p *knowledge.Project) error { p.CallbackSecret = secret; return nil })
	d.Must(err)
	run := store.Run{ID: "run", Workspace: "w", Project: "p", Kind: knowledge.KindQuery, Owner: activitytest.Manager().Owner(), Callback: &knowledge.Callback{URL: "https://asker.test/", Headers: headers}}
	_, err = d.Store.StartRun(d.Ctx, activitytest.Manager(), run, nil)
	d.Must(err)
	for range 2 { // the first end counts
		d.Must(d.Store.EndRun(d.Ctx, "w", "run", store.RunEnd{Status: knowledge.RunCompleted}))
	}
	d.clock, d.queue.Webhook = time.Now().Add(time.Second), "run"
	d.deliver()
	d.deliver()
	want := []webhook.Message{{URL: "https://asker.test/", Secret: "whsec_callbacks", Header: map[string]string{"X-Trace": "7"}, Body: []byte("w run")}}
	for i := range d.sent {
		d.sent[i].ID = ""
	}
	if diff := cmp.Diff(want, d.sent); diff != "" {
		t.Error(diff)
	}
	if list := d.deliveries(); len(list) != 1 || list[0].Status != store.DeliveryDelivered {
		t.Errorf("deliveries %+v", list)
	}
}

func TestDeliverWebhooks(t *testing.T) {
	t.Parallel()

	t.Run("each event is sent once, in the order of its document", func(t *testing.T) {
		t.Parallel()
		d := newDeliverTest(t)
		for i := range 12 {
			d.happen(fmt.Sprint("doc ", i), 3)
		}
		result := d.deliver()
		if !result.NextAt.IsZero() || len(d.sent) != 36 {
			t.Errorf("result %+v after %d requests", result, len(d.sent))
		}
		tags := map[string][]string{}
		for _, m := range d.sent {
			if m.URL != "https://receiver.test/" || m.Secret != "whsec_secret" || m.APIKey != "key of theirs" {
				t.Fatalf("message %+v", m)
			}
			body := string(m.Body)
			name, tag := between(body, `"payload":{"id":"`, `"`), between(body, `"tags":[`, `]`)
			tags[name] = append(tags[name], tag)
		}
		for name, got := range tags {
			if diff := cmp.Diff([]string{"", `"tag 0"`, `"tag 1"`}, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		for _, sent := range d.deliveries() {
			if sent.Status != store.DeliveryDelivered || sent.HTTPStatus != 200 {
				t.Errorf("delivery %+v", sent)
			}
		}
	})

	t.Run("what was said of a delivery is stored", func(t *testing.T) {
		t.Parallel()
		for name, test := range map[string]struct {
			result webhook.Result
			want   store.DeliveryStatus
		}{
			"refused":            {webhook.Result{Outcome: webhook.Refused, HTTPStatus: 404, Error: "the address answered 404"}, store.DeliveryFailed},
			"gone":               {webhook.Result{Outcome: webhook.Gone, HTTPStatus: 410, Error: "it is gone"}, store.DeliveryFailed},
			"later":              {webhook.Result{HTTPStatus: 429, Error: "the address answered 429", RetryAfter: time.Hour}, store.DeliveryPending},
			"taken, but unhappy": {webhook.Result{Outcome: webhook.Taken, HTTPStatus: 200, Answer: &knowledge.WebhookAnswer{Status: "error", Message: "no room"}}, store.DeliveryDelivered},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := newDeliverTest(t)
				d.happen("a", 1)
				d.answer = func(context.Context, webhook.Message) webhook.Result { return test.result }
				rest := d.deliver()
				got := d.deliveries()[0]
				if got.Status != test.want || got.Attempts != 1 || got.HTTPStatus != test.result.HTTPStatus || got.Error != test.result.Error {
					t.Errorf("delivery %+v", got)
				}
				if test.result.RetryAfter > 0 && rest.NextAt.Sub(d.clock).Round(time.Second) != time.Hour {
					t.Errorf("the next attempt is at %v", rest.NextAt)
				}
				if diff := cmp.Diff(test.result.Answer, got.Answer); diff != "" {
					t.Error(diff)
				}
				_, _, err := d.Store.WebhookOf(d.Ctx, d.queue)
				if disabled := knowledge.IsCode(err, knowledge.CodeNotFound); disabled != (test.result.Outcome == webhook.Gone) {
					t.Errorf("disabled: %t", disabled)
				}
			})
		}
	})

	t.Run("it leaves its slot when its turn is over", func(t *testing.T) {
		t.Parallel()
		d := newDeliverTest(t)
		for i := range 20 {
			d.happen(fmt.Sprint("doc ", i), 1)
		}
		d.answer = func(context.Context, webhook.Message) webhook.Result {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.clock = d.clock.Add(20 * time.Second)
			return webhook.Result{Outcome: webhook.Taken, HTTPStatus: 200}
		}
		result, err := d.run()
		if err != nil || result.Rests || len(d.sent) != 8 {
			t.Errorf("result %+v, %v after %d requests", result, err, len(d.sent))
		}
	})
}

func TestDeliverAgain(t *testing.T) {
	t.Parallel()

	t.Run("a failure is tried again with the same id, and holds up its document alone", func(t *testing.T) {
		t.Parallel()
		d := newDeliverTest(t)
		d.happen("a", 2)
		d.happen("b", 1)
		d.answer = func(_ context.Context, m webhook.Message) webhook.Result {
			if strings.Contains(string(m.Body), `"id":"a"`) {
				return webhook.Result{HTTPStatus: 503, Error: "the address answered 503"}
			}
			return webhook.Result{Outcome: webhook.Taken, HTTPStatus: 200}
		}
		result := d.deliver()
		if want := d.clock.Add(time.Second).Truncate(time.Microsecond); len(d.sent) != 2 || !result.NextAt.Equal(want) {
			t.Fatalf("result %+v, want the next attempt at %v; %d requests", result, want, len(d.sent))
		}
		d.deliver()
		if len(d.sent) != 2 {
			t.Errorf("a delivery was tried before its time")
		}
		d.answer, d.clock = nil, result.NextAt
		if result := d.deliver(); !result.NextAt.IsZero() || len(d.sent) != 4 || d.sent[0].ID == d.sent[3].ID {
			t.Errorf("result %+v after %d requests", result, len(d.sent))
		}
		first := slices.IndexFunc(d.sent, func(m webhook.Message) bool { return strings.Contains(string(m.Body), `"id":"a"`) })
		if d.sent[first].ID != d.sent[2].ID || string(d.sent[first].Body) != string(d.sent[2].Body) {
			t.Errorf("the second attempt differs: %+v, then %+v", d.sent[first], d.sent[2])
		}
	})

	t.Run("a secret that does not open is tried again", func(t *testing.T) {
		t.Parallel()
		d := newDeliverTest(t)
		other, err := secret.NewBox(secret.NewKey())
		d.Must(err)
		d.delivering.Secrets = other
		d.happen("a", 1)
		d.deliver()
		if got := d.deliveries()[0]; got.Status != store.DeliveryPending || !strings.Contains(got.Error, "set a new one") || len(d.sent) != 0 {
			t.Errorf("delivery %+v after %d requests", got, len(d.sent))
		}
	})

	t.Run("an attempt that was cut off is made again", func(t *testing.T) {
		t.Parallel()
		d := newDeliverTest(t)
		d.happen("a", 1)
		ctx, cancel := context.WithCancel(t.Context())
		d.answer = func(attempt context.Context, _ webhook.Message) webhook.Result {
			cancel()
			<-attempt.Done()
			return webhook.Result{Error: "the address did not answer"}
		}
		_, err := do(d.fixture, func(attempt context.Context, in delivery.DeliverInput) (delivery.DeliverResult, error) {
			attempt, cut := context.WithCancel(attempt)
			context.AfterFunc(ctx, cut)
			return d.delivering.DeliverWebhooks(attempt, in)
		}, delivery.DeliverInput{WebhookQueue: d.queue})
		if err == nil {
			t.Error("it ended without an error")
		}
		if got := d.deliveries()[0]; got.Status != store.DeliveryPending || got.Attempts != 0 {
			t.Errorf("delivery %+v", got)
		}
	})
}

func TestDeliveriesThatEnd(t *testing.T) {
	t.Parallel()

	t.Run("after three days it is given up", func(t *testing.T) {
		t.Parallel()
		d := newDeliverTest(t)
		d.happen("a", 2)
		d.answer = func(context.Context, webhook.Message) webhook.Result {
			return webhook.Result{HTTPStatus: 500, Error: "the address answered 500"}
		}
		began := d.clock
		for range 100 {
			next := d.deliver().NextAt
			if next.IsZero() {
				break
			}
			d.clock = next
		}
		list := d.deliveries()
		for _, failed := range list {
			if failed.Status != store.DeliveryFailed || failed.Error != "not delivered within three days: the address answered 500" {
				t.Errorf("delivery %+v", failed)
			}
		}
		if took := d.clock.Sub(began); took < webhook.GiveUpAfter-time.Second || took > webhook.GiveUpAfter+time.Second {
			t.Errorf("it took %v", took)
		}
		if list[0].Attempts < 20 || list[1].Attempts == 0 { // the second is not given up untried
			t.Errorf("attempts %d, %d", list[0].Attempts, list[1].Attempts)
		}
	})

	t.Run("what a disabled webhook was not sent is canceled", func(t *testing.T) {
		t.Parallel()
		d := newDeliverTest(t)
		d.happen("a", 1)
		d.delivering.Deliveries = disabling{d.Store}
		d.deliver()
		if got := d.deliveries()[0]; got.Status != store.DeliveryCanceled || len(d.sent) != 0 {
			t.Errorf("delivery %+v after %d requests", got, len(d.sent))
		}
	})
}

// TestStopCutsDeliveries stops the worker while a receiver hangs.
func TestStopCutsDeliveries(t *testing.T) {
	t.Parallel()
	d := newDeliverTest(t)
	d.happen("a", 1)
	d.answer = func(ctx context.Context, _ webhook.Message) webhook.Result {
		<-ctx.Done()
		return webhook.Result{Error: "the address did not answer"}
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(activitytest.Quiet())
	env := suite.NewTestActivityEnvironment()
	stop := make(chan struct{})
	close(stop)
	env.SetWorkerStopChannel(stop)
	env.RegisterActivity(d.delivering)
	_, err := env.ExecuteActivity(d.delivering.DeliverWebhooks, delivery.DeliverInput{WebhookQueue: d.queue})
	if application, ok := errors.AsType[*temporal.ApplicationError](err); !ok || application.Type() != step.TypeEnded {
		t.Errorf("the failure is %v", err)
	}
	if got := d.deliveries()[0]; got.Status != store.DeliveryPending || got.Attempts != 0 {
		t.Errorf("delivery %+v", got)
	}
}

// TestCreatedBeforeExtraction ingests texts that end before and after their check.
func TestCreatedBeforeExtraction(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text   string
		parser error
		want   int
	}{
		"a small text that cannot be extracted is announced": {"text", knowledge.Errorf(knowledge.CodeCorrupt, "it is broken"), 1},
		"a text that is too large is not":                    {strings.Repeat("x", 1<<20), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeliverTest(t)
			d.Parser.Err = test.parser
			in := d.Upload("a.txt", test.text)
			for range 2 { // Temporal repeats the step
				if _, err := do(d.fixture, d.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in}); err == nil {
					t.Fatal("it succeeds")
				}
			}
			list := d.deliveries()
			if len(list) != test.want {
				t.Fatalf("%d events", len(list))
			}
			v, err := d.Store.Version(d.Ctx, in.VersionRef)
			if d.Must(err); !v.Begun {
				t.Error("the version is not begun, so readers would not find its end")
			}
		})
	}
}

// disabling is a store whose webhook is disabled after what is due was read.
type disabling struct{ *store.Store }

func (disabling) WebhookOf(context.Context, store.WebhookQueue) (knowledge.Webhook, knowledge.Project, error) {
	return knowledge.Webhook{}, knowledge.Project{}, knowledge.NotFound("webhook", "hook")
}

// between returns the text between two others, "" if it is not there.
func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}
