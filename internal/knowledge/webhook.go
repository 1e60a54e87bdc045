package knowledge

import (
	"slices"
	"time"
)

// WebhookType is a kind of event that a webhook is called for.
type WebhookType string

// The types of webhooks about documents.
const (
	WebhookCreated WebhookType = "documents_created" // a new document passed the check
	WebhookUpdated WebhookType = "documents_updated" // a newer version was published, or attributes were changed
	WebhookDeleted WebhookType = "documents_deleted" // the removal of a document began
)

// WebhookQueries is the type of a webhook that is asked about each question, in line.
const WebhookQueries WebhookType = "queries"

// WebhookTests is the type of a webhook that is told of the results of an evaluation.
const WebhookTests WebhookType = "tests_results"

// WebhookCheckpoints is the type of a webhook that is told of the signed checkpoints of the audit
// of its workspace.
const WebhookCheckpoints WebhookType = "audit_checkpoints"

// WebhookTypes returns the types that a webhook can subscribe to.
func WebhookTypes() []WebhookType {
	return []WebhookType{WebhookCreated, WebhookUpdated, WebhookDeleted, WebhookQueries, WebhookTests, WebhookCheckpoints}
}

// Webhook is an address of a project that is told of events. Its secrets are
// sealed.
type Webhook struct {
	ID       string        `json:"id"`
	URL      string        `json:"url"`
	Types    []WebhookType `json:"types"`
	Secret   string        `json:"secret"`             // sealed; signs each request
	APIKey   string        `json:"apiKey,omitempty"`   // sealed; sent as knowledge-project-apiKey
	Headers  string        `json:"headers,omitempty"`  // sealed JSON of more headers; of a Callback alone
	Enabled  bool          `json:"enabled"`            // it is told of new events
	Required bool          `json:"required,omitempty"` // a question fails if a webhook of type queries does
	Disabled string        `json:"disabled,omitempty"` // why Cairn disabled it
}

// Wants reports whether the webhook is told of events of a type.
func (w Webhook) Wants(t WebhookType) bool { return w.Enabled && slices.Contains(w.Types, t) }

// The statuses of a WebhookAnswer.
const (
	WebhookStatusSuccess = "success"
	WebhookStatusError   = "error"
)

// WebhookAnswer is what a webhook answered about a document.
type WebhookAnswer struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"` // of an error
}

// WebhookError is the answer of a webhook that it could not work with a document.
type WebhookError struct {
	Webhook string      `json:"webhook"` // its id
	Type    WebhookType `json:"type"`    // of the event that it answered
	Message string      `json:"message"`
	At      time.Time   `json:"at"`
}
