package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// DeliveryStatus says where a delivery stands.
type DeliveryStatus string

// The statuses of a delivery. All but the first are final, until it is redelivered.
const (
	DeliveryPending   DeliveryStatus = "pending"   // the first or the next attempt is to come
	DeliveryDelivered DeliveryStatus = "delivered" // the webhook took it
	DeliveryFailed    DeliveryStatus = "failed"    // the webhook refused it, or three days were over
	DeliveryCanceled  DeliveryStatus = "canceled"  // the webhook was disabled or removed before
)

// Delivery is one event of a document for one webhook of its project.
type Delivery struct {
	ID         string
	Event      string // the same for all webhooks that are told of it
	Workspace  string
	Project    string
	Webhook    string // its id
	DocumentID string
	Number     int64 // of the document's events
	Type       knowledge.WebhookType
	Document   *knowledge.Document // as it was; nil = removed since, or removed by the event
	Checkpoint *audit.Checkpoint   // of the type audit_checkpoints, which is about no document
	Status     DeliveryStatus
	Attempts   int
	HTTPStatus int    // of the last attempt; 0 = no answer
	Error      string // of the last attempt
	Answer     *knowledge.WebhookAnswer
	NextAt     time.Time // of a pending one
	Since      time.Time // of its creation, or of the last request to redeliver it
	CreatedAt  time.Time
	EndedAt    time.Time
}

type deliveryRow struct {
	bun.BaseModel `bun:"table:webhook_deliveries,alias:w"`
	ID            string `bun:"id,pk"`
	Event         string `bun:"event"`
	Workspace     string `bun:"workspace"`
	Project       string `bun:"project"`
	Webhook       string `bun:"webhook"`
	DocumentID    string `bun:"document_id"`
	Number        int64  `bun:"number"`
	Type          string `bun:"type"`
	Document      string `bun:"document"` // JSON of a knowledge.Document or an audit.Checkpoint
	Status        string `bun:"status"`
	Attempts      int    `bun:"attempts"`
	HTTPStatus    int    `bun:"http_status"`
	Error         string `bun:"error"`
	Answer        string `bun:"answer"`
	NextAt        int64  `bun:"next_at"`
	Since         int64  `bun:"since"`
	CreatedAt     int64  `bun:"created_at"`
	EndedAt       int64  `bun:"ended_at"`
}

func (r *deliveryRow) queue() WebhookQueue { return WebhookQueue{r.Workspace, r.Project, r.Webhook} }

func (r *deliveryRow) delivery() (Delivery, error) {
	d := Delivery{
		ID: r.ID, Event: r.Event, Workspace: r.Workspace, Project: r.Project, Webhook: r.Webhook, DocumentID: r.DocumentID,
		Number: r.Number, Type: knowledge.WebhookType(r.Type), Status: DeliveryStatus(r.Status), Attempts: r.Attempts,
		HTTPStatus: r.HTTPStatus, Error: r.Error, NextAt: fromMicros(r.NextAt), Since: fromMicros(r.Since),
		CreatedAt: fromMicros(r.CreatedAt), EndedAt: fromMicros(r.EndedAt),
	}
	about := any(&d.Document)
	if d.Type == knowledge.WebhookCheckpoints {
		about = &d.Checkpoint
	}
	if err := decode(field{r.Document, about}, field{r.Answer, &d.Answer}); err != nil {
		return d, fmt.Errorf("decode delivery %s: %w", r.ID, err)
	}
	return d, nil
}

// DeliveryQuery asks for deliveries. Empty fields ask for all.
type DeliveryQuery struct {
	Project  string
	Document string
	Status   DeliveryStatus
	Page
}

// Deliveries lists deliveries, newest first.
func (s *webhookStore) Deliveries(ctx context.Context, p knowledge.Principal, query DeliveryQuery) ([]Delivery, string, error) {
	if err := requireWrite(p); err != nil {
		return nil, "", err
	}
	var rows []deliveryRow
	q := within(s.reader.NewSelect().Model(&rows), "w", p)
	for column, value := range map[string]string{"project": query.Project, "document_id": query.Document, "status": string(query.Status)} {
		if value != "" {
			q = q.Where("w.? = ?", bun.Ident(column), value)
		}
	}
	q, limit, err := newestFirst(q, "w", "webhook_deliveries", query.Page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list deliveries: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r deliveryRow) position {
		return position{List: "webhook_deliveries", Order: r.CreatedAt, ID: r.ID}
	})
	list, err := decodeRows(rows, (*deliveryRow).delivery)
	return list, cursor, err
}

// Redeliver makes a delivery pending again, with three more days. Of one that is
// pending the next attempt is made at once. A webhook that is disabled or was
// removed is a conflict.
func (s *webhookStore) Redeliver(ctx context.Context, p knowledge.Principal, id string) (Delivery, error) {
	if err := requireWrite(p); err != nil {
		return Delivery{}, err
	}
	var row deliveryRow
	err := s.write(ctx, "redeliver "+id, func(ctx context.Context, tx transaction) error {
		there, err := found(within(tx.NewSelect().Model(&row), "w", p).Where("w.id = ?", id).Scan(ctx))
		if err == nil && !there {
			err = knowledge.NotFound("webhook delivery", id)
		}
		if err != nil {
			return err
		}
		if _, err := enabledWebhook(ctx, tx, row.queue()); err != nil {
			return err
		}
		now := micros(s.now())
		if DeliveryStatus(row.Status) != DeliveryPending {
			row.Status, row.Attempts, row.HTTPStatus, row.Error, row.Answer, row.Since, row.EndedAt = string(DeliveryPending), 0, 0, "", "", now, 0
		}
		row.NextAt = now
		if _, err := tx.NewUpdate().Model(&row).WherePK().Exec(ctx); err != nil {
			return err
		}
		if err := hasten(ctx, tx, &row, now); err != nil {
			return err
		}
		return wake(ctx, tx, row.queue(), now)
	})
	if err != nil {
		return Delivery{}, err
	}
	return row.delivery()
}

// hasten makes the pending deliveries of a document to a webhook due.
func hasten(ctx context.Context, tx transaction, r *deliveryRow, now int64) error {
	_, err := tx.exec(ctx, "UPDATE webhook_deliveries SET next_at = ?1 WHERE webhook = ?2 AND document_id = ?3 AND status = 'pending' AND next_at > ?1",
		now, r.Webhook, r.DocumentID)
	return err
}

// enabledWebhook returns the webhook of a queue. One that is disabled or was
// removed is a conflict.
func enabledWebhook(ctx context.Context, tx transaction, q WebhookQueue) (knowledge.Webhook, error) {
	row := projectRow{Workspace: q.Workspace, ID: q.Project}
	if _, err := found(tx.NewSelect().Model(&row).WherePK().Scan(ctx)); err != nil {
		return knowledge.Webhook{}, err
	}
	project, err := row.project()
	if err != nil {
		return knowledge.Webhook{}, err
	}
	for _, w := range project.Webhooks {
		if w.ID == q.Webhook && w.Enabled {
			return w, nil
		}
	}
	if w, err := callbackOf(ctx, tx, project, q.Webhook); err == nil || !knowledge.IsCode(err, knowledge.CodeNotFound) {
		return w, err
	}
	return knowledge.Webhook{}, knowledge.Errorf(knowledge.CodeConflict, "the webhook of this delivery is disabled or was removed: enable it in the project's webhooks first")
}

// DropDeliveries deletes up to limit deliveries that ended before a time.
func (s *webhookStore) DropDeliveries(ctx context.Context, before time.Time, limit int) error {
	return s.write(ctx, "delete old deliveries", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `DELETE FROM webhook_deliveries WHERE id IN
			(SELECT id FROM webhook_deliveries WHERE status <> 'pending' AND ended_at < ? LIMIT ?)`, micros(before), limit)
		return err
	})
}
