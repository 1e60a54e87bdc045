package activities

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/model"
)

// UnknownTool stands for the name of a tool that was not on offer. What a model
// makes up would reach history, summaries and events as free text; this is of
// the form that endpoints take for a name.
const UnknownTool = "unknown_tool"

// MaxCalls is how many tool calls of one turn are run. The first one beyond
// stands for all that are: it fails, and says so to the model.
const MaxCalls = 16

// The bounds of one tool call, in bytes. Arguments have room for the longest
// query with each of its bytes as an escape.
const (
	maxCallID    = 64
	maxArguments = 6*maxQuery + 16<<10
)

// bounded returns the tool calls of a turn as they are kept: the model is an
// endpoint that may say anything. Every later use reads what is kept, so that
// workflow, events and the next request to the model agree.
func bounded(turn int, calls []model.ToolCall) []model.ToolCall {
	calls = slices.Clone(calls[:min(len(calls), MaxCalls+1)])
	taken := map[string]bool{}
	for i := range calls {
		c := &calls[i]
		if taken[c.ID] || !isCallID(c.ID) {
			c.ID = ""
		}
		taken[c.ID] = true
		if !offered(c.Name) {
			c.Name = UnknownTool
		}
		if len(c.Arguments) > maxArguments {
			c.Arguments = "{}" // which the tool refuses, naming its limit
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

func offered(name string) bool {
	return slices.ContainsFunc(tools(), func(t model.Tool) bool { return t.Name == name })
}

// isCallID reports whether an id is short and of visible ASCII characters, as
// those of all known endpoints are.
func isCallID(id string) bool {
	return id != "" && len(id) <= maxCallID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}
