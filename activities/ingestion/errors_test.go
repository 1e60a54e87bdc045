package ingestion_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// retryDelay returns how long Temporal waits before the next attempt, 0 = as the
// retry policy defines.
func retryDelay(err error) time.Duration {
	var application *temporal.ApplicationError
	if !errors.As(err, &application) {
		return 0
	}
	return application.NextRetryDelay()
}

// failingIndex is an index that returns err.
type failingIndex struct {
	ingestion.Index
	err error
}

func (x failingIndex) RemoveDocument(context.Context, string, string, int) error { return x.err }

// TestErrors maps errors to the failures that clients see, and to whether Temporal
// retries.
func TestErrors(t *testing.T) {
	t.Parallel()
	const secret = "postgres://user:password@host"
	cause := errors.New(secret)
	later := &knowledge.Error{Code: knowledge.CodeRateLimited, Message: "too many", Retryable: true, RetryAfter: 9 * time.Second, Cause: cause}
	type outcome struct {
		code      knowledge.Code
		retryable bool
		wait      time.Duration
		says      string
	}
	for name, tc := range map[string]struct {
		err  error
		want outcome
	}{
		"an error of any kind":      {cause, outcome{knowledge.CodeInternal, true, 0, "our side"}},
		"a network that fails":      {&net.OpError{Op: "dial", Err: cause}, outcome{knowledge.CodeInternal, true, 0, "our side"}},
		"a time-out somewhere":      {fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), outcome{knowledge.CodeInternal, true, 0, "our side"}},
		"a blob that is not there":  {fmt.Errorf("%s: %w", secret, blob.ErrNotFound), outcome{knowledge.CodeInternal, true, 0, "our side"}},
		"a disk that is full":       {fmt.Errorf("%s: %w", secret, blob.ErrNoSpace), outcome{knowledge.CodeUnavailable, true, 0, "free some space"}},
		"a folder without space":    {&os.PathError{Op: "write", Path: secret, Err: syscall.ENOSPC}, outcome{knowledge.CodeUnavailable, true, 0, "free some space"}},
		"what may pass, and when":   {later, outcome{knowledge.CodeRateLimited, true, 9 * time.Second, "too many"}},
		"what may pass, wrapped":    {fmt.Errorf("%s: %w", secret, later), outcome{knowledge.CodeRateLimited, true, 9 * time.Second, "too many"}},
		"a permanent conflict":      {knowledge.Errorf(knowledge.CodeConflict, "it stands").WithCause(cause), outcome{knowledge.CodeConflict, false, 0, "it stands"}},
		"a document like any other": {knowledge.NotFound("document", "d"), outcome{knowledge.CodeNotFound, false, 0, `"d"`}},
		"a limiting endpoint": {
			&model.Error{Code: model.CodeRateLimited, Status: 429, Retryable: true, RetryAfter: 3 * time.Second, Cause: cause},
			outcome{knowledge.CodeProviderFailed, true, 3 * time.Second, "limiting requests and asked for a pause"},
		},
		"an overloaded endpoint":      {&model.Error{Code: model.CodeOverloaded, Status: 503, Retryable: true, Cause: cause}, outcome{knowledge.CodeProviderFailed, true, 0, "failing (status 503); try again"}},
		"an endpoint that is silent":  {&model.Error{Code: model.CodeTimeout, Retryable: true, Cause: cause}, outcome{knowledge.CodeProviderFailed, true, 0, "in time"}},
		"an endpoint that is gone":    {&model.Error{Code: model.CodeConnection, Retryable: true, Cause: cause}, outcome{knowledge.CodeProviderFailed, true, 0, "cannot be reached"}},
		"an endpoint that is down":    {&model.Error{Code: model.CodeConnection, Retryable: true, Cause: fmt.Errorf("%s: %w", secret, syscall.ECONNREFUSED)}, outcome{knowledge.CodeProviderFailed, true, 0, "(connection refused); check its address"}},
		"an answer that is cut":       {&model.Error{Code: model.CodeEnded, Retryable: true, Cause: cause}, outcome{knowledge.CodeProviderFailed, true, 0, "try again"}},
		"an answer of another form":   {&model.Error{Code: model.CodeBadResponse, Retryable: true, Cause: cause}, outcome{knowledge.CodeProviderFailed, true, 0, "cannot be read"}},
		"a key that is wrong":         {&model.Error{Code: model.CodeUnauthorized, Status: 401, Cause: cause}, outcome{knowledge.CodeProviderFailed, false, 0, "key"}},
		"a request that is turned":    {&model.Error{Code: model.CodeBadRequest, Status: 400, Cause: cause}, outcome{knowledge.CodeProviderFailed, false, 0, "refused the request"}},
		"an endpoint's error, inside": {fmt.Errorf("%s: %w", secret, &model.Error{Code: model.CodeUnauthorized}), outcome{knowledge.CodeProviderFailed, false, 0, "key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.IngestWith(func(d *ingestion.Dependencies) { d.Index = failingIndex{err: tc.err} })
			err := act(f, f.Ingestion.RemoveEntries, ingestion.RemoveInput{Workspace: "w", Document: "d"})
			f.FailedWith(err, tc.want.code, tc.want.retryable)
			if got := step.Describe(err, knowledge.Failure{}); !strings.Contains(got.Message, tc.want.says) {
				t.Errorf("it says %q, want something of %q", got.Message, tc.want.says)
			}
			if wait := retryDelay(err); wait != tc.want.wait {
				t.Errorf("Temporal waits %v, want %v", wait, tc.want.wait)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the cause is in history: %v", err)
			}
			if strings.Contains(tc.err.Error(), secret) && !strings.Contains(f.Logged.String(), secret) {
				t.Errorf("the cause is not in the log: %s", f.Logged)
			}
		})
	}
}

// TestErrorCodes checks for every code whether Temporal retries it by default.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	again := map[knowledge.Code]bool{knowledge.CodeInternal: true, knowledge.CodeUnavailable: true}
	for _, code := range []knowledge.Code{
		knowledge.CodeMalformed, knowledge.CodeUnauthorized, knowledge.CodeForbidden, knowledge.CodeNotFound, knowledge.CodeConflict,
		knowledge.CodeGone, knowledge.CodeTooLarge, knowledge.CodeInvalid, knowledge.CodeRateLimited, knowledge.CodeLimitReached,
		knowledge.CodeProviderFailed, knowledge.CodeNeedsComponent, knowledge.CodeUnavailable, knowledge.CodeInternal, knowledge.CodeEmpty,
		knowledge.CodeUnsupportedFormat, knowledge.CodeEncrypted, knowledge.CodeCorrupt, knowledge.CodeParseLimit,
	} {
		f.IngestWith(func(d *ingestion.Dependencies) {
			d.Index = failingIndex{err: knowledge.Errorf(code, "words for the client")}
		})
		err := act(f, f.Ingestion.RemoveEntries, ingestion.RemoveInput{Workspace: "w", Document: "d"})
		f.FailedWith(err, code, again[code])
		f.IngestWith(func(d *ingestion.Dependencies) {
			d.Index = failingIndex{err: &knowledge.Error{Code: code, Message: "words for the client", Retryable: true}}
		})
		err = act(f, f.Ingestion.RemoveEntries, ingestion.RemoveInput{Workspace: "w", Document: "d"})
		f.FailedWith(err, code, true)
	}
}

// TestEndedContext checks that an attempt whose context ended is not reported as a
// failure of a store.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	late := knowledge.Failure{Code: knowledge.CodeParseLimit, Message: "it took too long", Retryable: true}
	in := ingestion.RemoveInput{Workspace: "w", Document: "d"}
	for name, storeSays := range map[string]error{
		"a wrong document": knowledge.Errorf(knowledge.CodeCorrupt, "it is broken"), "a model": &model.Error{Code: model.CodeTimeout}, "anything": errors.New("x"),
	} {
		f.IngestWith(func(d *ingestion.Dependencies) { d.Index = failingIndex{err: storeSays} })
		ctx, cancel := context.WithTimeout(activitytest.Attempts(t, 1)[0], time.Nanosecond)
		<-ctx.Done()
		if got := step.Describe(f.Ingestion.RemoveEntries(ctx, in), late); got != late {
			t.Errorf("%s, after the attempt's time: %+v", name, got)
		}
		cancel()
		ctx, cancel = context.WithCancel(activitytest.Attempts(t, 1)[0])
		cancel()
		if err := f.Ingestion.RemoveEntries(ctx, in); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: %v", name, err)
		}
	}
}

// TestStoppingWorker checks that an attempt that the stop of its process ended is
// reported as such, so that it does not count as a failure.
func TestStoppingWorker(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.IngestWith(func(d *ingestion.Dependencies) { d.Index = failingIndex{err: errors.New("x")} })
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(activitytest.Quiet())
	env := suite.NewTestActivityEnvironment()
	stop := make(chan struct{})
	close(stop)
	env.SetWorkerStopChannel(stop)
	remove := func(ctx context.Context, in ingestion.RemoveInput) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return f.Ingestion.RemoveEntries(ctx, in)
	}
	env.RegisterActivity(remove)
	_, err := env.ExecuteActivity(remove, ingestion.RemoveInput{Workspace: "w", Document: "d"})
	var application *temporal.ApplicationError
	if !errors.As(err, &application) || application.Type() != step.TypeEnded {
		t.Errorf("the failure is %v", err)
	}
}

// hanging is a parser that blocks until its context ends.
type hanging struct{}

func (hanging) Extract(ctx context.Context, _ extract.Input) (format.Result, error) {
	<-ctx.Done()
	return format.Result{}, context.Cause(ctx)
}

func (hanging) ExtractAll(ctx context.Context, _ []extract.Input, _ func(int, format.Result, error)) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestSlowText parses a small text for longer than a local activity may take, so an
// activity has to do it.
func TestSlowText(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.IngestWith(func(d *ingestion.Dependencies) { d.SmallTexts = hanging{} })
	in := f.Upload("a.txt", "text")
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(activitytest.Quiet())
	env := suite.NewTestActivityEnvironment()
	start := time.Now()
	value, err := env.ExecuteLocalActivity(f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
	if err != nil {
		t.Fatalf("after %v: %v", time.Since(start), err)
	}
	var prepared ingestion.PrepareResult
	f.Must(value.Get(&prepared))
	v, err := f.Store.Version(f.Ctx, in.VersionRef)
	if f.Must(err); prepared.Chunked || !prepared.Small || v.Stage != knowledge.StageExtract || !v.Begun {
		t.Errorf("prepared %+v, stage %s, begun %t", prepared, v.Stage, v.Begun)
	}
}
