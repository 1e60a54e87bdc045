package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// followAnswer is the script of a page that asks a question and follows its answer
// as docs/events.md describes: the request starts the run and returns the address
// of its events, and the EventSource reconnects by itself.
const followAnswer = `async (path, key, text) => {
	const asked = await fetch(path, {
		method: "POST", body: JSON.stringify({text, projectId: "default", sse: true}),
		headers: {"Content-Type": "application/json", "Authorization": "Bearer " + key},
	});
	await asked.body.cancel();
	const seen = window.seen = {run: asked.headers.get("Cairn-Run-Id"), ids: [], names: [], text: "", resets: 0, cut: [], answer: null, failure: ""};
	const source = window.source = new EventSource(asked.headers.get("Cairn-Events-Url") + "&compact=true");
	const take = (e, name, data) => {
		seen.ids.push(Number(e.lastEventId));
		seen.names.push(name);
		if (name == "apiMessageChunk") seen.text += data.chunk.data;
		if (name == "messageReset") { seen.text = ""; seen.resets++; }
		if (name == "completedMessage") seen.answer = data;
	};
	for (const name of ["runStarted", "apiMessageChunk", "messageReset", "toolCall", "sendSourcesMessage", "completedMessage"])
		source.addEventListener(name, e => take(e, name, JSON.parse(e.data)));
	source.addEventListener("error", e => { if (e.data) seen.failure = e.data; });
	let pieces = [];
	source.addEventListener("_delta_sse", e => {
		const piece = JSON.parse(e.data);
		pieces[piece.index] = piece.content;
		if (piece.index + 1 < piece.total) return;
		take(e, piece.event, JSON.parse(pieces.slice(0, piece.total).join("")));
		seen.cut.push(piece.event);
		pieces = [];
	});
}`

// pageView is the state of the page of followAnswer.
type pageView struct {
	Run     string         `json:"run"`
	IDs     []int64        `json:"ids"`
	Names   []string       `json:"names"`
	Text    string         `json:"text"`
	Resets  int            `json:"resets"`
	Cut     []string       `json:"cut"` // names of events that came in pieces
	Answer  *client.Answer `json:"answer"`
	Failure string         `json:"failure"`
	State   int            `json:"state"` // the EventSource's readyState
}

func look(t *testing.T, page context.Context) pageView {
	t.Helper()
	var v pageView
	if err := chromedp.Run(page, chromedp.Evaluate(`({...seen, state: source.readyState})`, &v)); err != nil {
		t.Fatal(err)
	}
	return v
}

// awaitView reads the state of the page until enough returns true.
func awaitView(t *testing.T, page context.Context, what string, enough func(pageView) bool) pageView {
	t.Helper()
	var v pageView
	await(t, 30*time.Second, "the page has "+what, func(context.Context) error {
		if v = look(t, page); v.Failure != "" {
			t.Fatalf("the run ended with %s", v.Failure)
		}
		if !enough(v) {
			return fmt.Errorf("it has events up to %d, %d bytes of text, %d resets, state %d", len(v.IDs), len(v.Text), v.Resets, v.State)
		}
		return nil
	})
	return v
}

// traffic records the requests of a page.
type traffic struct {
	mu       sync.Mutex
	urls     []string
	statuses []int // of event streams, in order
}

// trafficOf records the requests of a page from now on.
func trafficOf(t *testing.T, page context.Context) *traffic {
	t.Helper()
	seen := &traffic{}
	chromedp.ListenTarget(page, func(e any) {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		switch e := e.(type) {
		case *network.EventRequestWillBeSent:
			seen.urls = append(seen.urls, e.Request.URL)
		case *network.EventResponseReceived:
			if e.Type == network.ResourceTypeEventSource {
				seen.statuses = append(seen.statuses, int(e.Response.Status))
			}
		}
	})
	if err := chromedp.Run(page, network.Enable()); err != nil {
		t.Fatal(err)
	}
	return seen
}

// streams returns the statuses of the event streams that the page has opened.
func (tr *traffic) streams() []int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.statuses)
}

// wantOnly checks that the page made requests, all of them to one origin.
func (tr *traffic) wantOnly(t *testing.T, origin string) {
	t.Helper()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if len(tr.urls) == 0 {
		t.Error("the page asked for nothing")
	}
	for _, url := range tr.urls {
		if !strings.HasPrefix(url, origin+"/") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			t.Errorf("the page asked for %s", url)
		}
	}
}

func TestBrowserFollowsAnAnswerOverKills(t *testing.T) {
	t.Parallel()
	page := browser(t)
	slow := modeltest.Reply{Text: strings.TrimSpace(strings.Repeat("word ", 800)), TokenDelay: 15 * time.Millisecond}
	other := strings.TrimSpace(strings.Repeat("another word ", 2000)) // its completedMessage comes in pieces
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	m.ScriptChat(slow, slow, modeltest.Text(other))

	// The policy of /docs forbids scripts to connect; this page has no policy.
	open(t, page, s.ends.API+"/healthz")
	asked := trafficOf(t, page)
	arguments, err := json.Marshal([]string{webhooks + "/query?compact=true", s.key, "What is on the northern pier?"})
	if err != nil {
		t.Fatal(err)
	}
	awaited := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	if err := chromedp.Run(page, chromedp.Evaluate("("+followAnswer+")(..."+string(arguments)+")", nil, awaited)); err != nil {
		t.Fatal(err)
	}

	first := awaitView(t, page, "some words", func(v pageView) bool { return strings.Count(v.Text, "word") > 30 })
	s.kill()
	s.restart()
	second := awaitView(t, page, "more words", func(v pageView) bool { return len(v.Text) > len(first.Text)+200 })
	if second.Resets > 0 || !strings.HasPrefix(second.Text, first.Text) || second.Answer != nil {
		t.Errorf("after a kill the same words did not go on: %d resets, %d and %d bytes", second.Resets, len(first.Text), len(second.Text))
	}
	s.kill()
	s.restart()
	closed := awaitView(t, page, "closed its stream", func(v pageView) bool { return v.State == 2 })
	if closed.Answer == nil {
		t.Fatalf("the browser gave up after event %d: streams answered %v", len(closed.IDs), asked.streams())
	}
	wantSame(t, "the text in the page", closed.Text, other)
	stored := read(t, s.follow(t, closed.Run, 0))
	wantSame(t, "the stored answer", stored.answer.Text, closed.Text)
	wantSame(t, "the answer in the page", closed.Answer.Text, stored.answer.Text)
	if closed.Resets != 1 {
		t.Errorf("%d resets, want 1", closed.Resets)
	}
	if !slices.Contains(closed.Cut, client.EventCompleted) {
		t.Errorf("in pieces came %v, not %s", closed.Cut, client.EventCompleted)
	}
	for i, id := range closed.IDs {
		if id != int64(i+1) {
			t.Fatalf("event %d of the page (%s) has the id %d", i+1, closed.Names[i], id)
		}
	}

	t.Run("and leaves it at that when the run has ended", func(t *testing.T) {
		statuses := asked.streams()
		for i, status := range statuses {
			want := http.StatusOK
			if i == len(statuses)-1 {
				want = http.StatusNoContent
			}
			if status != want {
				t.Errorf("the streams that the page opened answered %v", statuses)
			}
		}
		if len(statuses) < 4 { // the first, two after the kills, and the 204 that ends it
			t.Errorf("the page opened %d streams", len(statuses))
		}
		// Longer than the 2 s after which it would reconnect.
		if err := chromedp.Run(page, chromedp.Evaluate(`new Promise(done => setTimeout(done, 2500))`, nil, awaited)); err != nil {
			t.Fatal(err)
		}
		if v := look(t, page); v.State != 2 || len(v.IDs) != len(closed.IDs) || len(asked.streams()) != len(statuses) {
			t.Errorf("the stream came to life again: state %d, %d events, streams %v", v.State, len(v.IDs), asked.streams())
		}
	})
	asked.wantOnly(t, s.ends.API)
}
