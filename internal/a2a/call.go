package a2a

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Version is a version of the protocol.
type Version string

// The versions that calls may have.
const (
	V1  Version = "1.0"
	V03 Version = "0.3"
)

// Operation is what a call asks for.
type Operation int

// The operations.
const (
	Send Operation = iota
	Stream
	Get
	Cancel
	Subscribe
)

// operationOf returns what a method asks for. The methods of the two versions have different
// names.
func operationOf(method string) (Operation, Version, bool) {
	switch method {
	case "SendMessage":
		return Send, V1, true
	case "SendStreamingMessage":
		return Stream, V1, true
	case "GetTask":
		return Get, V1, true
	case "CancelTask":
		return Cancel, V1, true
	case "SubscribeToTask":
		return Subscribe, V1, true
	case "message/send":
		return Send, V03, true
	case "message/stream":
		return Stream, V03, true
	case "tasks/get":
		return Get, V03, true
	case "tasks/cancel":
		return Cancel, V03, true
	case "tasks/resubscribe":
		return Subscribe, V03, true
	}
	return 0, V1, false
}

// Call is a request of a client.
type Call struct {
	ID        json.RawMessage // of the request, which its answer repeats
	Operation Operation
	Version   Version
	Task      string // that is read, canceled or followed
	Context   string // the conversation that a message continues; "" = a new one
	Text      string // of a message
	MessageID string // of a message; a repeated one is the same message
	AtOnce    bool   // the client does not wait for the end of the task
}

// The codes of errors, of JSON-RPC and of the protocol.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeTaskNotFound   = -32001
	CodeNotCancelable  = -32002
	CodeUnsupported    = -32004
	CodeContentType    = -32005
	CodeVersion        = -32009
)

// Error is an error as clients get it.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Response is the answer to a call.
type Response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Answer returns the answer to a call with a result.
func Answer(id json.RawMessage, result any) Response {
	return Response{JSONRPC: "2.0", ID: orNull(id), Result: result}
}

// Refuse returns the answer to a call that failed.
func Refuse(id json.RawMessage, err *Error) Response {
	return Response{JSONRPC: "2.0", ID: orNull(id), Error: err}
}

func orNull(id json.RawMessage) json.RawMessage {
	if len(id) == 0 {
		return json.RawMessage("null")
	}
	return id
}

// request is a call as it is sent, of both versions.
type request struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		ID            string   `json:"id"`
		Message       *message `json:"message"`
		Configuration struct {
			Blocking          *bool `json:"blocking"`          // 0.3
			ReturnImmediately bool  `json:"returnImmediately"` // 1.0
		} `json:"configuration"`
	} `json:"params"`
}

type message struct {
	MessageID string `json:"messageId"`
	ContextID string `json:"contextId"`
	TaskID    string `json:"taskId"`
	Parts     []struct {
		Text *string `json:"text"`
	} `json:"parts"`
}

// ParseCall reads a call. version is what the header A2A-Version says, "" = nothing. The call
// that comes with an error has the id of the request, if it has one.
func ParseCall(body []byte, version string) (Call, *Error) {
	var r request
	if !json.Valid(body) {
		return Call{}, &Error{CodeParse, "the body is not JSON"}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return Call{ID: r.ID}, &Error{CodeInvalidRequest, "the body is not a request of JSON-RPC with the fields that its method has"}
	}
	call := Call{ID: r.ID}
	if id := bytes.TrimSpace(r.ID); len(id) == 0 || id[0] == '{' || id[0] == '[' || bytes.Equal(id, []byte("null")) {
		return Call{}, &Error{CodeInvalidRequest, "id must be a text or a number"}
	}
	if r.JSONRPC != "2.0" {
		return call, &Error{CodeInvalidRequest, `jsonrpc must be "2.0"`}
	}
	var known bool
	if call.Operation, call.Version, known = operationOf(r.Method); !known {
		return call, &Error{CodeNoMethod, "this agent has the methods SendMessage, SendStreamingMessage, GetTask, CancelTask and SubscribeToTask, and those of version 0.3"}
	}
	if version != "" && !strings.HasPrefix(version, "1.") && !strings.HasPrefix(version, "0.3") && version != "1" {
		return call, &Error{CodeVersion, "this agent speaks the versions 1.0 and 0.3 of the protocol"}
	}
	if call.Operation != Send && call.Operation != Stream {
		if call.Task = r.Params.ID; call.Task == "" {
			return call, &Error{CodeInvalidParams, "params.id must name a task"}
		}
		return call, nil
	}
	call.AtOnce = r.Params.Configuration.ReturnImmediately || r.Params.Configuration.Blocking != nil && !*r.Params.Configuration.Blocking
	return call, call.read(r.Params.Message)
}

// read takes the words of a message into the call.
func (c *Call) read(m *message) *Error {
	if m == nil || m.MessageID == "" {
		return &Error{CodeInvalidParams, "params.message needs a messageId and parts"}
	}
	if m.TaskID != "" {
		return &Error{CodeUnsupported, "a task takes one message: send the next one with the contextId alone"}
	}
	var words []string
	for _, part := range m.Parts {
		if part.Text == nil {
			return &Error{CodeContentType, "this agent reads text alone"}
		}
		words = append(words, *part.Text)
	}
	c.Context, c.MessageID, c.Text = m.ContextID, m.MessageID, strings.Join(words, "\n")
	if strings.TrimSpace(c.Text) == "" {
		return &Error{CodeInvalidParams, "params.message.parts has no text"}
	}
	return nil
}
