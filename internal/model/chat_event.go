package model

import (
	"cmp"
	"strings"
)

// chatEvent is an event of a streamed answer, or a whole answer.
type chatEvent struct {
	wireReport

	Model   anyText      `json:"model"`
	Choices []wireChoice `json:"choices"`
	Usage   *wireUsage   `json:"usage"`
}

type wireChoice struct {
	Index        anyNumber    `json:"index"`
	Delta        *saidMessage `json:"delta"`
	Message      *saidMessage `json:"message"` // of a whole answer
	FinishReason anyText      `json:"finish_reason"`
	wireReport                // of OpenRouter
}

type saidMessage struct {
	Content          anyContent    `json:"content"`
	Refusal          anyContent    `json:"refusal"`
	ReasoningContent anyContent    `json:"reasoning_content"`
	Reasoning        anyContent    `json:"reasoning"`
	ReasoningDetails anyContent    `json:"reasoning_details"`
	Thinking         anyContent    `json:"thinking"`
	ToolCalls        wireCalls     `json:"tool_calls"`
	FunctionCall     *wireFunction `json:"function_call"`
}

type wireUsage struct {
	PromptTokens     anyNumber `json:"prompt_tokens"`
	CompletionTokens anyNumber `json:"completion_tokens"`
}

// UnmarshalJSON implements json.Unmarshaler: a usage that is no object is none.
func (u *wireUsage) UnmarshalJSON(data []byte) error {
	type plain wireUsage
	_ = unmarshalObject(data, (*plain)(u))
	return nil
}

// UnmarshalJSON implements json.Unmarshaler: a message that is no object is empty.
func (m *saidMessage) UnmarshalJSON(data []byte) error {
	type plain saidMessage
	return unmarshalObject(data, (*plain)(m))
}

// thoughts returns the reasoning of the message. Some endpoints write it in two fields.
func (m saidMessage) thoughts() string {
	return cmp.Or(m.ReasoningContent.all(), m.Reasoning.all(), m.ReasoningDetails.all(), m.Thinking.all()) + m.Content.thoughts
}

func (m saidMessage) words() string { return m.Content.text + m.Refusal.all() }

func (m saidMessage) calls() wireCalls {
	if m.FunctionCall != nil && len(m.ToolCalls) == 0 {
		return wireCalls{{Function: *m.FunctionCall}}
	}
	return m.ToolCalls
}

// failure returns the error that an event reports. name is the name of the event.
func (e chatEvent) failure(name string) (report, bool) {
	for _, choice := range e.Choices {
		if strings.EqualFold(string(choice.FinishReason), "error") {
			if r, ok := choice.report(); ok {
				return r, true
			}
			r, _ := e.report()
			return report{Type: cmp.Or(r.Type, "error"), Code: r.Code, Param: r.Param, Message: cmp.Or(r.Message, "the answer ended with an error")}, true
		}
	}
	r, ok := e.report()
	switch {
	case isSet(e.Error), e.Object == "error", name == "error":
		return r, true
	}
	return r, ok && len(e.Choices) == 0 && e.Usage == nil
}
