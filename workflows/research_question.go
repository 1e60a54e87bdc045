package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// QuestionInput starts ResearchQuestion.
type QuestionInput struct{ activities.ReadInput }

// QuestionResult is what became of a sub-question.
type QuestionResult struct {
	Searches []string        `json:"searches,omitempty"`
	Notes    string          `json:"notes,omitempty"`
	Failure  string          `json:"failure,omitempty"`
	Usage    knowledge.Usage `json:"usage,omitzero"`
}

// ResearchQuestion searches for a sub-question of a research and takes notes of what it
// finds. A failure is part of its result.
func ResearchQuestion(ctx workflow.Context, in QuestionInput) (QuestionResult, error) {
	q := &researchQuestion{in: in.ReadInput, log: newRunLogWriter(ctx, in.LogWorkflowID(), fmt.Sprintf("question-%d-%d", in.Round, in.Question+1), new(int64))}
	phase, err := q.run(ctx)
	if ctx.Err() != nil {
		return q.result, ctx.Err()
	}
	if err == nil {
		return q.result, nil
	}
	q.result.Failure = failureOf(err)
	q.update(ctx, ResearchData{Phase: phase, Status: "failed", Reason: q.result.Failure})
	return q.result, setStatusAttribute(ctx, knowledge.RunFailed)
}

// researchQuestion is the state of ResearchQuestion.
type researchQuestion struct {
	in     activities.ReadInput
	log    runLogWriter
	result QuestionResult
	acts   *activities.Answering // for the names of its methods only
}

// run returns the phase that it ended in.
func (q *researchQuestion) run(ctx workflow.Context) (phase string, err error) {
	phase = "search"
	q.update(ctx, ResearchData{Phase: phase, Status: "started"})
	var found activities.FoundResult
	if err := execute(activityOptions(ctx, "search", 5*time.Minute, questionRetries()), q.acts.SearchResearch, q.in, &found); err != nil {
		return phase, err
	}
	q.result.Searches, q.result.Usage = found.Searches, found.Usage
	q.update(ctx, ResearchData{Phase: phase, Status: "completed", Found: &found.Found, Searches: found.Searches})
	phase, q.in.Searches = "notes", found.Searches
	var notes activities.NotesResult
	if err := execute(activityOptions(ctx, "take notes", 10*time.Minute, questionRetries()), q.acts.TakeNotes, q.in, &notes); err != nil {
		return phase, err
	}
	q.result.Notes = notes.Key
	q.result.Usage.Add(notes.Usage)
	q.update(ctx, ResearchData{Phase: phase, Status: "completed", Notes: &notes.Notes})
	return phase, nil
}

// update publishes a researchUpdate event, whose words are in the plan.
func (q *researchQuestion) update(ctx workflow.Context, d ResearchData) {
	d.Round, d.Question = q.in.Round, q.in.Question+1
	q.log.publish(ctx, entry(stream.TopicResearch, stream.Event{Ref: q.in.Plan, Data: stream.Data(d)}))
}
