package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// AnswerInput starts AnswerQuery or RunTool. The question itself is in the blob of
// the request.
type AnswerInput struct {
	knowledge.RunRef
	MessageID      string                   `json:"message_id,omitempty"`
	ConversationID string                   `json:"conversation_id,omitempty"`
	ExecutionID    string                   `json:"execution_id,omitempty"`
	SearchFirst    bool                     `json:"search_first"`          // the prompt has ${context}
	SlowSearch     bool                     `json:"slow_search,omitempty"` // a search asks a chat model or a reranker
	Webhooks       bool                     `json:"webhooks,omitempty"`    // webhooks are asked first
	MaxToolTurns   int                      `json:"max_tool_turns"`
	Overlong       bool                     `json:"overlong,omitempty"`    // the conversation is summed up first
	After          string                   `json:"after,omitempty"`       // the run of the same conversation that comes before, if it had not ended
	Suggest        bool                     `json:"suggest,omitempty"`     // questions that may come next
	Next           []string                 `json:"next,omitempty"`        // workflows that wait for the end of this one, over a continue-as-new
	Web            bool                     `json:"web,omitempty"`         // RunTool searches the web
	Attachments    []string                 `json:"attachments,omitempty"` // documents for whose ingestion the question waits
	Carried        *activities.Loop         `json:"carried,omitempty"`     // state over a continue-as-new
	Research       knowledge.ResearchConfig `json:"research,omitzero"`     // of a deep research
	Log            stream.Log               `json:"log,omitzero"`
	Segments       int                      `json:"segments,omitempty"` // segments of the log in the blob store
	Caller         *Caller                  `json:"caller,omitempty"`   // that asks the run as an agent
}

// NewAnswerInput returns the input of a run's workflow. It depends only on the run
// and its request.
func NewAnswerInput(run knowledge.RunRef, r knowledge.Request) AnswerInput {
	in := AnswerInput{
		RunRef: run, MessageID: r.MessageID, ConversationID: r.ConversationID, ExecutionID: r.ExecutionID,
		Webhooks: asksWebhooks(r), SearchFirst: activities.SearchFirst(r), SlowSearch: r.Config.AI.AsksModel(), MaxToolTurns: r.Config.Tools.MaxPerRequest, Suggest: r.Kind == knowledge.KindQuery && r.Config.AI.PostQuery.Suggestions,
		Web: r.Web != nil, Attachments: r.Attachments, Overlong: r.Overlong,
	}
	if r.Kind == knowledge.KindResearch {
		in.Research, in.Web = r.Config.Tools.DeepResearch, r.Config.Tools.WebSearch != nil
	}
	return in
}

// WordsNext reports whether the first event of a run is followed by the words of a model.
// Otherwise it is followed by events of a search, of webhooks or of a plan.
func (in AnswerInput) WordsNext(kind knowledge.RunKind) bool {
	return kind != knowledge.KindResearch && !in.Web && !in.Webhooks && !in.SlowSearch
}

// StartedData is the inline data of a question's first event.
type StartedData struct {
	MessageID      string `json:"messageId"`
	ConversationID string `json:"conversationId"`
}

// QueryStarted returns the first entry of a question's log. The caller that starts
// the workflow may show it as soon as Temporal has acknowledged the start.
func QueryStarted(in AnswerInput) stream.Entry {
	return entry(stream.TopicStarted, stream.Event{
		Data: stream.Data(StartedData{MessageID: in.MessageID, ConversationID: in.ConversationID}),
	})
}

// AnswerQuery answers a question. It searches, calls the model and the tools that
// the model calls, streams the answer through its log, and saves the conversation.
func AnswerQuery(ctx workflow.Context, in AnswerInput) error {
	a, err := newAnswer(ctx, in, "AnswerQuery")
	if err != nil {
		return err
	}
	if in.Carried == nil {
		a.log.Append(QueryStarted(in))
	}
	if err := a.beginAsAgent(ctx); err != nil {
		return err
	}
	a.newRun = func(next AnswerInput) error { return workflow.NewContinueAsNewError(ctx, AnswerQuery, next) }
	err = a.converse(ctx)
	if next, ok := a.next(); ok {
		return next
	}
	return a.finish(ctx, knowledge.KindQuery, err)
}

// answer is the state of AnswerQuery and RunTool: a loop of model and tool calls
// that ends in an answer.
type answer struct {
	in         AnswerInput
	name       string // of the workflow
	log        *eventLog
	loop       activities.Loop
	inHub      int64 // the hub has the items before this offset
	segments   int
	acts       *activities.Answering // for the names of its methods only
	newRun     func(AnswerInput) error
	nextRun    error
	toolEvents bool                 // the run is a tool's: it logs the phases of the search
	caller     runLogWriter         // the log of the run that asks this one as an agent
	decisions  map[string]*Decision // of the calls that wait for a person, nil until then; by the call's id
}

func newAnswer(ctx workflow.Context, in AnswerInput, name string) (*answer, error) {
	log, err := newEventLog(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	a := &answer{in: in, name: name, log: log, segments: in.Segments, decisions: map[string]*Decision{}}
	if err := a.takeDecisions(ctx); err != nil {
		return nil, err
	}
	if in.Carried != nil {
		a.loop = *in.Carried
	}
	return a, nil
}

// next returns the continue-as-new error that the loop prepared, if any.
func (a *answer) next() (error, bool) { return a.nextRun, a.nextRun != nil }

// converse asks the webhooks of the question if it has some, searches first if the prompt
// has a place for passages, and then runs the turns of the tool loop.
func (a *answer) converse(ctx workflow.Context) error {
	if a.in.Carried == nil {
		overlong, err := awaitTurn(ctx, a.in.RunRef, a.in.After)
		if err != nil {
			return err
		}
		if overlong || a.in.Overlong {
			a.summarize(ctx)
		}
	}
	if len(a.in.Attachments) > 0 && a.loop.Attachments == nil {
		if err := a.awaitAttachments(ctx); err != nil {
			return err
		}
	}
	if a.in.Webhooks && !a.loop.Asked {
		if answered, err := a.askWebhooks(ctx); err != nil || answered {
			return err
		}
	}
	if a.in.SearchFirst && a.loop.Found == nil && len(a.loop.Searches) == 0 {
		result, err := a.search(ctx, activities.SearchInput{RunRef: a.in.RunRef})
		if err != nil {
			return err
		}
		if a.loop.Found = result.Found; result.Found == nil {
			a.loop.Searches = append(a.loop.Searches, result.Key)
		}
		a.loop.Usage.Add(result.Usage)
		a.chose(result.Chosen, result.Key)
		if a.toolEvents {
			a.retrieved(result)
		}
	}
	if err := a.turns(ctx); err != nil || a.loop.Answer == "" || !a.in.Suggest {
		return err
	}
	a.suggest(ctx)
	return ctx.Err()
}

// summarize has the beginning of the conversation summed up. Without a summary the prompt
// has the newest messages only.
func (a *answer) summarize(ctx workflow.Context) {
	const summary = "sum up the conversation"
	workflow.SetCurrentDetails(ctx, summary)
	var result activities.SummarizeResult
	in := activities.SummarizeInput{RunRef: a.in.RunRef}
	if err := execute(activityOptions(ctx, summary, summarizeTime, once()), a.acts.SummarizeHistory, in, &result); err != nil {
		workflow.GetLogger(ctx).Warn("the conversation is not summed up", "error", err)
		return
	}
	a.loop.Usage.Add(result.Usage)
}

// summarizeTime bounds the call that sums up a conversation: the answer waits for it.
const summarizeTime = 30 * time.Second

// suggest asks for questions that may come next. An answer is whole without them.
func (a *answer) suggest(ctx workflow.Context) {
	var suggested activities.SuggestResult
	in := activities.SuggestInput{RunRef: a.in.RunRef, Answer: a.loop.Answer}
	if err := execute(activityOptions(ctx, "suggest questions", suggestTime, once()), a.acts.SuggestQuestions, in, &suggested); err != nil {
		workflow.GetLogger(ctx).Warn("no questions are suggested", "error", err)
		return
	}
	a.loop.Suggestions = suggested.Key
	a.loop.Usage.Add(suggested.Usage)
}

// suggestTime bounds the call that suggests questions: the answer waits for it.
const suggestTime = 20 * time.Second

// finish saves the outcome of the run, stores its log, and ends it. It adds the last
// entries to the log only after the end is durable.
func (a *answer) finish(ctx workflow.Context, kind knowledge.RunKind, err error) error {
	end := activities.Ending{Kind: kind, Answer: a.in.AnswerKey()}
	in := activities.FinishAnswerInput{RunRef: a.in.RunRef, Loop: a.loop, Workflow: a.name, Segments: a.segments}
	if err = canceled(ctx, err); err != nil {
		f := activities.Describe(err, knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "the model did not answer in time; try again later", Retryable: true})
		end, in.Code, in.Message, in.RetryAt = activities.Failed(kind, f), f.Code, f.Message, f.RetryAt
		// Operators also see which endpoint failed.
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("Ended with `%s`: %s.", f.Code, activities.DescribeStep(err, f).Message))
	}
	in.Status = end.Status()
	a.log.drain(ctx)
	in.Items = a.log.itemsWith(0, end)
	if err := setStatusAttribute(ctx, in.Status); err != nil {
		return err
	}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "save the answer"), a.acts.FinishAnswer, in).Get(ctx, nil); err != nil {
		return fmt.Errorf("save the answer of run %s: %w", a.in.Run, err)
	}
	a.log.end(end)
	a.log.close(ctx)
	wakeNext(ctx, a.in.Next)
	return nil
}
