package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// AnswerQuery answers a question. It searches, calls the model and the tools that
// the model calls, streams the answer through its log, and saves the conversation.
func AnswerQuery(ctx workflow.Context, in record.AnswerInput) error {
	a, err := newAnswer(ctx, in, "AnswerQuery")
	if err != nil {
		return err
	}
	if in.Carried == nil {
		a.log.Append(record.QueryStarted(in))
	}
	if err := a.beginAsAgent(ctx); err != nil {
		return err
	}
	a.newRun = func(next record.AnswerInput) error { return workflow.NewContinueAsNewError(ctx, AnswerQuery, next) }
	err = a.converse(ctx)
	if next, ok := a.next(); ok {
		return next
	}
	return a.finish(ctx, knowledge.KindQuery, err)
}

// answer is the state of AnswerQuery and RunTool: a loop of model and tool calls
// that ends in an answer.
type answer struct {
	in         record.AnswerInput
	name       string // of the workflow
	log        *eventLog
	loop       record.Loop
	inHub      int64 // the hub has the items before this offset
	segments   int
	acts       answering.Activities // for the names of its methods only
	newRun     func(record.AnswerInput) error
	nextRun    error
	toolEvents bool                        // the run is a tool's: it logs the phases of the search
	caller     runLogWriter                // the log of the run that asks this one as an agent
	decisions  map[string]*record.Decision // of the calls that wait for a person, nil until then; by the call's id
	steering
}

func newAnswer(ctx workflow.Context, in record.AnswerInput, name string) (*answer, error) {
	log, err := newEventLog(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	a := &answer{in: in, name: name, log: log, segments: in.Segments, decisions: map[string]*record.Decision{}}
	if err := a.takeDecisions(ctx); err != nil {
		return nil, err
	}
	if err := a.takeMessages(ctx); err != nil {
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
		answered, err := a.askWebhooks(ctx)
		if err == nil && answered {
			err = a.afterAnswer(ctx)
		}
		if err != nil || answered {
			return err
		}
	}
	if a.in.SearchFirst && a.loop.Found == nil && len(a.loop.Searches) == 0 {
		result, err := a.search(ctx, answering.SearchInput{RunRef: a.in.RunRef})
		if err != nil {
			return err
		}
		if a.loop.Found = result.Found; result.Found == nil {
			a.loop.Searches = append(a.loop.Searches, result.Key)
		}
		a.loop.Usage.Add(result.Usage)
		a.loop.Unshown = a.loop.Unshown || result.Kept > 0
		a.chose(result.Chosen, result.Key)
		if a.toolEvents {
			a.retrieved(result)
		}
	}
	if err := a.beforePrompt(ctx); err != nil {
		return err
	}
	if err := a.turns(ctx); err != nil || a.loop.Answer == "" {
		return err
	}
	if err := a.afterAnswer(ctx); err != nil || !a.in.Suggest {
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
	var result answering.SummarizeResult
	in := answering.SummarizeInput{RunRef: a.in.RunRef}
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
	var suggested answering.SuggestResult
	in := answering.SuggestInput{RunRef: a.in.RunRef, Answer: a.loop.Answer}
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
	a.closed = true
	end := record.Ending{Kind: kind, Answer: a.in.AnswerKey()}
	in := answering.FinishAnswerInput{RunRef: a.in.RunRef, Loop: a.loop, Workflow: a.name, Segments: a.segments}
	if err = canceled(ctx, err); err != nil {
		f := step.Describe(err, knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "the model did not answer in time; try again later", Retryable: true})
		end, in.Code, in.Message, in.RetryAt, in.Detail = record.Failed(kind, f), f.Code, f.Message, f.RetryAt, f.Detail
		// Operators also see which endpoint failed.
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("Ended with `%s`: %s.", f.Code, step.DescribeStep(err, f).Message))
	}
	in.Status = end.Status()
	a.log.drain(ctx)
	a.hearAll()
	in.Loop = a.loop
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
