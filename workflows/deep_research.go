package workflows

import (
	"cmp"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// SignalResearch is the signal of DeepResearch that pauses, resumes and steers it:
// ResearchControl.
const SignalResearch = "research_control"

// ResearchInput starts DeepResearch. State is carried over a continue-as-new.
type ResearchInput struct {
	knowledge.RunRef
	MessageID      string                   `json:"message_id,omitempty"`
	ConversationID string                   `json:"conversation_id,omitempty"`
	After          string                   `json:"after,omitempty"`       // the run of the same conversation that comes before, if it had not ended
	Next           []string                 `json:"next,omitempty"`        // workflows that wait for the end of this one, over a continue-as-new
	Limits         knowledge.ResearchConfig `json:"limits"`                // with defaults
	Web            bool                     `json:"web,omitempty"`         // sub-questions search the web beside the documents
	Webhooks       bool                     `json:"webhooks,omitempty"`    // webhooks are asked first
	Attachments    []string                 `json:"attachments,omitempty"` // documents for whose ingestion the research waits
	ShowChosen     bool                     `json:"show_chosen,omitempty"` // the log names the passages before the report; false in runs of earlier versions
	State          ResearchState            `json:"state,omitzero"`
}

// NewResearchInput returns the input of the workflow for the input of an answer.
func NewResearchInput(in record.AnswerInput) ResearchInput {
	return ResearchInput{RunRef: in.RunRef, MessageID: in.MessageID, ConversationID: in.ConversationID, After: in.After, Web: in.Web, Webhooks: in.Webhooks, Attachments: in.Attachments, Limits: in.Research.WithDefaults(), ShowChosen: in.ShowChosen}
}

// ResearchState is how far a research is.
type ResearchState struct {
	answering.Research
	Begun    bool            `json:"begun,omitempty"` // its log runs
	Asked    bool            `json:"asked,omitempty"` // its webhooks have answered
	Usage    knowledge.Usage `json:"usage,omitzero"`
	Heard    int             `json:"heard,omitempty"`    // messages that a plan has considered
	Searched bool            `json:"searched,omitempty"` // no round is left
	Sections int             `json:"outlined,omitempty"` // of the outline
	Paused   bool            `json:"paused,omitempty"`
	Worked   time.Duration   `json:"worked,omitempty"` // without pauses
	Shown    int64           `json:"shown,omitempty"`  // events that this workflow has published
}

// DeepResearch answers a question with a report: it plans sub-questions, has a workflow
// search and take notes for each, asks what is left open, round by round, and writes the
// notes up section by section. A RunLog holds its events.
func DeepResearch(ctx workflow.Context, in ResearchInput) error {
	r := &research{in: in, ResearchState: in.State, resumed: workflow.Now(ctx)}
	r.log = newRunLogWriter(ctx, in.LogWorkflowID(), "research", &r.Shown)
	err := r.begin(ctx)
	drainOnSignal(disconnected(ctx), SignalResearch, r.drain) // which writes to the log
	if err == nil {
		err = r.run(ctx)
	}
	if r.next && err == nil {
		r.log.settle(ctx)
		r.drain(ctx)
		r.count(ctx)
		in.State, in.Next = r.ResearchState, nextRuns(ctx, in.Next)
		return workflow.NewContinueAsNewError(ctx, DeepResearch, in)
	}
	return r.finish(ctx, err)
}

// research is the state of DeepResearch.
type research struct {
	ResearchState
	in      ResearchInput
	log     runLogWriter
	resumed time.Time            // from which on Worked is counted
	next    bool                 // it continues as new
	report  string               // blob of the report
	acts    answering.Activities // for the names of its methods only
}

// begin starts the log.
func (r *research) begin(ctx workflow.Context) error {
	if r.Begun {
		return nil
	}
	started := record.QueryStarted(record.AnswerInput{MessageID: r.in.MessageID, ConversationID: r.in.ConversationID})
	if err := startRunLog(ctx, RunLogInput{RunRef: r.in.RunRef, Log: stream.Log{Entries: []stream.Entry{started}}}); err != nil {
		return fmt.Errorf("start the log of run %s: %w", r.in.Run, err)
	}
	r.Begun = true
	_, err := awaitTurn(ctx, r.in.RunRef, r.in.After)
	return err
}

// run researches and writes the report. It returns nil with next set where it has to
// continue as new.
func (r *research) run(ctx workflow.Context) error {
	if err := r.awaitAttachments(ctx); err != nil {
		return err
	}
	if err := r.askWebhooks(ctx); err != nil || r.report != "" {
		return err
	}
	for !r.Searched {
		if err := r.round(ctx); err != nil || r.next {
			return err
		}
	}
	if r.Outline == "" {
		if err := r.outline(ctx); err != nil {
			return err
		}
		r.showChosen(ctx)
	}
	for len(r.Research.Sections) < r.Sections {
		if err := r.section(ctx); err != nil || r.isLong(ctx) {
			return err
		}
	}
	return r.join(ctx)
}

// isLong notes that the workflow has to continue as new.
func (r *research) isLong(ctx workflow.Context) bool {
	r.next = isLong(ctx) && ctx.Err() == nil
	return r.next
}

// join stores the report and shows its last part.
func (r *research) join(ctx workflow.Context) error {
	in := answering.ReportInput{RunRef: r.in.RunRef, Research: r.Research, Usage: r.Usage}
	var joined answering.ReportResult
	if err := execute(activityOptions(ctx, "join the report", time.Minute, storeRetries()), r.acts.JoinReport, in, &joined); err != nil {
		return err
	}
	r.report = joined.Key
	return r.show(ctx, joined.LeftOut, len(r.Research.Sections)+1)
}

// show publishes a part of the report, 1 = first.
func (r *research) show(ctx workflow.Context, key string, part int) error {
	in := answering.ShowInput{RunRef: r.in.RunRef, Key: key, Part: part}
	return workflow.ExecuteLocalActivity(finalOptions(ctx, fmt.Sprintf("show part %d of the report", part)), r.acts.ShowReport, in).Get(ctx, nil)
}

// finish stores the end of the run, and then ends its log.
func (r *research) finish(ctx workflow.Context, err error) error {
	end := record.Ending{Kind: knowledge.KindResearch, Answer: r.in.AnswerKey()}
	in := answering.FinishAnswerInput{
		RunRef: r.in.RunRef, Workflow: "DeepResearch",
		Loop: r.Found(),
	}
	in.Loop.Answer, in.Loop.Usage, in.Loop.Attachments = r.report, r.Usage, r.Attachments
	if err = canceled(ctx, err); err != nil {
		f := step.Describe(err, knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "the model did not answer in time; try again later", Retryable: true})
		end, in.Code, in.Message, in.RetryAt, in.Detail = record.Failed(knowledge.KindResearch, f), f.Code, f.Message, f.RetryAt, f.Detail
	}
	in.Status = end.Status()
	if err := setStatusAttribute(ctx, in.Status); err != nil {
		return err
	}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "save the report"), r.acts.FinishResearch, in).Get(ctx, nil); err != nil {
		return fmt.Errorf("save the report of run %s: %w", r.in.Run, err)
	}
	r.log.publish(ctx, end.Entries()...)
	wakeNext(ctx, r.in.Next)
	return nil
}

// drain receives every waiting signal.
func (r *research) drain(ctx workflow.Context) {
	for {
		var c record.ResearchControl
		if !workflow.GetSignalChannel(ctx, SignalResearch).ReceiveAsync(&c) {
			return
		}
		if c.Message != "" {
			r.Messages = append(r.Messages, c.Message)
			r.update(ctx, record.ResearchData{Phase: "message", Status: "received", Message: len(r.Messages)}, c.Message)
		}
		if c.Paused != nil && *c.Paused != r.Paused {
			r.count(ctx)
			r.Paused = *c.Paused
			r.update(ctx, record.ResearchData{Phase: "pause", Status: map[bool]string{true: "started", false: "completed"}[r.Paused]}, "")
		}
	}
}

// count adds the time since the last call to the time of work, unless it was paused.
func (r *research) count(ctx workflow.Context) {
	now := workflow.Now(ctx)
	if !r.Paused {
		r.Worked += now.Sub(r.resumed)
	}
	r.resumed = now
}

// turn blocks while the research is paused, and returns what is left of a share of its
// time.
func (r *research) turn(ctx workflow.Context, share float64) (left time.Duration, err error) {
	r.drain(ctx)
	if err := workflow.Await(ctx, func() bool { return !r.Paused }); err != nil {
		return 0, err
	}
	r.count(ctx)
	return r.timeLeft(share), nil
}

// timeLeft returns what was left of a share of the time at the last count.
func (r *research) timeLeft(share float64) time.Duration {
	return time.Duration(share*float64(r.in.Limits.Timeout)*float64(time.Second)) - r.Worked
}

// update publishes a researchUpdate event. ref is the blob that has its words.
func (r *research) update(ctx workflow.Context, d record.ResearchData, ref string) {
	usage := r.Usage
	d.Usage = &usage
	r.log.publish(ctx, record.Entry(stream.TopicResearch, stream.Event{Ref: ref, Data: stream.Data(d)}))
}

// showChosen names the passages that the sections may cite. Readers can open them while the
// report is written.
func (r *research) showChosen(ctx workflow.Context) {
	if chosen := r.Found().Chosen(); r.in.ShowChosen && (chosen.Given != "" || len(chosen.Searches) > 0) {
		r.log.publish(ctx, chosen.Entry())
	}
}

// failureOf returns what readers are told of the error of a step.
func failureOf(err error) string {
	f := step.Describe(err, knowledge.Failure{Message: "it took too long"})
	return cmp.Or(f.Message, "it failed")
}
