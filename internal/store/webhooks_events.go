package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// WebhookQueue is a webhook that has deliveries to make.
type WebhookQueue struct {
	Workspace string `json:"workspace"`
	Project   string `json:"project"`
	Webhook   string `json:"webhook"` // its id
}

// webhooksOf is the column with the webhooks of the project of a document d, as
// JSON. A query that reads the document reads it too, so that a document of a
// project without webhooks costs no statement.
const webhooksOf = "COALESCE((SELECT p.webhooks FROM projects AS p WHERE p.workspace = d.workspace AND p.id = d.project), '')"

// mayWant reports whether webhooks, as JSON, may want events of a type. It saves
// the decoding where there are none.
func mayWant(webhooks string, kind knowledge.WebhookType) bool {
	return strings.Contains(webhooks, string(kind))
}

// webhooksThat returns those webhooks that want events of a type.
func webhooksThat(encoded string, want knowledge.WebhookType) ([]knowledge.Webhook, error) {
	if !mayWant(encoded, want) {
		return nil, nil
	}
	var webhooks []knowledge.Webhook
	if err := decode(field{encoded, &webhooks}); err != nil {
		return nil, fmt.Errorf("decode webhooks: %w", err)
	}
	return slices.DeleteFunc(webhooks, func(w knowledge.Webhook) bool { return !w.Wants(want) }), nil
}

// addDelivery adds a delivery, unless it is there. It comes after the pending ones
// of its document: the next attempt of those is its first.
const addDelivery = `INSERT INTO webhook_deliveries
	(id, event, workspace, project, webhook, document_id, number, type, document, status, attempts, http_status, error, answer, next_at, since, created_at, ended_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'pending', 0, 0, '', '', COALESCE((SELECT MAX(next_at) FROM webhook_deliveries
	WHERE webhook = ?5 AND document_id = ?6 AND status = 'pending' AND next_at > ?10), ?10), ?10, ?10, 0)
ON CONFLICT (id) DO NOTHING`

// announce adds an event of a document for each webhook that wants it, in the
// transaction of what it tells. occasion tells events of a type apart: the same
// occasion is announced once. The row must come from loadDocument or loadDocuments,
// and be as the event shows it.
func (r *documentRow) announce(ctx context.Context, tx transaction, kind knowledge.WebhookType, occasion string, now int64) error {
	webhooks, err := webhooksThat(r.Webhooks, kind)
	if err != nil || len(webhooks) == 0 {
		return err
	}
	snapshot := ""
	if kind != knowledge.WebhookDeleted { // which shows the id alone
		d, err := r.document()
		if err != nil {
			return err
		}
		d.WebhookErrors = nil // the answers of the other webhooks
		if snapshot, err = encode(d); err != nil {
			return fmt.Errorf("encode document %s: %w", r.ID, err)
		}
	}
	event := knowledge.DerivedID("event", r.ID, strconv.FormatInt(r.CreatedAt, 10), string(kind), occasion)
	number, added := r.Events+1, false
	for _, w := range webhooks {
		id := knowledge.DerivedID("delivery", event, w.ID)
		done, err := changed(tx.exec(ctx, addDelivery, id, event, r.Workspace, r.Project, w.ID, r.ID, number, string(kind), snapshot, now))
		if err == nil && done {
			added, err = true, wake(ctx, tx, WebhookQueue{r.Workspace, r.Project, w.ID}, now)
		}
		if err != nil {
			return err
		}
	}
	if !added {
		return nil
	}
	r.Events = number
	_, err = tx.exec(ctx, "UPDATE documents SET events = ? WHERE id = ?", number, r.ID)
	return err
}

// callBack adds the delivery that tells how a run ended. The queue's webhook is the run.
func callBack(ctx context.Context, tx transaction, q WebhookQueue, now int64) error {
	event := knowledge.DerivedID("event", q.Webhook, string(knowledge.WebhookCallback))
	_, err := tx.exec(ctx, addDelivery, knowledge.DerivedID("delivery", event, q.Webhook), event, q.Workspace, q.Project, q.Webhook, q.Webhook, 1,
		string(knowledge.WebhookCallback), "", now)
	if err != nil {
		return err
	}
	return wake(ctx, tx, q, now)
}

// wake marks a queue as awake. If it was not, its workflow is woken after the
// transaction.
func wake(ctx context.Context, tx transaction, q WebhookQueue, now int64) error {
	woken, err := changed(tx.exec(ctx, `INSERT INTO webhook_queues (webhook, workspace, project, awake, woken_at) VALUES (?1, ?2, ?3, TRUE, ?4)
		ON CONFLICT (webhook) DO UPDATE SET awake = TRUE, woken_at = ?4 WHERE webhook_queues.awake = FALSE`, q.Webhook, q.Workspace, q.Project, now))
	if err == nil && woken {
		*tx.woken = append(*tx.woken, q)
	}
	return err
}

// announceCreated announces a new document, once in its life.
func (r *versionRow) announceCreated(ctx context.Context, tx transaction, now int64) error {
	if r.PublishedVersion > 0 || !mayWant(r.Webhooks, knowledge.WebhookCreated) {
		return nil
	}
	var doc documentRow
	if _, err := loadDocument(ctx, tx, r.DocumentID, &doc); err != nil {
		return err
	}
	return doc.announce(ctx, tx, knowledge.WebhookCreated, "", now)
}

// announcePublished announces the publication of a version: an update if it replaces
// one, else a new document, unless that was announced before. r is the row before.
func (r *documentRow) announcePublished(ctx context.Context, tx transaction, version int, now int64) error {
	kind, occasion := knowledge.WebhookCreated, ""
	if r.PublishedVersion > 0 {
		kind, occasion = knowledge.WebhookUpdated, "version "+strconv.Itoa(version)
	}
	if !mayWant(r.Webhooks, kind) {
		return nil
	}
	var doc documentRow
	if _, err := loadDocument(ctx, tx, r.ID, &doc); err != nil {
		return err
	}
	return doc.announce(ctx, tx, kind, occasion, now)
}

// forgetEvents deletes what the events of a removed document say about it. They
// are still delivered, with its id alone.
func forgetEvents(ctx context.Context, tx transaction, doc *documentRow) error {
	if doc.Events == 0 {
		return nil
	}
	_, err := tx.exec(ctx, "UPDATE webhook_deliveries SET document = '', answer = '' WHERE document_id = ?", doc.ID)
	return err
}
