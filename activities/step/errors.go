package step

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// ErrorDetails are the details of an activity's failure in history. They hold no
// text of documents, and of providers only what model.Error.Detail lets through.
type ErrorDetails struct {
	Code      knowledge.Code  `json:"code"`
	Stage     knowledge.Stage `json:"stage,omitempty"` // of ingestion
	Provider  string          `json:"provider,omitempty"`
	Status    int             `json:"status,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Retryable bool            `json:"retryable"`
	Held      bool            `json:"held,omitempty"`   // the provider limits requests, whoever sends them, or a service of the operator is away
	Probed    bool            `json:"probed,omitempty"` // of a held one: its request was sent, and refused
	// RetryAt is when a provider that limits requests takes the next one; zero = it did not say.
	RetryAt time.Time `json:"retry_at,omitzero"`
	Detail  string    `json:"detail,omitempty"`
}

// The types of failures that do not depend on the input.
const (
	typeLate = "late"      // the attempt took longer than its limit
	typeSlow = "not_quick" // the step takes too long for a local activity
)

// TypeEnded is the type of the failure of an attempt whose process has ended, or is
// about to.
const TypeEnded = "process_ended"

// ErrSlow ends a step that takes too long for a local activity.
var ErrSlow = errors.New("this takes too long for a local activity")

// IsSlow reports whether a local activity failed because its step takes too long
// for one. The workflow then runs the step as an activity.
func IsSlow(err error) bool {
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && application.Type() == typeSlow
}

// IsHeld reports whether an activity failed only because the provider limits requests,
// whoever sends them, or because a service of the operator is away. Mostly it has sent none. It
// tells when to come back.
func IsHeld(err error) bool { return heldDetails(err).Held }

// IsProbe reports whether an activity that IsHeld has sent a request, which was refused.
func IsProbe(err error) bool { return heldDetails(err).Probed }

func heldDetails(err error) (details ErrorDetails) {
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || !application.HasDetails() || application.Details(&details) != nil {
		return ErrorDetails{}
	}
	return details
}

// Failure returns the typed error that enters history. It decides what Temporal
// retries: failures of Cairn's stores and of providers, but not wrong documents or
// requests. It logs the causes and keeps them out of the error, because their text
// may come from a provider or a document.
func Failure(ctx context.Context, log *slog.Logger, err error) error {
	if err == nil {
		return nil
	}
	switch { // the attempt was ended; err is only a consequence
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return temporal.NewApplicationError("the attempt took too long", typeLate)
	case ctx.Err() != nil && Stopping(ctx):
		return temporal.NewApplicationError("the process that ran this stops", TypeEnded)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrSlow):
		return temporal.NewNonRetryableApplicationError(ErrSlow.Error(), typeSlow, nil)
	}
	if fromModel, ok := errors.AsType[*model.Error](err); ok {
		details := modelDetails(ctx, log, err, fromModel, knowledge.CodeProviderFailed)
		pause := fromModel.RetryAfter
		if fromModel.NextProbe > 0 {
			details.Held, details.Probed, pause = true, !fromModel.Held, fromModel.NextProbe
		}
		return modelFailure(details, fromModel.Public().Message, pause)
	}
	stage := StageOf(err)
	if errors.Is(err, blob.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) {
		err = fullDisk(err)
	}
	known := knowledge.AsError(err)
	retryable := IsRetryable(known)
	waits := errors.Is(err, privacy.ErrNoAnswer) // a document waits for it as for a provider
	options := temporal.ApplicationErrorOptions{
		NonRetryable:   !retryable,
		NextRetryDelay: known.RetryAfter,
		Details:        []any{ErrorDetails{Code: known.Code, Stage: stage, Retryable: retryable, Held: waits || known.Waits, Probed: waits}},
	}
	if retryable {
		log.ErrorContext(ctx, "activity failed", "error", err)
	} else {
		options.Category = temporal.ApplicationErrorCategoryBenign
		level := slog.LevelInfo
		if known.Cause == nil { // the end of the run is logged with all that is known
			level = slog.LevelDebug
		}
		log.Log(ctx, level, "activity refused its input", "code", known.Code, "cause", known.Cause)
	}
	return temporal.NewApplicationErrorWithOptions(known.Message, string(known.Code), options)
}

// IsRetryable reports whether Temporal repeats what failed with an error.
func IsRetryable(e *knowledge.Error) bool {
	return !e.Final && (e.Retryable || e.Code == knowledge.CodeInternal || e.Code == knowledge.CodeUnavailable)
}

// ModelFailure is Failure for the error of a model that answers a question, with the code and
// the message that its readers see.
func ModelFailure(ctx context.Context, log *slog.Logger, err error, fromModel *model.Error, code knowledge.Code, message string) error {
	details := modelDetails(ctx, log, err, fromModel, code)
	if code == knowledge.CodeRateLimited && fromModel.RetryAfter > 0 {
		details.RetryAt = time.Now().Add(fromModel.RetryAfter).UTC().Round(time.Second)
		message = "The model takes no requests until " + details.RetryAt.Format(time.RFC3339) + ". Your question is kept; try again then."
	}
	return modelFailure(details, message, fromModel.RetryAfter)
}

// modelDetails logs the error of a model and returns its details. A step that has sent
// nothing has no answer of the provider of its own.
func modelDetails(ctx context.Context, log *slog.Logger, err error, fromModel *model.Error, code knowledge.Code) ErrorDetails {
	level, text := slog.LevelWarn, "model call failed"
	switch {
	case fromModel.Held:
		level, text = slog.LevelDebug, "model call waits"
	case fromModel.Repeated: // an outage would fill the log with one line an attempt
		level = slog.LevelDebug
	}
	log.Log(ctx, level, text, "error", err, "provider", fromModel.Provider,
		"status", fromModel.Status, "request_id", fromModel.RequestID)
	details := ErrorDetails{Code: code, Stage: StageOf(err), Provider: fromModel.Provider, Retryable: fromModel.Retryable, Held: fromModel.Held}
	if !fromModel.Held {
		details.Status, details.RequestID, details.Detail = fromModel.Status, fromModel.RequestID, fromModel.Detail()
	}
	return details
}

func modelFailure(details ErrorDetails, message string, pause time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(message, string(details.Code), temporal.ApplicationErrorOptions{
		NonRetryable: !details.Retryable, NextRetryDelay: pause, Details: []any{details},
	})
}

// StageOf returns the stage of ingestion at which an error occurred, "" if the error
// has none.
func StageOf(err error) knowledge.Stage {
	if at, ok := errors.AsType[*stageError](err); ok {
		return at.stage
	}
	return ""
}

// Stopping reports whether the worker that runs the activity is stopping.
func Stopping(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}

// Describe returns the failure that clients see for the error of an activity, as a
// workflow has it. It returns timeout if the activity ran out of time.
func Describe(err error, timeout knowledge.Failure) knowledge.Failure {
	var application *temporal.ApplicationError
	var timedOut *temporal.TimeoutError
	switch {
	case temporal.IsCanceledError(err):
		return knowledge.Failure{Code: knowledge.CodeCanceled, Message: "canceled on request", Retryable: true}
	case errors.As(err, &application) && application.Type() == typeLate, errors.As(err, &timedOut):
		return timeout
	case application != nil && knowledge.Code(application.Type()).Known():
		details := ErrorDetails{Code: knowledge.Code(application.Type()), Retryable: !application.NonRetryable()}
		if application.HasDetails() {
			// If the details do not decode, the details of the type remain.
			_ = application.Details(&details)
		}
		return knowledge.Failure{Code: details.Code, Stage: details.Stage, Message: application.Message(), Retryable: details.Retryable, RetryAt: details.RetryAt, Detail: details.Detail}
	default: // for example a panic, whose words are not for clients
		return knowledge.Failure{Code: knowledge.CodeInternal, Message: "something went wrong on our side", Retryable: true}
	}
}

// DescribeStep is Describe for a step of a document, whose readers also see which of the
// configured endpoints failed.
func DescribeStep(err error, timeout knowledge.Failure) knowledge.Failure {
	f := Describe(err, timeout)
	var details ErrorDetails
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || f.Code != knowledge.CodeProviderFailed || !application.HasDetails() || application.Details(&details) != nil || details.Provider == "" {
		return f
	}
	f.Message = strings.Replace(f.Message, model.PublicName+" ", model.PublicName+" "+details.Provider+" ", 1)
	return f
}

func fullDisk(err error) *knowledge.Error {
	return &knowledge.Error{
		Code: knowledge.CodeUnavailable, Retryable: true, Cause: err,
		Message: "the disk is full; free some space and retry",
	}
}

// stageError is an error of a stage of ingestion.
type stageError struct {
	stage knowledge.Stage
	err   error
}

func (e *stageError) Error() string { return string(e.stage) + ": " + e.err.Error() }

// Unwrap returns the error without the stage.
func (e *stageError) Unwrap() error { return e.err }

// AtStage returns err with the stage at which it occurred, unless err has a stage.
func AtStage(stage knowledge.Stage, err error) error {
	if _, has := errors.AsType[*stageError](err); has || err == nil {
		return err
	}
	return &stageError{stage, err}
}
