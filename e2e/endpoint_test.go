package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

func TestModelEndpoint(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 30})
	s := start(t, at(m.URL(), "CAIRN_MODELS__CHAT__IDLE_TIMEOUT=1s", "CAIRN_MODELS__EMBEDDING__IDLE_TIMEOUT=1s")...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	const question = "What is on the northern pier?"

	usual := read(t, s.follow(t, s.query(t, question).run, 0)).answer.Text
	if !strings.Contains(usual, "word30") {
		t.Fatalf("the usual answer is %q", usual)
	}
	t.Run("is asked for the model that the user prefers", func(t *testing.T) {
		if status := s.call(t, "PUT", "/preferences", map[string]any{"external_user_id": "ann", "rag": map[string]any{"model": "preferred"}}, nil); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		for user, want := range map[string]string{"ann": "preferred", "bob": modeltest.ModelName} {
			if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": question, "external_user_id": user}, nil); status != http.StatusOK {
				t.Fatalf("status %d", status)
			}
			requests := m.Requests()
			if got := requests[len(requests)-1].Model; got != want {
				t.Errorf("%s is asked for %s, want %s", got, user, want)
			}
		}
	})

	for _, test := range []struct {
		name    string
		replies []modeltest.Reply
	}{
		{"limits requests for a second", []modeltest.Reply{modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "1")}},
		{"fails twice", []modeltest.Reply{modeltest.Fail(http.StatusInternalServerError), modeltest.Fail(http.StatusBadGateway)}},
		{"sends garbage", []modeltest.Reply{modeltest.Garbage()}},
		{"sends an empty stream", []modeltest.Reply{modeltest.Empty()}},
		{"stops in mid stream", []modeltest.Reply{{Cut: true, Tokens: 20, TokenDelay: 20 * time.Millisecond}}},
		{"hangs once", []modeltest.Reply{modeltest.Hang()}},
	} {
		t.Run("that "+test.name+" and then is fine costs time and no words", func(t *testing.T) {
			asked, begun := m.Totals().Chats.Asked, time.Now()
			m.ScriptChat(test.replies...)
			list := s.follow(t, s.query(t, question).run, 0)
			tr := read(t, list)
			wantSame(t, "the text", tr.text, tr.answer.Text)
			wantSame(t, "the answer", tr.answer.Text, usual)
			if tr.resets != 0 {
				t.Errorf("%d resets of an answer that goes on the same", tr.resets)
			}
			if took := time.Since(begun); test.replies[0].Header.Get("Retry-After") != "" && took < time.Second {
				t.Errorf("the endpoint was asked again after %v, before it wanted", took)
			}
			if n := m.Totals().Chats.Asked - asked; n != len(test.replies)+1 {
				t.Errorf("the endpoint was asked %d times, want %d", n, len(test.replies)+1)
			}
			failed := modelsFailed(t, list)
			if len(failed) != len(test.replies) || failed[0].Model != modeltest.ModelName || failed[0].Code == "" || failed[0].Next != "" {
				t.Errorf("the events show %+v of %d calls that were repeated", failed, len(test.replies))
			}
		})
	}

	t.Run("that stops in mid stream and then answers differently resets the words", func(t *testing.T) {
		m.ScriptChat(modeltest.Reply{Cut: true, Tokens: 20, TokenDelay: 20 * time.Millisecond}, modeltest.Text("something else"))
		tr := read(t, s.follow(t, s.query(t, question).run, 0))
		if tr.text != "something else" || tr.answer.Text != "something else" || tr.resets != 1 {
			t.Errorf("text %q, answer %q, %d resets", tr.text, tr.answer.Text, tr.resets)
		}
	})

	t.Run("that says nothing at all ends the question after some tries", func(t *testing.T) {
		asked := m.Totals().Chats.Asked
		m.ScriptChat(slices.Repeat([]modeltest.Reply{modeltest.Hang()}, 6)...)
		s.wantEnd(t, s.query(t, question).run, "failed", knowledge.CodeProviderFailed)
		if n := m.Totals().Chats.Asked - asked; n != 6 {
			t.Errorf("the endpoint was asked %d times, want 6", n)
		}
	})

	t.Run("that refuses the request ends the question at once, without its words", func(t *testing.T) {
		asked := m.Totals().Chats.Asked
		m.ScriptChat(modeltest.Reply{Status: http.StatusBadRequest, Body: `{"error":{"message":"the secret reason"}}`})
		list := s.wantEnd(t, s.query(t, question).run, "failed", knowledge.CodeProviderFailed)
		if strings.Contains(string(list[len(list)-1].Data), "secret") {
			t.Errorf("the endpoint's words reach the client: %s", list[len(list)-1].Data)
		}
		if n := m.Totals().Chats.Asked - asked; n != 1 {
			t.Errorf("the endpoint was asked %d times, want once", n)
		}
	})

	t.Run("that limits embeddings does not fail the document", func(t *testing.T) { wantDocumentOverFailures(t, m, s) })
}

func wantDocumentOverFailures(t *testing.T, m *modeltest.Server, s *server) {
	m.ScriptEmbeddings(modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "1"), modeltest.Fail(http.StatusTooManyRequests),
		modeltest.Fail(http.StatusInternalServerError), modeltest.Garbage(), modeltest.Hang())
	a := s.upload(t, "foghorn", "The southern pier has a foghorn.")
	last, err := s.Wait(t.Context(), a.RunID, nil)
	if err != nil {
		t.Fatal(err)
	}
	var end client.Ended
	if err := last.Decode(&end); err != nil || end.Status != "completed" {
		t.Errorf("the ingest ended with %s %s", last.Name, last.Data)
	}
	if d := s.document(t, a.ID); d.Status != knowledge.StatusPublished {
		t.Errorf("the document is %s, %+v", d.Status, d.Error)
	}
}

// TestModelFailover has two endpoints for chat, of which the first breaks every answer off
// in the middle.
func TestModelFailover(t *testing.T) {
	t.Parallel()
	answer := strings.TrimSpace(strings.Repeat("another word ", 90))
	broken := standIn(t, modeltest.Options{Reply: func(protocol.ChatRequest) modeltest.Reply {
		return modeltest.Reply{Cut: true, Tokens: 20, TokenDelay: 10 * time.Millisecond}
	}})
	second := standIn(t, modeltest.Options{Reply: func(protocol.ChatRequest) modeltest.Reply {
		return modeltest.Reply{Text: answer, TokenDelay: 15 * time.Millisecond}
	}})
	s := start(t, at(broken.URL(), "CAIRN_MODELS__CHAT__FAILOVER__0__BASE_URL="+second.URL(), "CAIRN_MODELS__CHAT__FAILOVER__0__MODEL=second")...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")

	for _, test := range []struct {
		name     string
		attempts int // of the model call
	}{
		{"the second endpoint answers when the first breaks off", 1},
		{"a killed server asks both once more and goes on", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := [2]int{broken.Totals().Chats.Asked, second.Totals().Chats.Asked}
			a := s.query(t, "What is on the northern pier?")
			r := &reader{run: a.run, body: a}
			if test.attempts > 1 {
				r.until(t, words(t, 21, answerText)) // more than the first endpoint says
				s.kill()
				s.restart()
				r.reconnect(t, s, never)
			} else {
				r.until(t, never)
			}
			tr := read(t, r.list)
			wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
			wantSame(t, "the answer", tr.answer.Text, answer)
			wantSame(t, "what a later reader puts together", read(t, s.follow(t, a.run, 0)).text, answer)
			if tr.resets < 1 {
				t.Error("the words of the first endpoint were not reset")
			}
			failed := modelsFailed(t, r.list)
			for _, f := range failed {
				if want := (client.ModelFailed{Model: modeltest.ModelName, Code: model.CodeEnded, Next: "second"}); f != want {
					t.Errorf("modelFailed %+v, want %+v", f, want)
				}
			}
			asked := [2]int{broken.Totals().Chats.Asked - before[0], second.Totals().Chats.Asked - before[1]}
			if asked != [2]int{test.attempts, test.attempts} || len(failed) != test.attempts {
				t.Errorf("the endpoints were asked %v times and %d events show it, want %d", asked, len(failed), test.attempts)
			}
		})
	}
}

// modelsFailed returns the models that failed in the events of a run.
func modelsFailed(t *testing.T, list []event) (failed []client.ModelFailed) {
	t.Helper()
	for _, e := range list {
		if e.Name == client.EventModelFailed {
			var f client.ModelFailed
			e.decode(t, &f)
			failed = append(failed, f)
		}
	}
	return failed
}
