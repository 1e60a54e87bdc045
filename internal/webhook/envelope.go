package webhook

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/view"
)

// Event is what a webhook is told.
type Event struct {
	Type       knowledge.WebhookType
	DocumentID string
	// Document is the document as it was, nil if it was removed by the event or
	// since. Then the payload has its id alone.
	Document *knowledge.Document
	At       time.Time
}

// envelope is the body of every request.
type envelope struct {
	Type      knowledge.WebhookType `json:"type"`
	ProjectID string                `json:"projectId"`
	CreatedAt string                `json:"createdAt"`
	SessionID string                `json:"sessionId"` // the conversation that the document belongs to, if it belongs to one
	Payload   any                   `json:"payload"`
	Project   view.Project          `json:"project"`
}

// PayloadEnvelope returns the body of the request for an event that is about no document.
func PayloadEnvelope(kind knowledge.WebhookType, payload any, project knowledge.Project, at time.Time) ([]byte, error) {
	data, err := json.Marshal(envelope{
		Type: kind, ProjectID: project.ID, CreatedAt: at.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano),
		Payload: payload, Project: view.NewProject(project),
	})
	if err != nil {
		return nil, fmt.Errorf("encode an event %s of project %s: %w", kind, project.ID, err)
	}
	return data, nil
}

// removedPayload is the payload of an event whose document is gone.
type removedPayload struct {
	ID     string           `json:"id"`
	Status knowledge.Status `json:"status,omitempty"`
}

// Envelope returns the body of the request for an event. The project is shown
// without its webhooks, which are nobody else's business. operatorURL returns the
// address of a workflow's page.
func Envelope(e Event, project knowledge.Project, operatorURL func(workflowID string) string) ([]byte, error) {
	body := envelope{
		Type: e.Type, ProjectID: project.ID, CreatedAt: e.At.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano), Project: view.NewProject(project),
	}
	switch {
	case e.Type == knowledge.WebhookDeleted:
		body.Payload = removedPayload{ID: e.DocumentID}
	case e.Document == nil:
		body.Payload = removedPayload{ID: e.DocumentID, Status: knowledge.StatusDeleting}
	default:
		body.SessionID, body.Payload = e.Document.ConversationID, view.NewDocument(*e.Document, operatorURL)
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode the event of document %s: %w", e.DocumentID, err)
	}
	return data, nil
}
