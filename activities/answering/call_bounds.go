package answering

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/tool"
)

// UnknownTool replaces the name of a tool that was not offered. A name that the
// model invents would reach history, summaries and events as free text.
// UnknownTool has the form that endpoints accept as a name.
const UnknownTool = "unknown_tool"

// MaxCalls is how many tool calls of one turn are run. One further call is kept for
// all that follow: its output tells the model that they were not run.
const MaxCalls = 16

// The bounds of one tool call, in bytes. Arguments have room for the longest query
// with each of its bytes escaped.
const (
	maxCallID    = 64
	maxArguments = 6*tool.MaxQuery + 16<<10
)

// longArguments stands for arguments above the bound. CallTool refuses it.
const longArguments = `{"the_arguments_were_too_long":true}`

// bounded returns the tool calls of a turn within the bounds, because the endpoint
// may return anything. They are stored, and every later use reads the stored calls,
// so that the workflow, the events and the next request to the model agree.
func bounded(turn int, offered tool.Set, calls []model.ToolCall) []model.ToolCall {
	calls = slices.Clone(calls[:min(len(calls), MaxCalls+1)])
	taken := map[string]bool{}
	for i := range calls {
		c := &calls[i]
		if taken[c.ID] || !isCallID(c.ID) {
			c.ID = ""
		}
		taken[c.ID] = true
		if _, ok := offered.Find(c.Name); !ok {
			c.Name = UnknownTool
		}
		if len(c.Arguments) > maxArguments {
			c.Arguments = longArguments
		}
	}
	for i := range calls {
		if calls[i].ID != "" {
			continue
		}
		id := fmt.Sprintf("call_%d_%d", turn, i+1)
		for taken[id] {
			id += "_"
		}
		calls[i].ID, taken[id] = id, true
	}
	return calls
}

// isCallID reports whether an id is short and of visible ASCII characters, as
// the ids of all known endpoints are.
func isCallID(id string) bool {
	return id != "" && len(id) <= maxCallID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}
