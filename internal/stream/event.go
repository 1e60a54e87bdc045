package stream

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"
)

// The topics of a run's log. api/render.go turns each item into one event of the
// run's SSE stream.
const (
	TopicStarted    = "runStarted"
	TopicDelta      = "delta"
	TopicReset      = "messageReset"
	TopicReasoning  = "reasoning"
	TopicToolCall   = "toolCall"
	TopicToolEvent  = "toolEvent"
	TopicSources    = "sources"
	TopicChosen     = "chosen" // the passages that the model gets
	TopicCompleted  = "completed"
	TopicError      = "error"
	TopicToolUpdate = "toolUpdate"
	TopicToolEnd    = "toolEnd"
	TopicSearch     = "search"
	TopicDocument   = "documentUpdate"
	TopicImport     = "importUpdate"
	TopicResearch   = "researchUpdate"
	TopicEnded      = "runEnded"
	// TopicWebhookCall is also the name of its event, and so is TopicModelFailed.
	TopicWebhookCall = "webhookCall"
	TopicModelFailed = "modelFailed"
	// TopicStep is the topic of a step of the project's pipeline that ran.
	TopicStep = "pipelineStep"
	// TopicAttachment is the topic of a document that is attached to a question.
	TopicAttachment = "attachmentUpdate"
	// TopicMessage is the topic of a message that its person sent while the answer was under way.
	TopicMessage = "userMessage"
	// TopicEvaluation has the progress of an evaluation.
	TopicEvaluation = "evaluationUpdate"
	// TopicGeneration has the progress of a model that writes the questions of a test set.
	TopicGeneration = "generationUpdate"
)

// Terminal reports whether an item of this topic ends a run.
func Terminal(topic string) bool {
	switch topic {
	case TopicCompleted, TopicError, TopicToolEnd, TopicEnded:
		return true
	}
	return false
}

// Event is the content of an item. Text is part of the answer. All other words
// of users and documents are in the blob that Ref names, which the API reads with
// the permission that the reader has at that moment.
type Event struct {
	Turn    int             `json:"turn,omitempty"`    // of the tool loop, 1 = first; 0 = not part of a model call
	Attempt int             `json:"attempt,omitempty"` // of the model call, 1 = first
	Text    string          `json:"text,omitempty"`
	Ref     string          `json:"ref,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"` // ids, counts and states only
}

// Entry is an item without its offset, as publishers send it. Data is the padded
// standard base64 of a serialized temporal.api.common.v1.Payload.
type Entry struct {
	Topic string `json:"topic"`
	Data  string `json:"data"`
}

// Item is an entry with its offset in the log, 0 = first.
type Item struct {
	Topic  string `json:"topic"`
	Data   string `json:"data"`
	Offset int64  `json:"offset"`
}

// NewEntry returns an event as an entry, encoded as json/plain.
func NewEntry(topic string, e Event) (Entry, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return Entry{}, fmt.Errorf("encode event %s: %w", topic, err)
	}
	payload := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: data}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(payload)
	if err != nil {
		return Entry{}, fmt.Errorf("encode event %s: %w", topic, err)
	}
	return Entry{Topic: topic, Data: base64.StdEncoding.EncodeToString(raw)}, nil
}

// DecodeEvent returns the event that the data of an entry or item holds.
func DecodeEvent(data string) (Event, error) {
	var e Event
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return e, fmt.Errorf("decode event: %w", err)
	}
	payload := &commonpb.Payload{}
	if err := proto.Unmarshal(raw, payload); err != nil {
		return e, fmt.Errorf("decode event: %w", err)
	}
	if err := json.Unmarshal(payload.GetData(), &e); err != nil {
		return e, fmt.Errorf("decode event: %w", err)
	}
	return e, nil
}

// Data returns the inline data of an event as JSON: ids, counts and states only.
// It panics if v cannot be encoded.
func Data(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		// Callers pass only structs of plain fields, so this is a defect.
		panic(fmt.Sprintf("stream: data of %T: %v", v, err))
	}
	return b
}
