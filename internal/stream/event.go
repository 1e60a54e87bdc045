package stream

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"
)

// The topics of a run's log. Each item becomes one event of the run's SSE
// stream; api/render.go says which.
const (
	TopicStarted    = "runStarted"
	TopicDelta      = "delta"
	TopicReset      = "messageReset"
	TopicToolCall   = "toolCall"
	TopicSources    = "sources"
	TopicCompleted  = "completed"
	TopicError      = "error"
	TopicToolUpdate = "toolUpdate"
	TopicToolEnd    = "toolEnd"
	TopicDocument   = "documentUpdate"
	TopicEnded      = "runEnded"
)

// Terminal reports whether an item of this topic is a run's last.
func Terminal(topic string) bool {
	switch topic {
	case TopicCompleted, TopicError, TopicToolEnd, TopicEnded:
		return true
	}
	return false
}

// Event is what an item says. Text is the answer's own words; everything else
// that could hold a user's or a document's words is in the blob that Ref names,
// and the API reads it with the permission of the moment.
type Event struct {
	Turn    int             `json:"turn,omitempty"`    // of the tool loop, 1 = first; 0 = not part of a model call
	Attempt int             `json:"attempt,omitempty"` // of the model call, 1 = first
	Text    string          `json:"text,omitempty"`
	Ref     string          `json:"ref,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"` // ids, counts and states only
}

// Entry is an item as it travels: Data is the padded standard base64 of a
// serialized temporal.api.common.v1.Payload.
type Entry struct {
	Topic string `json:"topic"`
	Data  string `json:"data"`
}

// Item is an entry of the log with its place in it.
type Item struct {
	Topic  string `json:"topic"`
	Data   string `json:"data"`
	Offset int64  `json:"offset"`
}

// NewEntry encodes an event as json/plain.
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

// DecodeEvent reads the event out of an entry's or item's data.
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

// Data encodes the inline data of an event: ids, counts and states only.
func Data(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		// Only structs of plain fields are passed; failing here is a defect.
		panic(fmt.Sprintf("stream: data of %T: %v", v, err))
	}
	return b
}
