package modeltest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

func start(t *testing.T, options modeltest.Options) (*modeltest.Server, *model.Client) {
	t.Helper()
	s := modeltest.New(options)
	t.Cleanup(s.Close)
	return s, model.New(s.Endpoint(), nil)
}

func TestContract(t *testing.T) {
	t.Parallel()
	modeltest.RunContract(t, func(t *testing.T) modeltest.Clients {
		_, c := start(t, modeltest.Options{})
		return modeltest.Clients{Chat: c, Embedding: c}
	})
}

func waitFor(t *testing.T, s *modeltest.Server, reached func(modeltest.Totals) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Wait(ctx, reached); err != nil {
		t.Fatalf("waiting with %+v: %v", s.Totals(), err)
	}
}

func question(words string) model.ChatRequest {
	return model.ChatRequest{Messages: []model.Message{{Role: model.RoleUser, Content: words}}}
}

func TestScript(t *testing.T) {
	t.Parallel()

	t.Run("replies are used in order, then the usual answer", func(t *testing.T) {
		t.Parallel()
		s, c := start(t, modeltest.Options{Tokens: 2})
		call := model.ToolCall{ID: "call_7", Name: "documents_rag", Arguments: `{"query":"a long enough query to be cut in fragments"}`}
		s.ScriptChat(
			modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "7"), modeltest.Garbage(), modeltest.Empty(),
			modeltest.CutAfter(3), modeltest.Text("as it was said"), modeltest.Call(call), modeltest.Answer(1))
		var got []string
		for range 8 {
			text, done, err := modeltest.Collect(t.Context(), c, question("x"))
			if e, ok := errors.AsType[*model.Error](err); ok {
				text += "!" + e.Code
			}
			for _, c := range done.ToolCalls {
				text += "?" + c.Name + c.Arguments
			}
			got = append(got, text)
		}
		want := []string{
			"!rate_limited", "!bad_response", "!bad_response", "word1 word2 word3!ended", "as it was said",
			"?documents_rag" + call.Arguments, "word1 <source_1>", "word1 word2 <source_1>",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a hanging reply ends with the client's timeout", func(t *testing.T) {
		t.Parallel()
		s, _ := start(t, modeltest.Options{})
		endpoint := s.Endpoint()
		endpoint.IdleTimeout = 50 * time.Millisecond
		c := model.New(endpoint, nil)
		s.ScriptEmbeddings(modeltest.Hang())
		_, _, err := c.Embed(t.Context(), []string{"x"})
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeTimeout || !e.Retryable {
			t.Errorf("got %v", err)
		}
	})
}

func TestCounts(t *testing.T) {
	t.Parallel()

	t.Run("a batch is counted by its texts, and as answered only if it was", func(t *testing.T) {
		t.Parallel()
		s, c := start(t, modeltest.Options{})
		s.ScriptEmbeddings(modeltest.Fail(500), modeltest.Reply{Cut: true})
		for range 3 {
			_, _, _ = c.Embed(t.Context(), []string{"one", "two"})
		}
		if _, _, err := c.Embed(t.Context(), []string{"onetwo"}); err != nil {
			t.Fatal(err)
		}
		waitFor(t, s, func(now modeltest.Totals) bool { return now.Embeddings.Answered == 2 })
		want := map[string]modeltest.Count{
			modeltest.BatchKey([]string{"one", "two"}): {Asked: 3, Answered: 1},
			modeltest.BatchKey([]string{"onetwo"}):     {Asked: 1, Answered: 1},
		}
		if diff := cmp.Diff(want, s.Embeddings()); diff != "" {
			t.Error(diff)
		}
		if total := s.Totals(); total.Texts != 7 || total.Embeddings != (modeltest.Count{Asked: 4, Answered: 2}) {
			t.Errorf("totals %+v", total)
		}
	})

	t.Run("equal chat requests have one key, and an abandoned one does not count as answered", func(t *testing.T) {
		t.Parallel()
		s, c := start(t, modeltest.Options{Tokens: 1000, TokenDelay: 5 * time.Millisecond})
		for range 2 {
			for _, err := range c.Chat(t.Context(), question("leave")) {
				if err != nil {
					t.Error(err)
				}
				waitFor(t, s, func(now modeltest.Totals) bool { return now.Tokens > 1 })
				break
			}
		}
		s.ScriptChat(modeltest.Reply{Text: "done"})
		if _, _, err := modeltest.Collect(t.Context(), c, question("stay")); err != nil {
			t.Fatal(err)
		}
		waitFor(t, s, func(now modeltest.Totals) bool { return now.Chats.Answered == 1 })
		var got []modeltest.Count
		for _, count := range s.Chats() {
			got = append(got, count)
		}
		less := func(a, b modeltest.Count) bool { return a.Asked < b.Asked }
		want := []modeltest.Count{{Asked: 1, Answered: 1}, {Asked: 2}}
		if len(got) == 2 && !less(got[0], got[1]) {
			got[0], got[1] = got[1], got[0]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if n := len(s.Requests()); n != 3 {
			t.Errorf("%d requests kept", n)
		}
	})
}
