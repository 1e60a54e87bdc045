package knowledge

import (
	"cmp"
	"fmt"
)

// ResearchConfig bounds deep research. A zero field means the default.
type ResearchConfig struct {
	Depth   int            `json:"depth,omitempty" minimum:"1" maximum:"10" doc:"Rounds of sub-questions. Default: 2"`
	Breadth int            `json:"breadth,omitempty" minimum:"1" maximum:"20" doc:"Sub-questions in each round. Default: 4"`
	Timeout int            `json:"timeout,omitempty" minimum:"1" maximum:"86400" doc:"The longest duration in seconds, without pauses. Default: 1800"`
	Budget  ResearchBudget `json:"budget,omitzero" doc:"Limits of the use of models"`
}

// ResearchBudget bounds what deep research asks of models.
type ResearchBudget struct {
	Tokens int `json:"tokens,omitempty" minimum:"1" maximum:"100000000" doc:"The largest number of tokens in prompts and completions. Default: 1000000"`
	Calls  int `json:"calls,omitempty" minimum:"1" maximum:"1000" doc:"The largest number of model calls. Default: 60"`
}

// The defaults of ResearchConfig.
const (
	ResearchDepth   = 2
	ResearchBreadth = 4
	ResearchTimeout = 30 * 60
	ResearchTokens  = 1_000_000
	ResearchCalls   = 60
)

// WithDefaults returns the bounds with their defaults filled in.
func (c ResearchConfig) WithDefaults() ResearchConfig {
	c.Depth = cmp.Or(c.Depth, ResearchDepth)
	c.Breadth = cmp.Or(c.Breadth, ResearchBreadth)
	c.Timeout = cmp.Or(c.Timeout, ResearchTimeout)
	c.Budget.Tokens = cmp.Or(c.Budget.Tokens, ResearchTokens)
	c.Budget.Calls = cmp.Or(c.Budget.Calls, ResearchCalls)
	return c
}

// ResearchKey is the blob key of a result of deep research. name says which.
func (r RunRef) ResearchKey(name string) string { return r.key("research-" + name + ".json") }

// ResearchNotesKey returns the blob key of the notes on a sub-question, both counted from 1.
func (r RunRef) ResearchNotesKey(round, question int) string {
	return r.ResearchKey(fmt.Sprintf("%d-%d-notes", round, question))
}

// ResearchQuestionID returns the id of the workflow of a sub-question, both counted
// from 1.
func (r RunRef) ResearchQuestionID(round, question int) string {
	return fmt.Sprintf("%s/round-%d-question-%d", KindResearch.WorkflowID(r.Workspace, r.Run), round, question)
}
