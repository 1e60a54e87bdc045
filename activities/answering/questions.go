package answering

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/tool"
)

// Dependencies are what the activities of questions use. New gives each part its own.
type Dependencies struct {
	Blobs         step.Blobs
	Runs          step.RunEnds
	Days          DayLimits // nil = no run is held to what is left of a day
	Retriever     Retriever
	Passages      retrieve.PassageReader
	Conversations Conversations
	Library       Library      // nil = no tools that read documents
	Tables        TableQuerier // nil = tables are not queried
	TempDir       string       // of copies of tables; "" = the system's
	Chat          step.Chat
	Failover      []step.Chat // endpoints that are asked where Chat fails, in their order
	Recognisers   privacy.Recognisers
	Tools         tool.Set      // beside documents_rag and web_search
	Sources       []tool.Source // of tools that depend on the question
	Agents        Agents        // nil = no project asks another
	Webhooks      QueryWebhooks
	Steps         step.StepRunner // of the pipelines of projects
	Evaluations   Evaluations
	Judges        JudgeWebhooks
	TestSets      TestSets
	Web           Web        // nil = the instance searches no web
	Pages         PageReader // nil = pages are not read
	Workflows     Workflows
	Hub           Hub
	Metrics       Metrics
	Log           *slog.Logger
}

// maxRetryAfter is the longest pause that a question grants a provider, because a
// reader waits for its answer.
const maxRetryAfter = time.Minute

// stepLog logs the failures of steps.
type stepLog struct{ Log *slog.Logger }

// fail is failure for the activities of a run that somebody waits for. A model that limits
// requests is CodeRateLimited.
func (a *stepLog) fail(ctx context.Context, run knowledge.RunRef, err error) error {
	log := a.Log.With("workspace", run.Workspace, "run", run.Run)
	e, ok := errors.AsType[*model.Error](err)
	if !ok || ctx.Err() != nil {
		return step.Failure(ctx, log, err)
	}
	final := *e
	final.Retryable = e.Retryable && e.RetryAfter <= maxRetryAfter
	if e.Code == model.CodeBadResponse && activity.GetInfo(ctx).Attempt > 1 { // each costs, and the next one is no better
		final.Retryable = false
	}
	return step.ModelFailure(ctx, log, err, &final, final.Public().Code, final.ForAsker())
}
