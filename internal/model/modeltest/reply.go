package modeltest

import (
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/internal/model"
)

// Reply is the server's reaction to one request. The zero Reply is the usual
// answer.
type Reply struct {
	Status     int         // with Body, in place of an answer; 0 = a usual answer
	Header     http.Header // of any answer
	Body       string
	Hang       bool            // sends nothing until the client disconnects
	Until      <-chan struct{} // sends nothing until it is closed; nil = at once
	Garbage    bool            // status 200 and lines that are not events
	Empty      bool            // status 200 and an empty body
	Cut        bool            // breaks the connection after the tokens
	Rest       <-chan struct{} // sends no more than half of the tokens until it is closed; nil = all
	Delay      time.Duration   // before the first byte
	TokenDelay time.Duration   // before each token; 0 = Options.TokenDelay
	Tokens     int             // number of words; 0 = Options.Tokens
	Text       string          // instead of tokens, each word a token
	Pieces     []string        // instead of tokens
	ToolCalls  []model.ToolCall
}

// Fail answers with a status and headers, given as alternating names and
// values.
func Fail(status int, headers ...string) Reply {
	r := Reply{Status: status, Header: http.Header{}}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// Hang sends nothing until the client disconnects.
func Hang() Reply { return Reply{Hang: true} }

// Garbage sends status 200 and a body that is not an answer.
func Garbage() Reply { return Reply{Garbage: true} }

// Empty sends status 200 and an empty body.
func Empty() Reply { return Reply{Empty: true} }

// CutAfter breaks the connection after n tokens (n > 0).
func CutAfter(n int) Reply { return Reply{Cut: true, Tokens: n} }

// Answer answers with n words and a citation.
func Answer(n int) Reply { return Reply{Tokens: n} }

// Text answers with this text.
func Text(text string) Reply { return Reply{Text: text} }

// Call answers with tool calls.
func Call(calls ...model.ToolCall) Reply { return Reply{ToolCalls: calls} }
