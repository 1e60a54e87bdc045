package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// askWebhooks asks the project's webhooks of type queries about the question. It reports
// whether one of them answered it.
func (a *answer) askWebhooks(ctx workflow.Context) (answered bool, err error) {
	a.closed = true // the log is theirs, and their answer may be the last word
	in := answering.AskWebhooksInput{RunRef: a.in.RunRef, Offset: a.log.End(), Preceding: a.log.Items(a.inHub)}
	var result answering.AskWebhooksResult
	const summary = "ask the webhooks of the project"
	workflow.SetCurrentDetails(ctx, summary)
	retries := questionRetries()
	err = repeatAfterDeath(ctx, func(deaths int) error {
		in.Before = deaths * int(retries.MaximumAttempts)
		return workflow.ExecuteActivity(activityOptions(ctx, summary, 10*time.Minute, retries), a.acts.AskWebhooks, in).Get(ctx, &result)
	})
	if err != nil {
		return false, err
	}
	a.log.drain(ctx)
	if result.Tail != "" {
		a.log.add(stream.TopicDelta, stream.Event{Text: result.Tail})
	}
	for _, call := range result.Calls {
		a.log.add(stream.TopicWebhookCall, stream.Event{Data: stream.Data(call)})
	}
	a.loop.Asked, a.loop.Given, a.in.SearchFirst = true, result.Chunks, result.Search
	a.loop.Unshown = result.Chunks != ""
	if result.Answer != "" {
		a.loop.Answer = result.Answer
	}
	a.closed = result.Answer != ""
	return result.Answer != "", ctx.Err()
}

// askWebhooks asks the project's webhooks of type queries about the question of a research,
// once. It sets report if one of them answered it.
func (r *research) askWebhooks(ctx workflow.Context) error {
	if !r.in.Webhooks || r.Asked {
		return nil
	}
	in := answering.ResearchWebhooksInput{RunRef: r.in.RunRef}
	var result answering.AskWebhooksResult
	if err := execute(activityOptions(ctx, "ask the webhooks of the project", 10*time.Minute, questionRetries()), r.acts.AskResearchWebhooks, in, &result); err != nil {
		return err
	}
	for _, call := range result.Calls {
		r.log.publish(ctx, record.Entry(stream.TopicWebhookCall, stream.Event{Data: stream.Data(call)}))
	}
	r.Asked, r.Given, r.report = true, result.Chunks, result.Answer
	if r.report == "" {
		return ctx.Err()
	}
	return r.show(ctx, r.report, 1)
}
