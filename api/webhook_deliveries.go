package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// deliveryView is an event of a document for one webhook.
type deliveryView struct {
	ID             string                `json:"id"`
	EventID        string                `json:"event_id" doc:"The webhook-id of its requests"`
	Type           knowledge.WebhookType `json:"type"`
	ProjectID      string                `json:"project_id"`
	DocumentID     string                `json:"document_id" doc:"Empty for a callback"`
	RunID          string                `json:"run_id,omitempty" doc:"The run of a callback"`
	SubscriptionID string                `json:"subscription_id" doc:"The id of the webhook in the project's webhooks"`
	Status         store.DeliveryStatus  `json:"status" enum:"pending,delivered,failed,canceled"`
	Attempts       int                   `json:"attempts"`
	HTTPStatus     *int                  `json:"http_status" doc:"The HTTP status of the last attempt; null: no response"`
	Error          *string               `json:"error" doc:"Why the last attempt failed"`
	Answer         *deliveryAnswer       `json:"answer,omitempty" doc:"The response of the webhook"`
	NextAttemptAt  *time.Time            `json:"next_attempt_at" doc:"The time of the next attempt of a pending delivery"`
	CreatedAt      time.Time             `json:"created_at"`
	EndedAt        *time.Time            `json:"ended_at"`
}

// deliveryAnswer is the answer of a webhook in the form in which it was given.
type deliveryAnswer struct {
	Status string              `json:"status" enum:"success,error"`
	Error  *deliveryAnswerText `json:"error,omitempty"`
}

type deliveryAnswerText struct {
	Message string `json:"message"`
}

type deliveryOutput struct{ Body deliveryView }

// deliveryRoutes holds the routes of what was sent to webhooks.
type deliveryRoutes struct {
	store Store
}

func (dr *deliveryRoutes) mount(e *edge.Edge) {
	tags := []string{"webhooks"}
	const path = "/workspaces/{workspaceId}/webhook_deliveries"
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-webhook-deliveries", Method: http.MethodGet, Path: path, Summary: "List webhook deliveries, newest first", Tags: tags,
	}}, dr.listDeliveries)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "redeliver", Method: http.MethodPost, Path: path + "/{id}/redeliver", DefaultStatus: http.StatusAccepted,
		Summary: "Deliver a webhook event again", Description: "The delivery keeps its webhook-id and is attempted for another three days. A pending delivery is attempted at once.", Tags: tags,
	}}, dr.redeliver)
}

func (dr *deliveryRoutes) listDeliveries(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	Project  string               `query:"project_id" maxLength:"200" doc:"Default: every project that the key covers"`
	Document string               `query:"document_id" maxLength:"200"`
	Status   store.DeliveryStatus `query:"status" enum:"pending,delivered,failed,canceled"`
}) (*listOutput[deliveryView], error) {
	project, err := projectID(ctx, dr.store, p, in.Project)
	if err != nil {
		return nil, err
	}
	deliveries, next, err := dr.store.Deliveries(ctx, p, store.DeliveryQuery{
		Project: project, Document: in.Document, Status: in.Status, Page: store.Page(in.PageQuery),
	})
	if err != nil {
		return nil, fmt.Errorf("list webhook deliveries: %w", err)
	}
	return page(convert(deliveries, viewDelivery), next), nil
}

func (dr *deliveryRoutes) redeliver(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	ID string `path:"id" maxLength:"200"`
}) (*deliveryOutput, error) {
	d, err := dr.store.Redeliver(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("redeliver %s: %w", in.ID, err)
	}
	return &deliveryOutput{viewDelivery(d)}, nil
}

func viewDelivery(d store.Delivery) deliveryView {
	v := deliveryView{
		ID: d.ID, EventID: d.Event, Type: d.Type, ProjectID: d.Project, DocumentID: d.DocumentID, SubscriptionID: d.Webhook,
		Status: d.Status, Attempts: d.Attempts, HTTPStatus: orNull(d.HTTPStatus), Error: orNull(d.Error), CreatedAt: d.CreatedAt, EndedAt: orNull(d.EndedAt),
	}
	if d.Type == knowledge.WebhookCallback {
		v.DocumentID, v.RunID, v.SubscriptionID = "", d.Webhook, ""
	}
	if d.Status == store.DeliveryPending {
		v.NextAttemptAt = orNull(d.NextAt)
	}
	if d.Answer != nil {
		v.Answer = &deliveryAnswer{Status: d.Answer.Status}
		if d.Answer.Status == knowledge.WebhookStatusError {
			v.Answer.Error = &deliveryAnswerText{d.Answer.Message}
		}
	}
	return v
}
