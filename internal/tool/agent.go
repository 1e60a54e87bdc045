package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// NewAgent returns a tool of a project that asks another project. The run of that project
// has the principal of the call, and a project that is among its callers is not asked.
func NewAgent(name string, t knowledge.CustomTool) Tool {
	return Tool{
		Name:        name,
		Description: cmp.Or(t.Description, "Ask another assistant, which has documents and tools of its own."),
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"question":{"type":"string","minLength":1,"maxLength":%d,`+
			`"description":"The whole question: the assistant does not know this conversation"}},"required":["question"],"additionalProperties":false}`, MaxQuery)),
		Ask: func(c Call) (Question, error) {
			var given struct {
				Question string `json:"question"`
			}
			if err := json.Unmarshal([]byte(c.Arguments), &given); err != nil || strings.TrimSpace(given.Question) == "" {
				return Question{}, knowledge.Errorf(knowledge.CodeInvalid, `the arguments must be {"question": "…"}`)
			}
			switch {
			case t.Agent.ID == c.Project || slices.Contains(c.Request.Callers, t.Agent.ID):
				return Question{}, knowledge.Errorf(knowledge.CodeInvalid, "the assistant is among those that led to this question, so it is not asked again: answer without it")
			case c.Request.AgentDepth < 1:
				return Question{}, knowledge.Errorf(knowledge.CodeLimitReached, "assistants ask one another at most %d deep: answer without this one", knowledge.AgentDepth)
			}
			return Question{Project: t.Agent.ID, Text: given.Question}, nil
		},
	}
}
