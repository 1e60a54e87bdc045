package activities

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/stream"
)

// RunRef names a run and its workspace.
type RunRef struct {
	Workspace string `json:"workspace"`
	Project   string `json:"project"`
	Run       string `json:"run"`
}

// Key is the key of one of the run's blobs.
func (r RunRef) Key(name string) string { return blob.RunKey(r.Workspace, r.Run, name) }

// The blobs of a run.
const (
	RequestBlob = "request.json"
	AnswerBlob  = "answer.json"
	LogBlob     = "log.json"
)

// Request is the snapshot with which a question starts: who asks, what, and
// the configuration of that moment. It is written to the blob store before the
// workflow starts and never enters history.
type Request struct {
	Principal      knowledge.Principal     `json:"principal"`
	Kind           string                  `json:"kind"` // "query" or "tool"
	Question       string                  `json:"question"`
	Projects       []string                `json:"projects,omitempty"`
	Documents      []string                `json:"documents,omitempty"`
	Filter         knowledge.Filter        `json:"filter,omitempty"`
	Config         knowledge.ProjectConfig `json:"config"` // with defaults
	History        []model.Message         `json:"history,omitempty"`
	ToolChoice     string                  `json:"tool_choice,omitempty"`
	ConversationID string                  `json:"conversation_id,omitempty"`
	QuestionID     string                  `json:"question_id,omitempty"` // of the user's message
	MessageID      string                  `json:"message_id,omitempty"`  // of the answer
	ExecutionID    string                  `json:"execution_id,omitempty"`
	Date           time.Time               `json:"date"`
}

// SearchFirst reports whether the prompt has passages in it, which must be found
// before the model is asked.
func (r Request) SearchFirst() bool { return prompt.WantsContext(r.prompt()) }

// prompt is the template of the system message. A tool has no other way to the
// passages that it searched for.
func (r Request) prompt() string {
	if r.Kind == "tool" {
		return prompt.WithContext(r.Config.AI.Prompt)
	}
	return r.Config.AI.Prompt
}

// RequestBlobs is where requests are read.
type RequestBlobs interface {
	// GetJSON reads what is under key; a missing one is blob.ErrNotFound.
	GetJSON(ctx context.Context, key string, v any) error
}

// ReadRequest reads a run's request. A missing one is blob.ErrNotFound.
func ReadRequest(ctx context.Context, blobs RequestBlobs, run RunRef) (r Request, err error) {
	if err := blobs.GetJSON(ctx, run.Key(RequestBlob), &r); err != nil {
		return r, fmt.Errorf("read request of run %s: %w", run.Run, err)
	}
	return r, nil
}

// StoredLog is a run's log as it stands in the blob store once the run ended,
// with the offsets that the items had in the workflow's log.
type StoredLog struct {
	Items []stream.Item `json:"items"`
}

// heartbeat tells Temporal every second, from now until stop, that the
// activity is alive, whatever it waits for; also while one that is cancelled
// brings to an end what must not be left halfway. A local activity needs none.
func heartbeat(ctx context.Context) (stop func()) {
	if activity.GetInfo(ctx).IsLocalActivity {
		return func() {}
	}
	done := make(chan struct{})
	ctx = context.WithoutCancel(ctx)
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// logger adds the ids of a version to the lines of a step.
func logger(l *slog.Logger, ref knowledge.VersionRef, run string) *slog.Logger {
	return l.With("workspace", ref.Workspace, "document", ref.Document, "version", ref.Version, "run", run)
}
