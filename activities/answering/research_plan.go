package answering

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
)

// Planning holds the activity that plans a round of a research.
type Planning struct {
	stepLog

	Blobs       step.Blobs
	attachments *attachments
	research    *research
}

// PlanInput asks for the sub-questions of a round, which the research so far leaves open.
type PlanInput struct {
	knowledge.RunRef
	Research Research `json:"research"`
	Round    int      `json:"round"` // 1 = first
	Breadth  int      `json:"breadth"`
}

// PlanResult counts the sub-questions of a plan, 0 = nothing is left to ask.
type PlanResult struct {
	Key       string          `json:"key"`
	Questions int             `json:"questions"`
	Usage     knowledge.Usage `json:"usage"`
}

// PlanRecord is the stored plan of a round.
type PlanRecord struct {
	Questions []record.PlannedQuestion `json:"questions"`
	step.Called
}

var planTool = model.Tool{
	Name: "plan_research", Description: "Give the sub-questions to research next.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"questions":{"type":"array","items":{"type":"object","properties":{` +
		`"question":{"type":"string"},"queries":{"type":"array","items":{"type":"string"}}},"required":["question","queries"],"additionalProperties":false}}},` +
		`"required":["questions"],"additionalProperties":false}`),
}

// PlanResearch has the model plan a round of sub-questions. It makes no call whose result
// is stored.
func (a *Planning) PlanResearch(ctx context.Context, in PlanInput) (PlanResult, error) {
	defer step.Heartbeat(ctx)()
	key := in.ResearchKey(fmt.Sprintf("plan-%d", in.Round))
	plan, err := step.Stored(ctx, a.Blobs, key, func() (PlanRecord, error) { return a.makePlan(ctx, in) })
	if err != nil {
		return PlanResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("plan round %d: %w", in.Round, err))
	}
	return PlanResult{Key: key, Questions: len(plan.Questions), Usage: plan.Usage}, nil
}

func (a *Planning) makePlan(ctx context.Context, in PlanInput) (PlanRecord, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return PlanRecord{}, err
	}
	prompts, err := a.research.prompts(ctx, request, in.Research)
	if err != nil {
		return PlanRecord{}, err
	}
	noted, err := a.research.notes(ctx, request, in.Research)
	if err != nil {
		return PlanRecord{}, err
	}
	prompts.Notes, prompts.History = noted.prompted(false), request.History
	for _, g := range noted.gaps {
		q, err := a.research.question(ctx, in.Research.Reading[g.reading].Plan, in.Research.Reading[g.reading].Question)
		if err != nil {
			return PlanRecord{}, err
		}
		prompts.Open = append(prompts.Open, q.Question+" "+g.text)
	}
	if prompts.Attached, err = a.attachments.attachedFiles(ctx, request, in.Research.Attachments); err != nil {
		return PlanRecord{}, err
	}
	system, user := prompts.Plan(in.Breadth)
	var plan PlanRecord
	if plan.Called, err = a.research.require(ctx, in.RunRef, request, system, user, planTool, &plan); err != nil {
		return PlanRecord{}, err
	}
	asked := map[string]bool{}
	for _, q := range prompts.Asked {
		asked[q] = true
	}
	kept := []record.PlannedQuestion{}
	for _, q := range plan.Questions {
		q.Question = line(q.Question, maxNoteRunes)
		if q.Question == "" || asked[q.Question] || len(kept) == in.Breadth {
			continue
		}
		asked[q.Question] = true
		for i := range q.Queries {
			q.Queries[i] = line(q.Queries[i], maxNoteRunes)
		}
		kept = append(kept, q)
	}
	if plan.Questions = kept; len(kept) == 0 && in.Round == 1 {
		plan.Questions = []record.PlannedQuestion{{Question: line(request.Question, maxNoteRunes)}}
	}
	return plan, nil
}

// plan reads a stored plan.
func (a *research) plan(ctx context.Context, key string) (plan PlanRecord, err error) {
	if err := a.Blobs.GetJSON(ctx, key, &plan); err != nil {
		return plan, fmt.Errorf("read plan %s: %w", key, err)
	}
	return plan, nil
}

// question returns a planned sub-question.
func (a *research) question(ctx context.Context, key string, index int) (record.PlannedQuestion, error) {
	plan, err := a.plan(ctx, key)
	if err != nil {
		return record.PlannedQuestion{}, err
	}
	if index >= len(plan.Questions) {
		return record.PlannedQuestion{}, fmt.Errorf("plan %s has no question %d", key, index)
	}
	return plan.Questions[index], nil
}
