package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// webhookStore has the deliveries of events to webhooks.
type webhookStore struct{ *database }

// WebhookOf returns the webhook of a queue and its project. A webhook that is
// disabled or was removed is not found.
func (s *webhookStore) WebhookOf(ctx context.Context, q WebhookQueue) (knowledge.Webhook, knowledge.Project, error) {
	rows, err := projectTable.all(ctx, s.reader, "p.workspace = ? AND p.id = ?", q.Workspace, q.Project)
	if err != nil {
		return knowledge.Webhook{}, knowledge.Project{}, fmt.Errorf("read project %s: %w", q.Project, failure(err))
	}
	if len(rows) == 0 {
		return knowledge.Webhook{}, knowledge.Project{}, knowledge.NotFound("webhook", q.Webhook)
	}
	project, err := rows[0].project()
	if err != nil {
		return knowledge.Webhook{}, project, err
	}
	for _, w := range project.Webhooks {
		if w.ID == q.Webhook && w.Enabled {
			return w, project, nil
		}
	}
	w, err := callbackOf(ctx, s.reader, project, q.Webhook)
	return w, project, err
}

// callbackOf returns the callback of a run as a webhook.
func callbackOf(ctx context.Context, db querier, project knowledge.Project, run string) (knowledge.Webhook, error) {
	var row runRow
	there, err := runTable.first(ctx, db, &row, "r.id = ? AND r.workspace = ? AND r.project = ? AND r.callback <> ''", run, project.Workspace, project.ID)
	if err == nil && !there {
		err = knowledge.NotFound("webhook", run)
	}
	if err != nil {
		return knowledge.Webhook{}, failure(err)
	}
	var c knowledge.Callback
	if err := decode(field{row.Callback, &c}); err != nil {
		return knowledge.Webhook{}, fmt.Errorf("decode the callback of run %s: %w", run, err)
	}
	return knowledge.Webhook{
		ID: run, URL: c.URL, Types: []knowledge.WebhookType{knowledge.WebhookCallback}, Secret: project.CallbackSecret, Headers: c.Headers, Enabled: true,
	}, nil
}

// dueDeliveries leaves out what comes after a pending delivery of its document.
const dueDeliveries = `w.webhook = ?1 AND w.status = 'pending' AND w.next_at <= ?2 AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS e
	WHERE e.webhook = w.webhook AND e.document_id = w.document_id AND e.status = 'pending' AND e.number < w.number)
ORDER BY w.next_at, w.created_at LIMIT ?3`

// DueDeliveries lists deliveries of a webhook whose next attempt is due, at most one
// of each document: the oldest that is pending.
func (s *webhookStore) DueDeliveries(ctx context.Context, q WebhookQueue, now time.Time, limit int) ([]Delivery, error) {
	rows, err := deliveryTable.all(ctx, s.reader, dueDeliveries, q.Webhook, micros(now), limit)
	if err != nil {
		return nil, fmt.Errorf("list due deliveries of webhook %s: %w", q.Webhook, failure(err))
	}
	return decodeRows(rows, (*deliveryRow).delivery)
}

// DeliveryAttempt is the outcome of one attempt.
type DeliveryAttempt struct {
	Delivery   Delivery       // as DueDeliveries returned it
	Status     DeliveryStatus // pending: the next attempt is at NextAt
	HTTPStatus int            // 0 = no answer
	Error      string         // "" = the webhook took it
	Answer     *knowledge.WebhookAnswer
	NextAt     time.Time
	Gone       bool // the webhook wants nothing more: disable it
	At         time.Time
}

// EndAttempt stores the outcome of an attempt. It changes nothing if the outcome of
// this attempt, or of a later one, is stored. The last answer of a webhook is kept
// with the document if it is an error.
func (s *webhookStore) EndAttempt(ctx context.Context, a DeliveryAttempt) error {
	return s.write(ctx, "end an attempt of delivery "+a.Delivery.ID, func(ctx context.Context, tx transaction) error {
		stored, err := a.store(ctx, tx)
		if err != nil || !stored {
			return err
		}
		if a.Status == DeliveryPending {
			return a.delayOthers(ctx, tx)
		}
		if err := a.noteAnswer(ctx, tx); err != nil {
			return err
		}
		if a.Gone {
			return disableWebhook(ctx, tx, a)
		}
		return hasten(ctx, tx, &deliveryRow{Webhook: a.Delivery.Webhook, DocumentID: a.Delivery.DocumentID}, micros(a.At))
	})
}

func (a DeliveryAttempt) store(ctx context.Context, tx transaction) (bool, error) {
	answer := ""
	if a.Answer != nil && a.Status != DeliveryPending {
		var err error
		if answer, err = encode(a.Answer); err != nil {
			return false, err
		}
	}
	var ended int64
	if a.Status != DeliveryPending {
		ended = micros(a.At)
	}
	// An answer to what was told of a document is deleted with the document.
	return changed(tx.exec(ctx, `UPDATE webhook_deliveries SET status = ?1, attempts = attempts + 1, http_status = ?2, error = ?3,
			answer = CASE WHEN document = '' AND type <> 'documents_deleted' THEN '' ELSE ?4 END, next_at = ?5, ended_at = ?6
		WHERE id = ?7 AND status = 'pending' AND attempts = ?8`,
		string(a.Status), a.HTTPStatus, a.Error, answer, micros(a.NextAt), ended, a.Delivery.ID, a.Delivery.Attempts))
}

// delayOthers makes the pending deliveries of the document wait for this one's next
// attempt, so that DueDeliveries and RestWebhook do not look at them before.
func (a DeliveryAttempt) delayOthers(ctx context.Context, tx transaction) error {
	_, err := tx.exec(ctx, "UPDATE webhook_deliveries SET next_at = ?1 WHERE webhook = ?2 AND document_id = ?3 AND status = 'pending' AND next_at < ?1",
		micros(a.NextAt), a.Delivery.Webhook, a.Delivery.DocumentID)
	return err
}

// noteAnswer keeps an answer with the document if it is an error, in place of the
// webhook's answer before.
func (a DeliveryAttempt) noteAnswer(ctx context.Context, tx transaction) error {
	var text string
	there, err := first(ctx, tx, []any{&text}, "SELECT webhook_errors FROM documents WHERE id = ? AND removed = FALSE", a.Delivery.DocumentID)
	failed := a.Answer != nil && a.Answer.Status == knowledge.WebhookStatusError
	if err != nil || !there || text == "" && !failed {
		return err
	}
	var list []knowledge.WebhookError
	if err := decode(field{text, &list}); err != nil {
		return fmt.Errorf("decode answers of webhooks: %w", err)
	}
	list = slices.DeleteFunc(list, func(e knowledge.WebhookError) bool { return e.Webhook == a.Delivery.Webhook })
	if failed {
		list = append(list, knowledge.WebhookError{Webhook: a.Delivery.Webhook, Type: a.Delivery.Type, Message: a.Answer.Message, At: a.At.UTC()})
	}
	if text = ""; len(list) > 0 {
		if text, err = encode(list); err != nil {
			return err
		}
	}
	_, err = tx.exec(ctx, "UPDATE documents SET webhook_errors = ? WHERE id = ?", text, a.Delivery.DocumentID)
	return err
}

// disableWebhook disables the webhook of an attempt, for the attempt's error.
func disableWebhook(ctx context.Context, tx transaction, a DeliveryAttempt) error {
	row := projectRow{Workspace: a.Delivery.Workspace, ID: a.Delivery.Project}
	there, err := found(tx.NewSelect().Model(&row).WherePK().Scan(ctx))
	if err != nil || !there {
		return err
	}
	project, err := row.project()
	if err != nil {
		return err
	}
	before := slices.Clone(project.Webhooks)
	for i, w := range project.Webhooks {
		if w.ID == a.Delivery.Webhook {
			project.Webhooks[i].Enabled, project.Webhooks[i].Disabled = false, a.Error
		}
	}
	if row, err = newProjectRow(project); err != nil {
		return err
	}
	if _, err := tx.NewUpdate().Model(&row).Column("webhooks").WherePK().Exec(ctx); err != nil {
		return err
	}
	return cancelDeliveries(ctx, tx, before, project.Webhooks)
}

// cancelDeliveries cancels the pending deliveries of the webhooks that a change of
// their project disabled or removed.
func cancelDeliveries(ctx context.Context, tx transaction, before, after []knowledge.Webhook) error {
	for _, w := range before {
		if slices.ContainsFunc(after, func(n knowledge.Webhook) bool { return n.ID == w.ID && n.Enabled }) {
			continue
		}
		_, err := tx.exec(ctx, `UPDATE webhook_deliveries SET status = 'canceled', error = 'the webhook was disabled or removed', ended_at = ?
			WHERE webhook = ? AND status = 'pending'`, micros(tx.now()), w.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// RestWebhook lets the workflow of a webhook rest, unless a delivery is due: then
// due is true. next is when the next one is, zero if none is pending. The next event
// after it wakes the workflow.
func (s *webhookStore) RestWebhook(ctx context.Context, q WebhookQueue, now time.Time) (due bool, next time.Time, err error) {
	err = s.write(ctx, "let webhook "+q.Webhook+" rest", func(ctx context.Context, tx transaction) error {
		var at int64
		next = time.Time{}
		pending, err := first(ctx, tx, []any{&at}, "SELECT next_at FROM webhook_deliveries WHERE webhook = ? AND status = 'pending' ORDER BY next_at LIMIT 1", q.Webhook)
		if due = pending && at <= micros(now); err != nil || due {
			return err
		}
		if next = fromMicros(at); !pending {
			_, err = tx.exec(ctx, "DELETE FROM webhook_queues WHERE webhook = ?", q.Webhook)
			return err
		}
		_, err = tx.exec(ctx, "UPDATE webhook_queues SET awake = FALSE WHERE webhook = ?", q.Webhook)
		return err
	})
	return due, next, err
}

// PendingQueue is a webhook with deliveries that are pending, or were a moment ago.
type PendingQueue struct {
	WebhookQueue
	Awake bool // its workflow was to be woken, and has not rested since
}

// PendingQueues lists the webhooks with pending deliveries, but those that were woken
// after before.
func (s *webhookStore) PendingQueues(ctx context.Context, before time.Time) ([]PendingQueue, error) {
	rows, err := s.reader.query(ctx, "SELECT workspace, project, webhook, awake FROM webhook_queues WHERE awake = FALSE OR woken_at < ? ORDER BY woken_at", micros(before))
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", failure(err))
	}
	defer rows.Close()
	var list []PendingQueue
	for rows.Next() {
		var q PendingQueue
		if err := rows.Scan(&q.Workspace, &q.Project, &q.Webhook, &q.Awake); err != nil {
			return nil, fmt.Errorf("list webhooks: %w", failure(err))
		}
		list = append(list, q)
	}
	return list, failure(rows.Err())
}
