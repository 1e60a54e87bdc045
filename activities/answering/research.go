package answering

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Limits of what models write for a research, beside the limits of the project.
const (
	MaxSections    = 8
	maxQueries     = 3    // searches of a sub-question in documents
	maxWebQueries  = 2    // searches of a sub-question on the web, whose engine may cost
	maxNotes       = 12   // of a sub-question
	maxNoteRunes   = 800  // of a note, a heading or a sub-question
	maxReportRunes = 1000 // of a failure's words in the report
)

// Research is how far a research is, as its activities need it: keys of blobs.
type Research struct {
	Plans    []string   `json:"plans,omitempty"`    // of the rounds, in order
	Reading  []Reading  `json:"reading,omitempty"`  // the sub-questions, in order
	Messages []string   `json:"messages,omitempty"` // from the person who asked
	Outline  string     `json:"outline,omitempty"`
	Sections []Section  `json:"sections,omitempty"` // written, in order
	Ended    Exhaustion `json:"ended,omitempty"`    // why it ended early
	Given    string     `json:"given,omitempty"`    // blob of the passages that a webhook gave
	// Attachments are the question's, when the research had waited for them.
	Attachments []knowledge.AttachedDocument `json:"attachments,omitempty"`
}

// Exhaustion is the part of the budget that ended a research; "" = none.
type Exhaustion string

// The parts of a budget.
const (
	OutOfTokens Exhaustion = "tokens"
	OutOfCalls  Exhaustion = "calls"
	OutOfTime   Exhaustion = "time"
)

// Reading is a sub-question and what became of it.
type Reading struct {
	Plan     string   `json:"plan"`     // the blob that has its words
	Question int      `json:"question"` // among the questions of the plan, 0 = first
	Searches []string `json:"searches,omitempty"`
	Notes    string   `json:"notes,omitempty"` // blob of a NotesRecord; "" = it was not researched to its end
	Failure  string   `json:"failure,omitempty"`
	Skipped  bool     `json:"skipped,omitempty"` // for lack of budget
	Missed   []Missed `json:"missed,omitempty"`  // what could not be searched for it
}

// Missed is what a sub-question could not search.
type Missed struct {
	Place   Place  `json:"place"`
	Failure string `json:"failure"`
}

// Place is where a sub-question searches.
type Place string

// The places.
const (
	InDocuments Place = "documents"
	OnTheWeb    Place = "web"
)

// Section is a section of the report and what became of it.
type Section struct {
	Key     string `json:"key"`
	Failure string `json:"failure,omitempty"` // why it has only the notes
	Skipped bool   `json:"skipped,omitempty"` // it has only the notes, for lack of budget
}

// Found returns a loop with all that was found, whose passages have the ranks that they
// have in the report.
func (r Research) Found() record.Loop {
	loop := record.Loop{Given: r.Given}
	for _, q := range r.Reading {
		loop.Searches = append(loop.Searches, q.Searches...)
	}
	return loop
}

// AllFailed reports whether every sub-question that was begun has failed.
func (r Research) AllFailed() bool {
	failed := false
	for _, q := range r.Reading {
		if q.Notes != "" {
			return false
		}
		failed = failed || q.Failure != ""
	}
	return failed
}

// research reads how far a research is, and asks its model.
type research struct {
	Blobs     step.Blobs
	Log       *slog.Logger
	Workflows Workflows
	chats     *chats
	passages  *passages
}

// require has the chat model call a tool, and decodes its arguments into v.
func (a *research) require(ctx context.Context, run knowledge.RunRef, r knowledge.Request, system, user string, tool model.Tool, v any) (step.Called, error) {
	zero := 0.0
	_, done, err := a.chatForResearch(ctx, run, r.Config, model.ChatRequest{
		Tools: []model.Tool{tool}, ToolChoice: tool.Name, Temperature: &zero, Seed: seed(),
		Messages: []model.Message{{Role: model.RoleSystem, Content: system}, {Role: model.RoleUser, Content: user}},
	})
	if err != nil {
		return step.Called{}, err
	}
	for _, call := range done.ToolCalls {
		if call.Name == tool.Name && json.Unmarshal([]byte(call.Arguments), v) == nil {
			return step.NewCalled(done), nil
		}
	}
	return step.Called{}, &model.Error{
		Code: model.CodeBadResponse, Provider: a.chats.Chat.Endpoint().Provider, Retryable: true, Cause: fmt.Errorf("the model did not call %s as its schema says", tool.Name),
	}
}

// chatForResearch makes a model call, and shows readers each model that fails.
func (a *research) chatForResearch(ctx context.Context, run knowledge.RunRef, config knowledge.ProjectConfig, chat model.ChatRequest) (string, model.Completion, error) {
	info, number := activity.GetInfo(ctx), int64(0)
	return a.chats.chatOnceNoting(ctx, config, chat, func(f model.Failed) {
		log := a.Log.With("run", run.Run)
		step.LogFailed(ctx, log, f)
		number++
		batch := stream.Batch{PublisherID: "failed-" + info.WorkflowExecution.RunID + "-" + info.ActivityID, Sequence: int64(info.Attempt)<<16 + number}
		batch.Items = []stream.Entry{record.Entry(stream.TopicModelFailed, stream.Event{Data: stream.Data(newModelFailed(f, int(info.Attempt)))})}
		if err := a.Workflows.Publish(ctx, run.LogWorkflowID(), batch); err != nil {
			log.WarnContext(ctx, "the failure of a model is not shown", "error", err)
		}
	})
}

// prompts returns what the prompts of a research are made of, without its notes.
func (a *research) prompts(ctx context.Context, r knowledge.Request, research Research) (prompt.Research, error) {
	p := prompt.Research{Question: r.Question, Date: r.Date}
	for _, key := range research.Messages {
		var m record.ResearchMessage
		if err := a.Blobs.GetJSON(ctx, key, &m); err != nil {
			return p, fmt.Errorf("read message %s: %w", key, err)
		}
		p.Messages = append(p.Messages, m.Text)
	}
	for _, key := range research.Plans {
		plan, err := a.plan(ctx, key)
		if err != nil {
			return p, err
		}
		for _, q := range plan.Questions {
			p.Asked = append(p.Asked, q.Question)
		}
	}
	return p, nil
}

// line returns a text on one line, cut to a number of code points.
func line(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
