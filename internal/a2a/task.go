package a2a

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/citation"
)

// State is the state of a task.
type State string

// The states, as version 0.3 names them.
const (
	Working   State = "working"
	Completed State = "completed"
	Failed    State = "failed"
	Canceled  State = "canceled"
)

// in returns the name of a state in a version.
func (s State) in(v Version) string {
	if v == V03 {
		return string(s)
	}
	return map[State]string{Working: "TASK_STATE_WORKING", Completed: "TASK_STATE_COMPLETED", Failed: "TASK_STATE_FAILED", Canceled: "TASK_STATE_CANCELED"}[s]
}

// artifactID is the id of the one artifact of each task: the answer.
const artifactID = "answer"

// Task is the run of a question.
type Task struct {
	ID      string
	Context string // its conversation
	State   State
	At      time.Time // when it came into this state
	Message string    // why it failed
	Answer  *Result   // nil = there is none
}

// Result is an answer with the passages that it cites.
type Result struct {
	Text    string   `json:"answer"`
	Sources []Source `json:"sources"`
}

// Source is a passage of an answer.
type Source struct {
	Rank     int    `json:"rank"`
	ChunkID  string `json:"chunkId,omitempty"`
	Document string `json:"documentName,omitempty"`
	URL      string `json:"url,omitempty"`
	Text     string `json:"text,omitempty"`
	Page     *int   `json:"pageNumber,omitempty"`
	Used     bool   `json:"usedInResponse"`
}

// parseResult reads the data of the event completedMessage.
func parseResult(data []byte) (*Result, error) {
	var r Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read an answer: %w", err)
	}
	var plain citation.PlainText
	r.Text = plain.Write(r.Text) + plain.Close()
	used := []Source{}
	for _, s := range r.Sources {
		if s.Used {
			used = append(used, s)
		}
	}
	r.Sources = used
	return &r, nil
}

// End sets how the task has ended, by the name and the data of the last event of its run.
func (t *Task) End(name string, data []byte, at time.Time) error {
	t.At = at
	if name == "completedMessage" {
		answer, err := parseResult(data)
		if err != nil {
			return fmt.Errorf("read event %s: %w", name, err)
		}
		t.State, t.Answer = Completed, answer
		return nil
	}
	var failure struct{ Code, Message string }
	if err := json.Unmarshal(data, &failure); err != nil {
		return fmt.Errorf("read event %s: %w", name, err)
	}
	if t.State, t.Message = Failed, failure.Message; failure.Code == "canceled" {
		t.State = Canceled
	}
	return nil
}

// In returns the task as a version of the protocol shows it.
func (t Task) In(v Version) map[string]any {
	shown := map[string]any{"id": t.ID, "contextId": t.Context, "status": t.status(v)}
	if t.Answer != nil {
		shown["artifacts"] = []any{artifact(v, t.Answer.Text, t.Answer.Sources)}
	}
	if v == V03 {
		shown["kind"] = "task"
	}
	return shown
}

// Sent returns the task as the answer to a message: version 1.0 says what it is.
func (t Task) Sent(v Version) map[string]any {
	if v == V03 {
		return t.In(v)
	}
	return map[string]any{"task": t.In(v)}
}

func (t Task) status(v Version) map[string]any {
	status := map[string]any{"state": t.State.in(v), "timestamp": t.At.UTC().Format("2006-01-02T15:04:05.000Z")}
	if t.Message == "" {
		return status
	}
	told := map[string]any{"messageId": t.ID + "-status", "contextId": t.Context, "taskId": t.ID, "role": "ROLE_AGENT", "parts": []any{textPart(v, t.Message)}}
	if v == V03 {
		told["role"], told["kind"] = "agent", "message"
	}
	status["message"] = told
	return status
}

func textPart(v Version, text string) map[string]any {
	if v == V03 {
		return map[string]any{"kind": "text", "text": text}
	}
	return map[string]any{"text": text, "mediaType": "text/markdown"}
}

// artifact returns the answer. sources are part of it once they are known.
func artifact(v Version, text string, sources []Source) map[string]any {
	parts := []any{textPart(v, text)}
	if sources != nil {
		data := map[string]any{"data": map[string]any{"sources": sources}}
		if v == V03 {
			data["kind"] = "data"
		} else {
			data["mediaType"] = "application/json"
		}
		parts = append(parts, data)
	}
	return map[string]any{"artifactId": artifactID, "name": artifactID, "parts": parts}
}
