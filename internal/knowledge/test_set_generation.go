package knowledge

import "fmt"

// GenerationProgress is how far a chat model is that writes the questions of a test set.
type GenerationProgress struct {
	Model   string `json:"model,omitempty"`
	Wanted  int    `json:"wanted"`  // questions
	Planned int    `json:"planned"` // that may be written, at most
	Written int    `json:"written"` // that were written and checked, or given up
	Kept    int    `json:"kept"`    // that passed the checks
	// Dropped are the questions that are not kept, by the reason.
	Dropped map[string]int `json:"dropped"`
	Usage   Usage          `json:"usage"`
}

// GeneratedKey is the blob key of what a generation has of its question, 0 = first. step is a call
// of the model, "" = the outcome.
func (r RunRef) GeneratedKey(question int, step string) string {
	if step != "" {
		step = "-" + step
	}
	return r.key(fmt.Sprintf("question-%06d%s.json", question, step))
}

// GenerationPlanKey is the blob key of the questions that a generation may write.
func (r RunRef) GenerationPlanKey() string { return r.key("plan.json") }
