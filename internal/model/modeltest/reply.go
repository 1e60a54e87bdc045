package modeltest

import (
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/internal/model"
)

// Reply is what the server does with one request. The zero Reply is its usual
// answer.
type Reply struct {
	Status     int         // answers with this status and Body; 0 = answers well
	Header     http.Header // of any answer
	Body       string
	Hang       bool          // says nothing until the client leaves
	Garbage    bool          // status 200 and lines that are no events
	Empty      bool          // status 200 and nothing more
	Cut        bool          // breaks the connection after the tokens
	Delay      time.Duration // before the first byte
	TokenDelay time.Duration // before each token; 0 = the server's own
	Tokens     int           // how many words; 0 = the server's own
	Text       string        // instead of tokens
	ToolCalls  []model.ToolCall
}

// Fail answers with a status and headers, given as name, value, name, value.
func Fail(status int, headers ...string) Reply {
	r := Reply{Status: status, Header: http.Header{}}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// Hang says nothing until the client leaves.
func Hang() Reply { return Reply{Hang: true} }

// Garbage sends a good status and then what is no answer.
func Garbage() Reply { return Reply{Garbage: true} }

// Empty sends a good status and then nothing.
func Empty() Reply { return Reply{Empty: true} }

// CutAfter breaks the connection after n tokens (n > 0).
func CutAfter(n int) Reply { return Reply{Cut: true, Tokens: n} }

// Answer answers with n words and a citation.
func Answer(n int) Reply { return Reply{Tokens: n} }

// Text answers with this text.
func Text(text string) Reply { return Reply{Text: text} }

// Call answers with calls of tools.
func Call(calls ...model.ToolCall) Reply { return Reply{ToolCalls: calls} }
