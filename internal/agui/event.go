package agui

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Version is the version of the protocol.
const Version = "1.0"

// Event is one event of the protocol. The fields that its type lacks are empty.
type Event struct {
	Type string `json:"type"`

	// The run.
	ThreadID        string       `json:"threadId,omitempty"`
	RunID           string       `json:"runId,omitempty"`
	ProtocolVersion string       `json:"protocolVersion,omitempty"`
	Result          any          `json:"result,omitempty"`
	Outcome         *RunOutcome  `json:"outcome,omitempty"`
	Usage           []ModelUsage `json:"usage,omitempty"`
	Message         string       `json:"message,omitempty"` // of an error
	Code            string       `json:"code,omitempty"`    // of an error
	StepName        string       `json:"stepName,omitempty"`

	// A message, or a call of a tool.
	MessageID       string `json:"messageId,omitempty"`
	Role            string `json:"role,omitempty"`
	Delta           any    `json:"delta,omitempty"` // words, or the []Patch of a state
	ToolCallID      string `json:"toolCallId,omitempty"`
	ToolCallName    string `json:"toolCallName,omitempty"`
	ParentMessageID string `json:"parentMessageId,omitempty"`
	Content         string `json:"content,omitempty"`

	// The state, or an event that the protocol does not have.
	Snapshot *RunState `json:"snapshot,omitempty"`
	Name     string    `json:"name,omitempty"`
	Value    any       `json:"value,omitempty"`
}

// RunOutcome says why a run ended.
type RunOutcome struct {
	Type string `json:"type"` // success or cancelled
}

// ModelUsage counts the tokens of a model in a run.
type ModelUsage struct {
	Model        string `json:"model,omitempty"`
	InputTokens  int    `json:"inputTokens"`
	OutputTokens int    `json:"outputTokens"`
	TotalTokens  int    `json:"totalTokens"`
}

// RunState is the state of a run when it starts. Patches change it.
type RunState struct {
	Status    string                     `json:"status"` // running, completed, failed or canceled
	Phase     string                     `json:"phase"`
	Phases    map[string]json.RawMessage `json:"phases"`    // data of each phase, by its name
	ToolCalls map[string]json.RawMessage `json:"toolCalls"` // data of each call, by its id
	Sources   []json.RawMessage          `json:"sources"`
	Run       json.RawMessage            `json:"run,omitempty"` // data of runStarted
}

// Patch is one operation of a JSON Patch (RFC 6902).
type Patch struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// set returns the patch that sets the value at a path, whether it has one or not.
func set(value any, path ...string) Patch {
	var pointer strings.Builder
	for _, part := range path {
		pointer.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
	}
	return Patch{Op: "add", Path: pointer.String(), Value: value}
}

// decode reads the data of an event of the run.
func decode[T any](name string, data []byte) (T, error) {
	var out T
	if err := json.Unmarshal(data, &out); err != nil {
		return out, fmt.Errorf("read the data of %s: %w", name, err)
	}
	return out, nil
}
