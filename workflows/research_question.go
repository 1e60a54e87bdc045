package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// QuestionInput starts ResearchQuestion.
type QuestionInput struct {
	answering.ReadInput
	Web bool `json:"web,omitempty"` // it searches the web beside the documents
}

// QuestionResult is what became of a sub-question.
type QuestionResult struct {
	Searches []string           `json:"searches,omitempty"`
	Notes    string             `json:"notes,omitempty"`
	Failure  string             `json:"failure,omitempty"`
	Missed   []answering.Missed `json:"missed,omitempty"` // what could not be searched
	Usage    knowledge.Usage    `json:"usage,omitzero"`
}

// ResearchQuestion searches for a sub-question of a research and takes notes of what it
// finds. A failure is part of its result.
func ResearchQuestion(ctx workflow.Context, in QuestionInput) (QuestionResult, error) {
	q := &researchQuestion{in: in.ReadInput, web: in.Web, log: newRunLogWriter(ctx, in.LogWorkflowID(), fmt.Sprintf("question-%d-%d", in.Round, in.Question+1), new(int64))}
	phase, err := q.run(ctx)
	if ctx.Err() != nil {
		return q.result, ctx.Err()
	}
	if err == nil {
		return q.result, nil
	}
	q.result.Failure = failureOf(err)
	q.update(ctx, record.ResearchData{Phase: phase, Status: "failed", Reason: q.result.Failure})
	return q.result, setStatusAttribute(ctx, knowledge.RunFailed)
}

// researchQuestion is the state of ResearchQuestion.
type researchQuestion struct {
	in     answering.ReadInput
	web    bool
	log    runLogWriter
	result QuestionResult
	acts   answering.Activities // for the names of its methods only
}

// run returns the phase that it ended in.
func (q *researchQuestion) run(ctx workflow.Context) (phase string, err error) {
	if err := q.search(ctx); err != nil {
		return "search", err
	}
	q.in.Searches = q.result.Searches
	var notes answering.NotesResult
	if err := execute(activityOptions(ctx, "take notes", 10*time.Minute, questionRetries()), q.acts.TakeNotes, q.in, &notes); err != nil {
		return "notes", err
	}
	q.result.Notes = notes.Key
	q.result.Usage.Add(notes.Usage)
	q.update(ctx, record.ResearchData{Phase: "notes", Status: "completed", Notes: &notes.Notes})
	return "notes", nil
}

// search searches the documents, unless a webhook gave passages in their place, and the web
// beside them. One of the two may fail.
func (q *researchQuestion) search(ctx workflow.Context) error {
	if q.in.Given != "" {
		return q.besideGiven(ctx)
	}
	q.update(ctx, record.ResearchData{Phase: "search", Status: "started"})
	if !q.web {
		found, err := q.documents(ctx)
		q.take(found)
		return err
	}
	var pages answering.FoundResult
	var notOnWeb error
	group := workflow.NewWaitGroup(ctx)
	group.Add(1)
	workflow.Go(ctx, func(ctx workflow.Context) {
		pages, notOnWeb = q.pages(ctx)
		group.Done()
	})
	found, err := q.documents(ctx)
	group.Wait(disconnected(ctx))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	q.take(found)
	q.take(pages)
	if notOnWeb != nil {
		q.miss(ctx, "web", answering.OnTheWeb, notOnWeb)
		return err
	}
	if err != nil {
		q.miss(ctx, "search", answering.InDocuments, err)
	}
	return nil
}

// besideGiven searches the web where a webhook gave passages. It may fail.
func (q *researchQuestion) besideGiven(ctx workflow.Context) error {
	if !q.web {
		return nil
	}
	pages, err := q.pages(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	q.take(pages)
	if err != nil {
		q.miss(ctx, "web", answering.OnTheWeb, err)
	}
	return nil
}

// documents searches the documents.
func (q *researchQuestion) documents(ctx workflow.Context) (found answering.FoundResult, err error) {
	if err := execute(activityOptions(ctx, "search", 5*time.Minute, questionRetries()), q.acts.SearchResearch, q.in, &found); err != nil {
		return found, err
	}
	q.update(ctx, record.ResearchData{Phase: "search", Status: "completed", Found: &found.Found, Searches: found.Searches})
	return found, nil
}

// pages searches the web.
func (q *researchQuestion) pages(ctx workflow.Context) (found answering.FoundResult, err error) {
	if err := execute(activityOptions(ctx, "search the web", 5*time.Minute, questionRetries()), q.acts.SearchResearchWeb, q.in, &found); err != nil {
		return found, err
	}
	q.update(ctx, record.ResearchData{Phase: "web", Status: "completed", Found: &found.Found, Searches: found.Searches})
	return found, nil
}

// take adds what was found to the result.
func (q *researchQuestion) take(found answering.FoundResult) {
	q.result.Searches = append(q.result.Searches, found.Searches...)
	q.result.Usage.Add(found.Usage)
}

// miss notes that a place could not be searched.
func (q *researchQuestion) miss(ctx workflow.Context, phase string, place answering.Place, err error) {
	missed := answering.Missed{Place: place, Failure: failureOf(err)}
	q.result.Missed = append(q.result.Missed, missed)
	q.update(ctx, record.ResearchData{Phase: phase, Status: "failed", Reason: missed.Failure})
}

// update publishes a researchUpdate event, whose words are in the plan.
func (q *researchQuestion) update(ctx workflow.Context, d record.ResearchData) {
	d.Round, d.Question = q.in.Round, q.in.Question+1
	q.log.publish(ctx, record.Entry(stream.TopicResearch, stream.Event{Ref: q.in.Plan, Data: stream.Data(d)}))
}
