package a2a

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/citation"
)

// Translator turns the events of a run, from the first on, into results of a stream. It is used
// by one goroutine.
type Translator struct {
	task    Task
	version Version
	now     func() time.Time
	words   citation.PlainText
	written bool // words of the answer were sent
}

// NewTranslator returns a translator of the events of a task that is working.
func NewTranslator(task Task, v Version, now func() time.Time) *Translator {
	return &Translator{task: task, version: v, now: now}
}

// Results returns the results for the next event of the run. There may be none.
func (t *Translator) Results(name string, data []byte) ([]any, error) {
	switch name {
	case "runStarted":
		return []any{t.task.Sent(t.version)}, nil
	case "apiMessageChunk":
		var chunk struct{ Chunk struct{ Data string } }
		if err := json.Unmarshal(data, &chunk); err != nil {
			return nil, fmt.Errorf("read event %s: %w", name, err)
		}
		return t.append(t.words.Write(chunk.Chunk.Data)), nil
	case "messageReset":
		t.words = citation.PlainText{}
		if !t.written {
			return nil, nil
		}
		t.written = false
		return []any{t.artifact("", nil, false, false)}, nil
	case "completedMessage", "error":
		if err := t.task.End(name, data, t.now()); err != nil {
			return nil, err
		}
		if t.task.Answer == nil {
			return []any{t.status()}, nil
		}
		return []any{t.artifact(t.task.Answer.Text, t.task.Answer.Sources, false, true), t.status()}, nil
	}
	return nil, nil
}

// append returns the result for more words of the answer.
func (t *Translator) append(words string) []any {
	if words == "" {
		return nil
	}
	more := t.written
	t.written = true
	return []any{t.artifact(words, nil, more, false)}
}

// artifact returns the result for words of the answer: behind those before, or in their place.
func (t *Translator) artifact(words string, sources []Source, more, last bool) any {
	update := map[string]any{
		"taskId": t.task.ID, "contextId": t.task.Context, "artifact": artifact(t.version, words, sources), "append": more, "lastChunk": last,
	}
	if t.version == V03 {
		update["kind"] = "artifact-update"
		return update
	}
	return map[string]any{"artifactUpdate": update}
}

// status returns the result for the end of the task.
func (t *Translator) status() any {
	update := map[string]any{"taskId": t.task.ID, "contextId": t.task.Context, "status": t.task.status(t.version)}
	if t.version == V03 {
		update["kind"], update["final"] = "status-update", true
		return update
	}
	return map[string]any{"statusUpdate": update}
}
