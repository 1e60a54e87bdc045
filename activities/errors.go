package activities

import (
	"context"
	"errors"
	"log/slog"
	"syscall"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// ErrorDetails go into history with an activity's failure. They hold no text
// that came from elsewhere.
type ErrorDetails struct {
	Code      knowledge.Code  `json:"code"`
	Stage     knowledge.Stage `json:"stage,omitempty"` // of ingestion
	Provider  string          `json:"provider,omitempty"`
	Status    int             `json:"status,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Retryable bool            `json:"retryable"`
}

// The types of failures that say nothing of the input.
const (
	typeLate = "late"      // the attempt's time was over
	typeSlow = "not_quick" // it takes too long for a local activity
)

// TypeEnded is the type of an attempt's failure that says only that the process
// which ran it has ended, or is about to.
const TypeEnded = "process_ended"

// errSlow ends a local activity that takes too long to be one.
var errSlow = errors.New("this takes too long for a local activity")

// IsSlow reports whether a step did not end as a local activity because it takes
// too long, and has to be one of its own.
func IsSlow(err error) bool {
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && application.Type() == typeSlow
}

// failure turns an error into the typed one that enters history. It decides
// what Temporal retries: failures of our stores and of providers, but not
// documents or requests that are wrong and stay so. The causes are logged here,
// because their text may come from a provider or a document.
func failure(ctx context.Context, log *slog.Logger, err error) error {
	if err == nil {
		return nil
	}
	switch { // what is not a failure of its own
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return temporal.NewApplicationError("the attempt took too long", typeLate)
	case ctx.Err() != nil && stopping(ctx):
		return temporal.NewApplicationError("the process that ran this stops", TypeEnded)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errSlow):
		return temporal.NewNonRetryableApplicationError(errSlow.Error(), typeSlow, nil)
	}
	var fromModel *model.Error
	if errors.As(err, &fromModel) {
		log.WarnContext(ctx, "model call failed", "error", err, "provider", fromModel.Provider,
			"status", fromModel.Status, "request_id", fromModel.RequestID)
		return temporal.NewApplicationErrorWithOptions(fromModel.Public().Message, string(knowledge.CodeProviderFailed),
			temporal.ApplicationErrorOptions{
				NonRetryable:   !fromModel.Retryable,
				NextRetryDelay: fromModel.RetryAfter,
				Details: []any{ErrorDetails{
					Code: knowledge.CodeProviderFailed, Stage: stageOf(err), Provider: fromModel.Provider, Status: fromModel.Status,
					RequestID: fromModel.RequestID, Retryable: fromModel.Retryable,
				}},
			})
	}
	stage := stageOf(err)
	if errors.Is(err, blob.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) {
		err = fullDisk(err)
	}
	known := knowledge.AsError(err)
	retryable := known.Retryable || known.Code == knowledge.CodeInternal || known.Code == knowledge.CodeUnavailable
	options := temporal.ApplicationErrorOptions{
		NonRetryable:   !retryable,
		NextRetryDelay: known.RetryAfter,
		Details:        []any{ErrorDetails{Code: known.Code, Stage: stage, Retryable: retryable}},
	}
	if retryable {
		log.ErrorContext(ctx, "activity failed", "error", err)
	} else {
		options.Category = temporal.ApplicationErrorCategoryBenign
		log.InfoContext(ctx, "activity refused its input", "code", known.Code, "cause", known.Cause)
	}
	return temporal.NewApplicationErrorWithOptions(known.Message, string(known.Code), options)
}

// stageOf returns the stage of ingestion at which an error came up, "" if it does
// not say.
func stageOf(err error) knowledge.Stage {
	if at, ok := errors.AsType[*stageError](err); ok {
		return at.stage
	}
	return ""
}

// stopping reports whether the worker that runs an activity is being stopped.
func stopping(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}

// Describe says what an activity's failure, as a workflow sees it, means to a
// client. late is what a time-out stands for in the step that failed.
func Describe(err error, late knowledge.Failure) knowledge.Failure {
	var application *temporal.ApplicationError
	var timeout *temporal.TimeoutError
	switch {
	case temporal.IsCanceledError(err):
		return knowledge.Failure{Code: knowledge.CodeCanceled, Message: "canceled on request", Retryable: true}
	case errors.As(err, &application) && application.Type() == typeLate, errors.As(err, &timeout):
		return late
	case application != nil && knowledge.Code(application.Type()).Known():
		details := ErrorDetails{Code: knowledge.Code(application.Type()), Retryable: !application.NonRetryable()}
		if application.HasDetails() {
			// Details that do not decode leave what the type says.
			_ = application.Details(&details)
		}
		return knowledge.Failure{Code: details.Code, Stage: details.Stage, Message: application.Message(), Retryable: details.Retryable}
	default: // a panic, for one: its words are not for clients
		return knowledge.Failure{Code: knowledge.CodeInternal, Message: "something went wrong on our side", Retryable: true}
	}
}
