package model

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// The types here read the JSON of endpoints that write a field in other ways than OpenAI does. A
// value that they cannot read is as if it were left out, so that no field fails an answer.

// anyText is a text, or a number or boolean in digits and letters.
type anyText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *anyText) UnmarshalJSON(data []byte) error {
	var s string
	switch {
	case json.Unmarshal(data, &s) == nil:
		*t = anyText(s)
	case len(data) > 0 && data[0] != '{' && data[0] != '[' && string(data) != "null":
		*t = anyText(data)
	}
	return nil
}

// anyNumber is a whole number, which may be written as a fraction or a text; nil = none.
type anyNumber struct{ value *int }

// UnmarshalJSON implements json.Unmarshaler.
func (n *anyNumber) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err == nil && math.Abs(f) < 1e12 {
		whole := int(f)
		n.value = &whole
	}
	return nil
}

func (n anyNumber) or(other int) int {
	if n.value == nil {
		return other
	}
	return *n.value
}

// anyContent is the text of a message: a text, a list of parts, or one part. Parts that think are
// apart.
type anyContent struct{ text, thoughts string }

// UnmarshalJSON implements json.Unmarshaler.
func (c *anyContent) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
	case data[0] == '[':
		var parts []anyContent
		if json.Unmarshal(data, &parts) == nil {
			for _, p := range parts {
				c.text, c.thoughts = c.text+p.text, c.thoughts+p.thoughts
			}
		}
	case data[0] == '{':
		var part struct {
			Type     anyText     `json:"type"`
			Text     *anyContent `json:"text"`
			Value    *anyContent `json:"value"`
			Content  *anyContent `json:"content"`
			Summary  *anyContent `json:"summary"`
			Thinking *anyContent `json:"thinking"`
		}
		if json.Unmarshal(data, &part) == nil {
			thinks := strings.Contains(string(part.Type), "think") || strings.Contains(string(part.Type), "reason")
			for _, p := range []*anyContent{part.Text, part.Value, part.Content, part.Summary} {
				switch {
				case p == nil:
				case thinks:
					c.thoughts += p.text + p.thoughts
				default:
					c.text, c.thoughts = c.text+p.text, c.thoughts+p.thoughts
				}
			}
			if part.Thinking != nil {
				c.thoughts += part.Thinking.text + part.Thinking.thoughts
			}
		}
	default:
		var s anyText
		_ = s.UnmarshalJSON(data) // never fails
		if data[0] == '"' {
			c.text = string(s)
		}
	}
	return nil
}

// all returns all that a field of reasoning says.
func (c anyContent) all() string { return c.text + c.thoughts }

// anyArguments are the arguments of a tool call: JSON as a text, or as it is.
type anyArguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *anyArguments) UnmarshalJSON(data []byte) error {
	var s string
	switch {
	case json.Unmarshal(data, &s) == nil:
		*a = anyArguments(s)
	case len(data) > 0 && data[0] == '{':
		*a = anyArguments(data)
	}
	return nil
}

// wireCall is a tool call, or a part of one.
type wireCall struct {
	Index    anyNumber `json:"index"`
	ID       anyText   `json:"id"`
	Function wireFunction
}

type wireFunction struct {
	Name      anyText      `json:"name"`
	Arguments anyArguments `json:"arguments"`
}

// wireCalls is a list of tool calls, or one.
type wireCalls []wireCall

// UnmarshalJSON implements json.Unmarshaler.
func (c *wireCalls) UnmarshalJSON(data []byte) error {
	var list []wireCall
	var one wireCall
	switch {
	case json.Unmarshal(data, &list) == nil:
		*c = list
	case json.Unmarshal(data, &one) == nil && one.Function.Name != "":
		*c = wireCalls{one}
	}
	return nil
}

// unmarshalObject is json.Unmarshal for data that is an object; else it does nothing.
func unmarshalObject(data []byte, v any) error {
	if len(data) > 0 && data[0] == '{' {
		return json.Unmarshal(data, v)
	}
	return nil
}
