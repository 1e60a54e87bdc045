package step_test

import (
	"context"
	"errors"
	"testing"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	late := knowledge.Failure{Code: knowledge.CodeParseLimit, Message: "the document took too long to parse", Retryable: true}
	defect := knowledge.Failure{Code: knowledge.CodeInternal, Message: "something went wrong on our side", Retryable: true}
	for name, tc := range map[string]struct {
		err  error
		want knowledge.Failure
	}{
		"a refusal keeps its code and words": {
			temporal.NewNonRetryableApplicationError("it is empty", "empty", nil),
			knowledge.Failure{Code: knowledge.CodeEmpty, Message: "it is empty"},
		},
		"a refusal's details decide": {
			temporal.NewApplicationErrorWithOptions("it failed", "provider_failed", temporal.ApplicationErrorOptions{
				NonRetryable: true, Details: []any{step.ErrorDetails{Code: knowledge.CodeProviderFailed, Retryable: true}},
			}),
			knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "it failed", Retryable: true},
		},
		"a time-out is what it means in its step": {temporal.NewTimeoutError(enums.TIMEOUT_TYPE_START_TO_CLOSE, nil), late},
		"an attempt that saw its time end too":    {temporal.NewApplicationError("the attempt took too long", "late"), late},
		"a panic does not show its words":         {temporal.NewApplicationError("index out of range in secret.go", "PanicError"), defect},
		"an error of the SDK does not either":     {temporal.NewApplicationError("context deadline exceeded", "deadlineExceededError"), defect},
		"an error of any kind does not either":    {errors.New("dial /secret/path"), defect},
		"a cancel is one": {
			temporal.NewCanceledError(), knowledge.Failure{Code: knowledge.CodeCanceled, Message: "canceled on request", Retryable: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := step.Describe(tc.err, late); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
	if step.IsSlow(temporal.NewCanceledError()) || step.IsSlow(context.DeadlineExceeded) || step.IsSlow(nil) {
		t.Error("IsSlow holds for other errors")
	}
}

func TestDescribeStepNamesTheEndpoint(t *testing.T) {
	t.Parallel()
	refused := temporal.NewApplicationErrorWithOptions("the model's endpoint refused our credentials", "provider_failed", temporal.ApplicationErrorOptions{
		Details: []any{step.ErrorDetails{Code: knowledge.CodeProviderFailed, Provider: "models.example.com"}},
	})
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"an error of a model names its endpoint": {refused, "the model's endpoint models.example.com refused our credentials"},
		"other errors stay as they are":          {temporal.NewNonRetryableApplicationError("it is empty", "empty", nil), "it is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := step.DescribeStep(tc.err, knowledge.Failure{}).Message; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
