package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/webhook"
)

const (
	// deliveriesAtATime is how many documents' events are sent to one webhook at the
	// same time.
	deliveriesAtATime = 8
	// deliveryTurn is how long one activity delivers before it leaves its slot to
	// another webhook.
	deliveryTurn = 10 * time.Second
	// deliveryPatience is how long requests may continue after the worker begins to
	// stop. The next worker repeats requests that were cut off.
	deliveryPatience = time.Second
)

// Deliveries is the part of the store that holds the events for webhooks. Every
// method is idempotent.
type Deliveries interface {
	// WebhookOf returns the webhook of a queue and its project. One that is disabled
	// or was removed is knowledge.CodeNotFound.
	WebhookOf(ctx context.Context, q store.WebhookQueue) (knowledge.Webhook, knowledge.Project, error)
	// DueDeliveries returns deliveries whose next attempt is due, at most one of each
	// document: the oldest that is pending.
	DueDeliveries(ctx context.Context, q store.WebhookQueue, now time.Time, limit int) ([]store.Delivery, error)
	// EndAttempt stores the outcome of an attempt, once.
	EndAttempt(ctx context.Context, a store.DeliveryAttempt) error
	// RestWebhook lets the workflow of a webhook rest until it is signaled, or until
	// next, which is zero if nothing is pending; if due is true, a delivery is due.
	RestWebhook(ctx context.Context, q store.WebhookQueue, now time.Time) (due bool, next time.Time, err error)
}

// Delivering holds the activity of DeliverWebhook.
type Delivering struct {
	Deliveries Deliveries
	Secrets    interface {
		// Open returns a value that was sealed for the context.
		Open(sealed, context string) (string, error)
	}
	Sender interface {
		// Send makes one request. It blocks for at most webhook.Timeout.
		Send(ctx context.Context, m webhook.Message) webhook.Result
	}
	OperatorURL func(workflowID string) string // of a workflow's page
	Answers     interface {
		// Callback returns the body of the request that tells how a run ended.
		Callback(ctx context.Context, workspace, run string) ([]byte, error)
		// TestResults returns the payload that tells the results of an evaluation.
		TestResults(ctx context.Context, workspace, evaluation string) (any, error)
	}
	Metrics interface {
		// WebhookAttempt counts a request to a webhook, by what became of the delivery.
		WebhookAttempt(kind, outcome string)
	}
	Log *slog.Logger
	Now func() time.Time // nil = time.Now
}

// DeliverInput names the webhook to deliver to.
type DeliverInput struct {
	store.WebhookQueue
}

// DeliverResult selects the next step of the workflow. If Rests is false, deliveries
// may be due.
type DeliverResult struct {
	Rests  bool      `json:"rests,omitempty"`
	NextAt time.Time `json:"next_at,omitzero"` // of the next attempt; zero = nothing is pending
}

// DeliverWebhooks sends a webhook the events that are due, until there are none or its
// turn is over. It keeps the order of each document's events. A request whose end is
// not stored is made again, with the same id.
func (a *Delivering) DeliverWebhooks(ctx context.Context, in DeliverInput) (DeliverResult, error) {
	defer step.Heartbeat(ctx)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go cutWhenStopping(ctx, cancel)
	result, err := a.deliver(ctx, in.WebhookQueue)
	return result, step.Failure(ctx, a.Log.With("workspace", in.Workspace, "project", in.Project, "webhook", in.Webhook), err)
}

func (a *Delivering) deliver(ctx context.Context, q store.WebhookQueue) (DeliverResult, error) {
	for end := a.now().Add(deliveryTurn); ; {
		due, err := a.Deliveries.DueDeliveries(ctx, q, a.now(), deliveriesAtATime)
		if err != nil {
			return DeliverResult{}, fmt.Errorf("list deliveries: %w", err)
		}
		if len(due) > 0 {
			err = a.attempt(ctx, q, due)
		} else {
			var more bool
			var next time.Time
			if more, next, err = a.Deliveries.RestWebhook(ctx, q, a.now()); err == nil && !more {
				return DeliverResult{Rests: true, NextAt: next}, nil
			}
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return DeliverResult{}, err
		}
		if a.now().After(end) || step.Stopping(ctx) {
			return DeliverResult{}, nil
		}
	}
}

// attempt makes the next attempt of each delivery, all at the same time.
func (a *Delivering) attempt(ctx context.Context, q store.WebhookQueue, due []store.Delivery) error {
	hook, project, err := a.Deliveries.WebhookOf(ctx, q)
	gone := knowledge.IsCode(err, knowledge.CodeNotFound)
	if err != nil && !gone {
		return fmt.Errorf("read webhook %s: %w", q.Webhook, err)
	}
	errs := make([]error, len(due))
	var sending sync.WaitGroup
	for i, d := range due {
		if gone { // it was disabled or removed a moment ago
			errs[i] = a.Deliveries.EndAttempt(ctx, store.DeliveryAttempt{Delivery: d, Status: store.DeliveryCanceled, At: a.now()})
			continue
		}
		sending.Go(func() {
			result := a.send(ctx, hook, project, d)
			if ctx.Err() == nil { // else the attempt was cut off, and is made again
				errs[i] = a.end(ctx, d, result)
			}
		})
	}
	sending.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("end an attempt of delivery %s: %w", due[i].ID, err)
		}
	}
	return nil
}

// send makes one request.
func (a *Delivering) send(ctx context.Context, hook knowledge.Webhook, project knowledge.Project, d store.Delivery) webhook.Result {
	if d.Type == knowledge.WebhookCallback {
		return a.callBack(ctx, hook, project, d)
	}
	m := webhook.Message{ID: d.Event, URL: hook.URL}
	var err error
	if m.Body, err = a.body(ctx, project, d); err != nil {
		a.Log.ErrorContext(ctx, "cannot make the request of a webhook", "delivery", d.ID, "error", err)
		return webhook.Result{Outcome: webhook.Refused, Error: "the event cannot be written as JSON"}
	}
	m.Secret, err = a.Secrets.Open(hook.Secret, webhook.SecretContext(project.Workspace, hook.ID))
	if err == nil && hook.APIKey != "" {
		m.APIKey, err = a.Secrets.Open(hook.APIKey, webhook.APIKeyContext(project.Workspace, hook.ID))
	}
	if err != nil {
		a.Log.ErrorContext(ctx, "cannot open the secret of a webhook", "webhook", hook.ID, "error", err)
		return webhook.Result{Error: "the secret of the webhook cannot be opened: set a new one, or put the instance's secret.key back"}
	}
	return a.Sender.Send(ctx, m)
}

// body returns the body of the request for an event.
func (a *Delivering) body(ctx context.Context, project knowledge.Project, d store.Delivery) ([]byte, error) {
	switch d.Type {
	case knowledge.WebhookTests:
	case knowledge.WebhookCheckpoints:
		return webhook.PayloadEnvelope(d.Type, d.Checkpoint, project, d.CreatedAt)
	default:
		return webhook.Envelope(webhook.Event{Type: d.Type, DocumentID: d.DocumentID, Document: d.Document, At: d.CreatedAt}, project, a.OperatorURL)
	}
	results, err := a.Answers.TestResults(ctx, project.Workspace, d.DocumentID) // the evaluation
	if err != nil {
		return nil, err
	}
	return webhook.PayloadEnvelope(d.Type, results, project, d.CreatedAt)
}

// callBack sends the answer of a run to the address that its question named. The
// webhook is the run.
func (a *Delivering) callBack(ctx context.Context, hook knowledge.Webhook, project knowledge.Project, d store.Delivery) webhook.Result {
	m := webhook.Message{ID: d.Event, URL: hook.URL}
	var err error
	if m.Body, err = a.Answers.Callback(ctx, project.Workspace, hook.ID); err != nil {
		a.Log.ErrorContext(ctx, "cannot make the request of a callback", "run", hook.ID, "error", err)
		return webhook.Result{Error: "the answer of the run cannot be read"}
	}
	if hook.Secret != "" {
		m.Secret, err = a.Secrets.Open(hook.Secret, webhook.CallbackContext(project.Workspace))
	}
	if err == nil && hook.Headers != "" {
		var headers string
		if headers, err = a.Secrets.Open(hook.Headers, webhook.HeadersContext(project.Workspace)); err == nil {
			err = json.Unmarshal([]byte(headers), &m.Header)
		}
	}
	if err != nil {
		a.Log.ErrorContext(ctx, "cannot open the secrets of a callback", "run", hook.ID, "error", err)
		return webhook.Result{Error: "the secret of the project's callbacks cannot be opened: set a new one, or put the instance's secret.key back"}
	}
	return a.Sender.Send(ctx, m)
}

// end stores the outcome of an attempt.
func (a *Delivering) end(ctx context.Context, d store.Delivery, r webhook.Result) error {
	now := a.now()
	attempt := store.DeliveryAttempt{Delivery: d, HTTPStatus: r.HTTPStatus, Error: r.Error, Answer: r.Answer, At: now}
	switch r.Outcome {
	case webhook.Taken:
		attempt.Status = store.DeliveryDelivered
	case webhook.Gone:
		attempt.Status, attempt.Gone = store.DeliveryFailed, true
	case webhook.Refused:
		attempt.Status = store.DeliveryFailed
	case webhook.Retry:
		var last bool
		attempt.Status = store.DeliveryPending
		if attempt.NextAt, last = webhook.NextAttempt(d.Attempts+1, d.Since, now, r); last {
			attempt.Status, attempt.Error = store.DeliveryFailed, "not delivered within three days: "+r.Error
		}
	}
	a.Metrics.WebhookAttempt(string(d.Type), string(attempt.Status))
	return a.Deliveries.EndAttempt(ctx, attempt)
}

// cutWhenStopping cancels ctx when the worker that runs the activity has been stopping
// for deliveryPatience. It returns when ctx ends.
func cutWhenStopping(ctx context.Context, cancel context.CancelFunc) {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
	case <-ctx.Done():
		return
	}
	select {
	case <-time.After(deliveryPatience):
		cancel()
	case <-ctx.Done():
	}
}

func (a *Delivering) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}
