package knowledge

import "time"

// AttachmentTime is how long a question waits for the ingestion of what is attached to it.
const AttachmentTime = 10 * time.Minute

// MaxAttachments bounds what is attached to one question.
const MaxAttachments = 10

// AttachedDocument is a document that is attached to a question, as it was when the
// question had waited for it.
type AttachedDocument struct {
	DocumentID string `json:"document_id"`
	Status     Status `json:"status"` // pending: its ingestion took too long
	Code       Code   `json:"code,omitempty"`
}
