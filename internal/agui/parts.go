package agui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// toolCall shows a call of a tool: its arguments when it starts or waits, its result when
// it has ended, and each of its statuses in the state.
func (t *Translator) toolCall(name string, data []byte) error {
	e, err := decode[struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Status    string          `json:"status"`
		Summary   string          `json:"summary"`
		Seconds   float64         `json:"seconds"`
		Files     json.RawMessage `json:"files,omitempty"`
	}](name, data)
	if err != nil {
		return err
	}
	id, called := t.calls[e.ID]
	if !called {
		id = t.openCall(e.ID, e.Name, e.Arguments)
	}
	t.patch(set(map[string]any{"name": e.Name, "status": e.Status, "summary": e.Summary}, "toolCalls", id))
	if e.Status == "waiting" || e.Status == "started" {
		return nil
	}
	delete(t.calls, e.ID)
	t.parent = ""
	content, err := json.Marshal(struct {
		Status  string          `json:"status"`
		Summary string          `json:"summary"`
		Seconds float64         `json:"seconds"`
		Files   json.RawMessage `json:"files,omitempty"`
	}{e.Status, e.Summary, e.Seconds, e.Files})
	if err != nil {
		return fmt.Errorf("encode the result of a call: %w", err)
	}
	t.add(Event{Type: "TOOL_CALL_RESULT", MessageID: id + "-result", ToolCallID: id, Content: string(content), Role: "tool"})
	return nil
}

// openCall shows a call and its arguments, and returns its id in the protocol. Models
// may give calls of different turns the same id.
func (t *Translator) openCall(of, name string, arguments json.RawMessage) string {
	t.closeMessage()
	t.wrote = false
	id := of
	if t.named[of]++; t.named[of] > 1 {
		id += "-" + strconv.Itoa(t.named[of])
	}
	t.calls[of] = id
	var text string
	if json.Unmarshal(arguments, &text) != nil { // arguments that are no JSON are a string
		text = string(arguments)
	}
	t.add(Event{Type: "TOOL_CALL_START", ToolCallID: id, ToolCallName: name, ParentMessageID: t.parent})
	if text != "" {
		t.add(Event{Type: "TOOL_CALL_ARGS", ToolCallID: id, Delta: text})
	}
	t.add(Event{Type: "TOOL_CALL_END", ToolCallID: id})
	return id
}

func (t *Translator) sources(name string, data []byte) error {
	e, err := decode[struct {
		Sources json.RawMessage `json:"sources"`
	}](name, data)
	if err != nil {
		return err
	}
	t.patch(set(e.Sources, "sources"))
	return nil
}

// phase shows a phase of rag_search or web_search as a step.
func (t *Translator) phase(name string, data []byte) error {
	e, err := decode[struct {
		Phase     string          `json:"phase"`
		Status    string          `json:"status"`
		Data      json.RawMessage `json:"data"`
		Sources   json.RawMessage `json:"sources"`
		OutputKey string          `json:"output_key"`
	}](name, data)
	if err != nil {
		return err
	}
	switch {
	case e.Phase == "" && e.OutputKey == "sources":
		t.patch(set(e.Sources, "sources"))
		return nil
	case e.Phase == "":
		t.custom(name, data)
		return nil
	case e.Status == "started" && slices.Contains(t.steps, e.Phase):
		t.reset(data)
	case e.Status == "started":
		t.finishSteps()
		t.startStep(e.Phase)
	default:
		if !slices.Contains(t.steps, e.Phase) {
			t.finishSteps()
		}
		t.finishStep(e.Phase)
	}
	t.patch(set(e.Phase, "phase"), set(json.RawMessage(data), "phases", e.Phase))
	return nil
}

// research shows a phase of a research: one that takes time as a step, and every event as
// it is.
func (t *Translator) research(name string, data []byte) error {
	e, err := decode[struct {
		Phase    string `json:"phase"`
		Status   string `json:"status"`
		Round    int    `json:"round"`
		Question int    `json:"question"`
		Section  int    `json:"section"`
	}](name, data)
	if err != nil {
		return err
	}
	step := e.Phase
	switch {
	case e.Question > 0:
		step = fmt.Sprintf("%s %d.%d", e.Phase, e.Round, e.Question)
	case e.Section > 0:
		step = fmt.Sprintf("%s %d", e.Phase, e.Section)
	case e.Round > 0:
		step = fmt.Sprintf("%s %d", e.Phase, e.Round)
	}
	switch {
	case e.Status == "started":
		t.startStep(step)
	case e.Phase == "plan", e.Phase == "search", e.Phase == "outline", e.Phase == "section", e.Phase == "pause":
		t.finishStep(step)
	}
	t.patch(set(e.Phase, "phase"))
	t.custom(name, data)
	return nil
}

// document shows the stages of a document as steps, and the document in the state.
func (t *Translator) document(name string, data []byte) error {
	e, err := decode[struct {
		Stage string `json:"stage"`
	}](name, data)
	if err != nil {
		return err
	}
	if e.Stage != t.stage {
		if t.stage != "" {
			t.finishStep(t.stage)
		}
		if e.Stage != "" {
			t.startStep(e.Stage)
		}
		t.stage = e.Stage
	}
	t.patch(set(e.Stage, "phase"), set(json.RawMessage(data), "document"))
	return nil
}

// answered ends a run that has an answer. An answer of which no word was streamed is a
// message of its own.
func (t *Translator) answered(name string, data []byte) error {
	e, err := decode[struct {
		Answer   string          `json:"answer"`
		Response string          `json:"response"`
		Contexts json.RawMessage `json:"contexts"` // of rag_search
		Sources  json.RawMessage `json:"sources"`  // of the others
		Model    string          `json:"model"`
		Usage    struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}](name, data)
	if err != nil {
		return err
	}
	t.closeMessage()
	if !t.wrote {
		t.write(t.words.Write(e.Answer + e.Response))
		t.closeMessage()
	}
	for _, sources := range []json.RawMessage{e.Contexts, e.Sources} {
		if len(sources) > 0 {
			t.patch(set(sources, "sources"))
		}
	}
	var usage []ModelUsage
	if in, out := e.Usage.Prompt, e.Usage.Completion; in+out > 0 {
		usage = []ModelUsage{{Model: e.Model, InputTokens: in, OutputTokens: out, TotalTokens: in + out}}
	}
	t.finish("success", json.RawMessage(data), usage)
	return nil
}

// ended ends the run of a document or an import.
func (t *Translator) ended(name string, data []byte) error {
	e, err := decode[struct {
		Status string `json:"status"`
		Error  struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Result json.RawMessage `json:"result"`
	}](name, data)
	if err != nil {
		return err
	}
	if e.Status == "failed" {
		t.fail(e.Error.Code, e.Error.Message)
		return nil
	}
	var result any
	if len(e.Result) > 0 {
		result = e.Result
	}
	t.finish("success", result, nil)
	return nil
}
