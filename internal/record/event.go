package record

import (
	"encoding/json"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ModelFailed is the data of a modelFailed event.
type ModelFailed struct {
	Model    string `json:"model"`
	Provider string `json:"provider,omitempty"` // only for those who may change it
	Code     string `json:"code"`               // of a model.Error
	Status   int    `json:"status,omitempty"`   // HTTP status, 0 = no answer
	Attempt  int    `json:"attempt"`
	Next     string `json:"next,omitempty"` // the model that is asked now, "" = none is left
	// RetryAt is when the model is asked again, because it limits requests until then.
	RetryAt time.Time `json:"retryAt,omitzero"`
}

// ToolEventData is the inline data of a toolEvent. The data that the tool showed is in
// the blob that Event.Ref names, or in Data if a workflow showed it.
type ToolEventData struct {
	ID    string          `json:"id"`    // of the tool call
	Event string          `json:"event"` // as the tool named it
	Data  json.RawMessage `json:"data,omitempty"`
}

// StartedData is the inline data of a question's first event.
type StartedData struct {
	MessageID      string `json:"messageId"`
	ConversationID string `json:"conversationId"`
}

// ResearchData is the inline data of a researchUpdate event. The words are in blobs.
type ResearchData struct {
	Phase    string `json:"phase"`  // plan, search, web, notes, outline, section, message, pause or budget
	Status   string `json:"status"` // started, completed, failed, skipped or received
	Round    int    `json:"round,omitempty"`
	Question int    `json:"question,omitempty"` // of the round, 1 = first
	Section  int    `json:"section,omitempty"`  // 1 = first
	Message  int    `json:"message,omitempty"`  // 1 = first
	Found    *int   `json:"found,omitempty"`    // passages, or pages of the web
	Notes    *int   `json:"notes,omitempty"`

	Reason   string           `json:"reason,omitempty"`   // of a failure, or the budget that is used up
	Searches []string         `json:"searches,omitempty"` // blobs of the searches
	Usage    *knowledge.Usage `json:"usage,omitempty"`    // so far
}

// DocumentState is the inline data of a documentUpdate event; the API adds the
// rest of the document.
type DocumentState struct {
	Version    int             `json:"version"`
	Stage      knowledge.Stage `json:"stage"`
	Progress   float64         `json:"progress"`
	ChunkCount int             `json:"chunkCount,omitempty"`
	PageCount  int             `json:"pageCount,omitempty"`

	Waiting *knowledge.Waiting `json:"waiting,omitempty"`
	At      time.Time          `json:"at,omitzero"` // of the event; zero = an older version of the workflow wrote it
}

// PhaseData is the inline data of a tool_update event.
type PhaseData struct {
	Phase  string         `json:"phase"`
	Status string         `json:"status"`
	Data   map[string]any `json:"data,omitempty"`
}

// ReasoningData is the inline data of a reasoning event that drops the reasoning before it.
type ReasoningData struct {
	Reset bool `json:"reset"`
}

// ResetData is the inline data of a messageReset event.
type ResetData struct {
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"` // retry, tool_calls, message or step
}

// ToolCallData is the inline data of a toolCall event. The arguments are in the
// blob of the model call that Event.Ref names.
type ToolCallData struct {
	ID      string              `json:"id"`
	Name    string              `json:"name"`
	Call    int                 `json:"call"`            // index among the calls of the turn
	Status  knowledge.RunStatus `json:"status"`          // waiting, started, completed, failed or refused
	Found   *int                `json:"found,omitempty"` // passages that the tool found
	Files   string              `json:"files,omitempty"` // blob of the ToolWords, if the tool produced files or a person refused the call
	Summary string              `json:"summary,omitempty"`
	Failure string              `json:"failure,omitempty"`
	Seconds float64             `json:"seconds,omitempty"`
}
