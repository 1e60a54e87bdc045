package model_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

// TestOutageAfterALimit has an endpoint that limits requests and then fails in other ways.
// Callers that are held back by the limit are told of the later failure.
func TestOutageAfterALimit(t *testing.T) {
	t.Parallel()
	const body = `{"data":[{"index":0,"embedding":[1,2]}]}`
	var status atomic.Int32
	c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
		if code := int(status.Load()); code != http.StatusOK {
			w.WriteHeader(code)
			return
		}
		_, _ = w.Write([]byte(body))
	}, dimensions(2))
	fail := func(code int) *model.Error {
		t.Helper()
		status.Store(int32(code))
		_, _, err := c.Embed(t.Context(), []string{"one"})
		e, ok := errors.AsType[*model.Error](err)
		if !ok {
			t.Fatalf("status %d: %v", code, err)
		}
		return e
	}
	held := func() string {
		t.Helper()
		e, ok := errors.AsType[*model.Error](c.TakeTurn(t.Context(), 1, model.Turn{}))
		if !ok || !e.Held || !e.Retryable {
			t.Fatalf("%+v is not held", e)
		}
		return e.Public().Message
	}
	if fail(http.StatusTooManyRequests).Repeated {
		t.Error("the first failure repeats another one")
	}
	if got := held(); !strings.Contains(got, "is limiting requests") {
		t.Errorf("after a limit: %s", got)
	}
	if fail(http.StatusBadGateway).Repeated || !fail(http.StatusBadGateway).Repeated {
		t.Error("only the second failure with one status is a repetition")
	}
	if got := held(); !strings.Contains(got, "is overloaded or failing (status 502)") {
		t.Errorf("after a failure: %s", got)
	}
	status.Store(http.StatusOK)
	if _, _, err := c.Embed(t.Context(), []string{"one"}); err != nil {
		t.Fatal(err)
	}
	if fail(http.StatusBadGateway).Repeated {
		t.Error("a failure after an answer is a repetition")
	}
}
