package model_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
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

// TestCauseOfALimit has the causes of a request that is limited: an account without credit,
// for which a wait changes nothing, and the pace that an earlier refusal left, for which
// nobody has to do anything.
func TestCauseOfALimit(t *testing.T) {
	t.Parallel()
	var answers atomic.Pointer[http.HandlerFunc]
	answer := func(f http.HandlerFunc) { answers.Store(&f) }
	c := raw(t, func(w http.ResponseWriter, r *http.Request) { (*answers.Load())(w, r) }, dimensions(2))
	embed := func() *model.Error {
		_, _, err := c.Embed(t.Context(), []string{"one"})
		e, _ := errors.AsType[*model.Error](err)
		return e
	}
	held := func() *model.Error {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
			if e, ok := errors.AsType[*model.Error](c.TakeTurn(t.Context(), 1, model.Turn{})); ok && e.Held {
				return e
			}
		}
		t.Fatal("no request is held back")
		return nil
	}
	answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"error":{"message":"no","type":"insufficient_quota","code":"insufficient_quota"}}`))
	})
	const spent = "the quota of the account is used up; check its plan and its billing"
	for name, e := range map[string]*model.Error{"the refused one": embed(), "one that is held back": held()} {
		if got := e.Public(); got.Code != knowledge.CodeRateLimited || !got.Retryable || !strings.Contains(got.Message, spent) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	answer(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"index":0,"embedding":[1,2]}]}`))
	})
	if e := embed(); e != nil {
		t.Fatal(e)
	}
	got := ""
	for end := time.Now().Add(20 * time.Second); !strings.Contains(got, "is limiting requests, so they are sent at a slower pace; wait"); {
		if got = held().Public().Message; time.Now().After(end) { // the pause of the refusal has passed
			t.Fatalf("after an answer: %s", got)
		}
	}
}
