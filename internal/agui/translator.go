package agui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/cairn-rag/cairn/internal/citation"
)

// Translator turns the events of one run, from the first on, into events of the protocol.
// The same events of a run always become the same. It is used by one goroutine.
type Translator struct {
	run, thread string

	begun    bool
	base     string // id of the first message
	messages int    // that were opened
	open     string // id of the message that is open; "" = none
	words    citation.PlainText
	wrote    bool   // the open message, or the last one, has words that stand
	parent   string // id of the message that the next calls of tools follow

	steps []string          // that are open
	stage string            // of a document
	calls map[string]string // the id in the protocol of each call that has not ended
	named map[string]int    // how many calls of the run had this id

	out []Event
}

// New returns a translator of the events of a run. The thread of a run without a
// conversation is the run itself.
func New(run string) *Translator {
	return &Translator{run: run, thread: run, base: run + "-message", calls: map[string]string{}, named: map[string]int{}}
}

// Events returns the events of the protocol for the next event of the run. There may be
// none.
func (t *Translator) Events(name string, data []byte) ([]Event, error) {
	t.out = nil
	if err := t.translate(name, data); err != nil {
		return nil, err
	}
	return t.out, nil
}

func (t *Translator) translate(name string, data []byte) error {
	if name == "runStarted" {
		return t.started(name, data)
	}
	t.begin(nil)
	switch name {
	case "apiMessageChunk", "tool_partial_update":
		return t.chunk(name, data)
	case "messageReset":
		t.reset(data)
		return nil
	case "toolCall":
		return t.toolCall(name, data)
	case "sendSourcesMessage":
		return t.sources(name, data)
	case "tool_update":
		return t.phase(name, data)
	case "researchUpdate":
		return t.research(name, data)
	case "documentUpdate":
		return t.document(name, data)
	case "importUpdate":
		t.patch(set(json.RawMessage(data), "import"))
		return nil
	case "completedMessage", "tool_end":
		return t.answered(name, data)
	case "runEnded":
		return t.ended(name, data)
	case "error":
		return t.failed(name, data)
	}
	t.custom(name, data)
	return nil
}

func (t *Translator) add(e Event) { t.out = append(t.out, e) }

func (t *Translator) patch(p ...Patch) { t.add(Event{Type: "STATE_DELTA", Delta: p}) }

func (t *Translator) custom(name string, data []byte) {
	t.add(Event{Type: "CUSTOM", Name: name, Value: json.RawMessage(data)})
}

// begin opens the run, if nothing has yet.
func (t *Translator) begin(run json.RawMessage) {
	if t.begun {
		return
	}
	t.begun = true
	t.add(Event{Type: "RUN_STARTED", ThreadID: t.thread, RunID: t.run, ProtocolVersion: Version})
	t.add(Event{Type: "STATE_SNAPSHOT", Snapshot: &RunState{
		Status: "running", Phases: map[string]json.RawMessage{}, ToolCalls: map[string]json.RawMessage{}, Sources: []json.RawMessage{}, Run: run,
	}})
}

func (t *Translator) started(name string, data []byte) error {
	e, err := decode[struct {
		MessageID      string `json:"messageId"`
		ConversationID string `json:"conversationId"`
	}](name, data)
	if err != nil {
		return err
	}
	if e.ConversationID != "" {
		t.thread = e.ConversationID
	}
	if e.MessageID != "" {
		t.base = e.MessageID
	}
	t.begin(data)
	return nil
}

// chunk adds the next words of the answer, without the tags of citations.
func (t *Translator) chunk(name string, data []byte) error {
	e, err := decode[struct {
		Chunk   struct{ Data string } `json:"chunk"`
		Content string                `json:"content"`
	}](name, data)
	if err != nil {
		return err
	}
	t.write(t.words.Write(e.Chunk.Data + e.Content))
	return nil
}

// write adds words to the message, which it opens.
func (t *Translator) write(words string) {
	if words == "" { // earlier versions of the protocol refuse an empty delta
		return
	}
	if t.open == "" {
		t.open = t.base
		if t.messages > 0 {
			t.open += "-" + strconv.Itoa(t.messages+1)
		}
		t.messages++
		t.add(Event{Type: "TEXT_MESSAGE_START", MessageID: t.open, Role: "assistant"})
	}
	t.wrote = true
	t.add(Event{Type: "TEXT_MESSAGE_CONTENT", MessageID: t.open, Delta: words})
}

// closeMessage ends the message that is open.
func (t *Translator) closeMessage() {
	t.write(t.words.Close())
	if t.open != "" {
		t.add(Event{Type: "TEXT_MESSAGE_END", MessageID: t.open})
		t.parent = t.open
	}
	t.open, t.words = "", citation.PlainText{}
}

// reset ends a message whose words do not belong to the answer. The protocol cannot take
// words back, so the event says which message that is.
func (t *Translator) reset(data []byte) {
	value := map[string]any{}
	_ = json.Unmarshal(data, &value) // what is no object has nothing to show
	delete(value, "phase")
	delete(value, "status")
	t.parent = ""
	if t.closeMessage(); t.parent != "" {
		value["messageId"] = t.parent
	}
	t.wrote = false
	t.add(Event{Type: "CUSTOM", Name: "messageReset", Value: value})
}

// startStep opens a step, unless it is open.
func (t *Translator) startStep(name string) {
	if !slices.Contains(t.steps, name) {
		t.steps = append(t.steps, name)
		t.add(Event{Type: "STEP_STARTED", StepName: name})
	}
}

// finishStep closes a step. One that was never open opens first.
func (t *Translator) finishStep(name string) {
	t.startStep(name)
	t.steps = slices.DeleteFunc(t.steps, func(s string) bool { return s == name })
	t.add(Event{Type: "STEP_FINISHED", StepName: name})
}

// closeAll ends what is open, because the run ends.
func (t *Translator) closeAll() {
	t.closeMessage()
	t.finishSteps()
}

// finishSteps closes every step that is open.
func (t *Translator) finishSteps() {
	for _, step := range slices.Clone(t.steps) {
		t.finishStep(step)
	}
}

// finish ends a run that did not fail.
func (t *Translator) finish(outcome string, result any, usage []ModelUsage) {
	t.closeAll()
	status := "completed"
	if outcome == "cancelled" {
		status = "canceled"
	}
	t.patch(set(status, "status"))
	t.add(Event{Type: "RUN_FINISHED", ThreadID: t.thread, RunID: t.run, Result: result, Outcome: &RunOutcome{Type: outcome}, Usage: usage})
}

// failed ends a run that failed or was canceled.
func (t *Translator) failed(name string, data []byte) error {
	e, err := decode[struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}](name, data)
	if err != nil {
		return err
	}
	if e.Code == "canceled" {
		t.finish("cancelled", nil, nil)
		return nil
	}
	t.fail(e.Code, e.Message)
	return nil
}

func (t *Translator) fail(code, message string) {
	if message == "" {
		message = fmt.Sprintf("the run failed: %s", code)
	}
	t.closeAll()
	t.patch(set("failed", "status"))
	t.add(Event{Type: "RUN_ERROR", Message: message, Code: code})
}
