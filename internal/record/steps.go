package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// StepWords are what the steps of a project before the prompt decided about a question.
type StepWords struct {
	// Passages are the ids of the passages of the first search that the model reads, in their
	// order; nil = all.
	Passages     *[]string `json:"passages,omitempty"`
	Instructions string    `json:"instructions,omitempty"`
	Question     string    `json:"question,omitempty"` // for the model; "" = the one that was asked
}

// ReadStepWords returns what steps decided, whose record is under key; "" = nothing.
func ReadStepWords(ctx context.Context, blobs RequestBlobs, key string) (words StepWords, err error) {
	if key == "" {
		return words, nil
	}
	if err := blobs.GetJSON(ctx, key, &words); err != nil {
		return words, fmt.Errorf("read what the steps of the project decided: %w", err)
	}
	return words, nil
}

// choose leaves the passages of the first search that the steps chose, in their order.
func (w StepWords) choose(searches []ReadSearch) {
	if w.Passages == nil || len(searches) == 0 {
		return
	}
	var chosen []Passage
	for _, id := range *w.Passages {
		if place := slices.IndexFunc(searches[0].Ranked, func(p Passage) bool { return p.ID() == id }); place >= 0 {
			chosen = append(chosen, searches[0].Ranked[place])
		}
	}
	searches[0].Ranked = chosen
}

// runsSteps reports whether the workflow of a question runs steps of its project at a place. A
// research and a search of the web run none.
func runsSteps(r knowledge.Request, at string) bool {
	return r.Kind != knowledge.KindResearch && r.Web == nil && len(r.Config.Pipeline.At(at)) > 0
}
