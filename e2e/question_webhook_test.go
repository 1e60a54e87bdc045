package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// asker is a program of the owner of a project: it is asked about each question, and takes
// the answers by callback.
type asker struct {
	t   *testing.T
	url string

	mu        sync.Mutex
	asked     []map[string]any // envelopes of type queries
	callbacks []map[string]any
	trace     string // header of the last callback
	refuse    int    // callbacks that it refuses before it takes one
}

func newAsker(t *testing.T) *asker {
	t.Helper()
	a := &asker{t: t}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /queries", a.answer)
	mux.HandleFunc("POST /callback", a.callback)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// read returns the body of a request, whose signature it checks.
func (a *asker) read(r *http.Request) map[string]any {
	body, err := io.ReadAll(r.Body)
	var verifier *standardwebhooks.Webhook
	if err == nil {
		verifier, err = standardwebhooks.NewWebhook(hookSecret)
	}
	if err == nil {
		err = verifier.Verify(body, r.Header)
	}
	var v map[string]any
	if err == nil {
		err = json.Unmarshal(body, &v)
	}
	if err != nil {
		a.t.Errorf("%s: %v", r.URL.Path, err)
	}
	return v
}

func (a *asker) callback(w http.ResponseWriter, r *http.Request) {
	body := a.read(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refuse > 0 {
		a.refuse--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	a.callbacks, a.trace = append(a.callbacks, body), r.Header.Get("X-Trace")
}

// answer answers by what the question asks for.
func (a *asker) answer(w http.ResponseWriter, r *http.Request) {
	body := a.read(r)
	a.mu.Lock()
	a.asked = append(a.asked, body)
	a.mu.Unlock()
	input := body["payload"].(map[string]any)["input"].(string)
	switch {
	case strings.Contains(input, "stream"):
		w.Header().Set("Content-Type", "text/event-stream")
		for _, word := range []string{"One ", "by ", "one."} {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", word)
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
		return
	case strings.Contains(input, "broken"):
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.Contains(input, "direct"):
		fmt.Fprint(w, `{"answer":"Directly.","blocks":[{"slug":"RichText","content":"b"}],"searchResults":[{"title":"T","url":"https://example.com/t","snippet":"s"}]}`)
	case strings.Contains(input, "chunks"):
		fmt.Fprint(w, `{"chunks":[{"value":{"content":"The secret lighthouse keeper is called Ondine.","knowledgeId":"k"}}]}`)
	case strings.Contains(input, "parameters"):
		fmt.Fprint(w, `{"aiParameters":{"temperature":0.1,"maxTokens":3}}`)
	case strings.Contains(input, "filters"):
		fmt.Fprint(w, `{"filters":[{"field":"tags","type":"in","value":["south"]}]}`)
	case strings.Contains(input, "${date}"):
		fmt.Fprint(w, `{"prompt":[{"role":"system","content":"<source_1 document=\"calendar\">\nThe calendar shows ${date} in big letters.\n</source_1>"},{"role":"user","content":"What does the calendar show?"}]}`)
	case strings.Contains(input, "${context}"):
		fmt.Fprint(w, `{"prompt":[{"role":"system","content":"${context}"},{"role":"user","content":"Which pier has a lighthouse with a keeper?"}]}`)
	default:
		fmt.Fprint(w, `{}`)
	}
}

// TestQuestionWebhooks asks questions about which the project's own program is asked, and
// has answers sent to it.
func TestQuestionWebhooks(t *testing.T) {
	t.Parallel()
	s, a := start(t, "CAIRN_EGRESS__ALLOW=127.0.0.0/8"), newAsker(t)
	s.publish(t, "pier", "The northern pier has a lighthouse with a keeper.")
	change := map[string]any{"callbackSecret": hookSecret, "webhooks": []map[string]any{{"url": a.url + "/queries", "types": []string{"queries"}, "secret": hookSecret}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, nil); status != http.StatusOK {
		t.Fatalf("subscribe: status %d", status)
	}
	type answered struct {
		RunID        string `json:"runId"`
		Answer       string `json:"answer"`
		Model        string `json:"model"`
		FinishReason string `json:"finishReason"`
		Blocks       []any  `json:"blocks"`
		Sources      []struct {
			DocumentName, URL, Text string
		} `json:"sources"`
	}
	ask := func(t *testing.T, text string) (got answered) {
		t.Helper()
		body := map[string]any{"text": text, "projectId": "default", "metadata": map[string]any{"k": 1}, "interface": "chat"}
		if status := s.call(t, "POST", webhooks+"/query", body, &got); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		return got
	}

	t.Run("an answer of the webhook takes the place of the model's", func(t *testing.T) {
		got := ask(t, "direct")
		if got.Answer != "Directly." || len(got.Blocks) != 1 || len(got.Sources) != 1 || got.Sources[0].URL != "https://example.com/t" {
			t.Errorf("answer %+v", got)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		payload := a.asked[len(a.asked)-1]["payload"].(map[string]any)
		if payload["interface"] != "chat" || payload["metadata"].(map[string]any)["k"] != 1.0 || payload["history"] == nil {
			t.Errorf("payload %v", payload)
		}
	})
	t.Run("a streamed answer is forwarded", func(t *testing.T) {
		got := ask(t, "stream")
		if got.Answer != "One by one." || got.Model != "webhook" {
			t.Errorf("answer %+v", got)
		}
		if tr := read(t, s.follow(t, got.RunID, 0)); tr.text != got.Answer {
			t.Errorf("readers have %q", tr.text)
		}
		s.wantReplay(t, got.RunID)
	})
	t.Run("its chunks are what the model reads", func(t *testing.T) {
		got := ask(t, "Who is the lighthouse keeper of the chunks?")
		if !strings.Contains(got.Answer, "Ondine") || !strings.Contains(got.Answer, "<citation") || len(got.Sources) != 1 || got.Sources[0].Text == "" {
			t.Errorf("answer %+v", got)
		}
	})
	t.Run("its parameters are given to the model", func(t *testing.T) {
		if got := ask(t, "What does the northern pier have? Mind the parameters."); got.FinishReason != "length" {
			t.Errorf("answer %+v", got)
		}
	})
	t.Run("its filters are given to the search", func(t *testing.T) {
		s.publishWith(t, "south", "The southern pier has a crane.", map[string]any{"tags": []string{"south"}})
		if got := ask(t, "What does the northern pier have? Mind the filters."); len(got.Sources) != 1 || got.Sources[0].DocumentName != "south" {
			t.Errorf("answer %+v", got)
		}
	})
	t.Run("its prompt is filled in with the passages and the date", func(t *testing.T) {
		before := time.Now()
		got := ask(t, "Where is the ${date}?")
		shows := func(day time.Time) bool {
			return strings.Contains(got.Answer, "The calendar shows "+day.UTC().Format("Monday, 2 January 2006")+" in")
		}
		if !shows(before) && !shows(time.Now()) || len(got.Sources) != 0 {
			t.Errorf("answer %+v", got)
		}
		if got = ask(t, "Where in the ${context} is the northern pier?"); !strings.Contains(got.Answer, "lighthouse") || !strings.Contains(got.Answer, "<citation") {
			t.Errorf("answer %+v", got)
		}
	})
	t.Run("a failure is shown, and the question goes on", func(t *testing.T) {
		got := ask(t, "What does the northern pier have, or is it broken?")
		if !strings.Contains(got.Answer, "lighthouse") {
			t.Errorf("answer %+v", got)
		}
		failed := false
		for _, e := range s.follow(t, got.RunID, 0) {
			failed = failed || e.Name == "webhookCall" && strings.Contains(string(e.Data), `"failed"`) && strings.Contains(string(e.Data), "500")
		}
		if !failed {
			t.Error("no event says that the webhook failed")
		}
	})
	t.Run("a filter of sources and a reflection hold in the answer, its events and its conversation", func(t *testing.T) { filtersSourcesAndReflects(t, s) })
	t.Run("a callback gets the answer", func(t *testing.T) { callsBack(t, a, s) })
}

func filtersSourcesAndReflects(t *testing.T, s *server) {
	type shown struct {
		Answer, ConversationID, RunID string
		Sources                       []struct {
			Rank           int
			UsedInResponse bool
		}
	}
	var got, completed shown
	ai := map[string]any{"reflection": true, "postQuery": map[string]any{"sourceFilter": true}}
	body := map[string]any{"text": "Briefly: which pier has a crane?", "projectId": "default", "projectConfigOverride": map[string]any{"ai": ai}}
	if status := s.call(t, "POST", webhooks+"/query", body, &got); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if !strings.HasPrefix(got.Answer, "**Reflection:**\n*") || strings.Count(got.Answer, "Reflection") != 1 || len(got.Sources) != 1 || !got.Sources[0].UsedInResponse {
		t.Errorf("answer %+v", got)
	}
	list := s.follow(t, got.RunID, 0)
	list[len(list)-1].decode(t, &completed)
	if diff := cmp.Diff(got, completed); diff != "" || read(t, list).text != got.Answer {
		t.Errorf("readers have %q; %s", read(t, list).text, diff)
	}
	var talk struct{ Messages []shown }
	if status := s.call(t, "GET", "/workspaces/default/conversations/"+got.ConversationID, nil, &talk); status != http.StatusOK || len(talk.Messages) != 2 {
		t.Fatalf("status %d, %d messages", status, len(talk.Messages))
	}
	if diff := cmp.Diff(got.Sources, talk.Messages[1].Sources); diff != "" {
		t.Error(diff)
	}
}

func callsBack(t *testing.T, a *asker, s *server) {
	a.mu.Lock()
	a.refuse = 1
	a.mu.Unlock()
	body := map[string]any{"text": "What does the northern pier have?", "projectId": "default", "callback": map[string]any{"url": a.url + "/callback", "headers": map[string]string{"X-Trace": "7"}}}
	var accepted struct{ RunID, MessageID string }
	if status := s.call(t, "POST", webhooks+"/query", body, &accepted); status != http.StatusAccepted || accepted.MessageID == "" {
		t.Fatalf("status %d: %+v", status, accepted)
	}
	await(t, time.Minute, "the callback comes", func(context.Context) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.callbacks) == 0 {
			return fmt.Errorf("none yet, %d refusals to come", a.refuse)
		}
		return nil
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	got := a.callbacks[0]
	if answer, _ := got["answer"].(string); got["runId"] != accepted.RunID || got["messageId"] != accepted.MessageID || !strings.Contains(answer, "lighthouse") || a.trace != "7" {
		t.Errorf("callback %v, trace %q", got, a.trace)
	}
}
