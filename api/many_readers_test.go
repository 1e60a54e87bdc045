package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// paced is an answering whose run lasts until the test ends it.
type paced struct {
	*answering
	started chan record.AnswerInput
	queries int // guarded by mu
}

func (p *paced) Answer(_ context.Context, _ knowledge.RunKind, in record.AnswerInput) error {
	first := record.QueryStarted(in)
	p.mu.Lock()
	p.logs[in.Run] = []stream.Item{{Topic: first.Topic, Data: first.Data}}
	p.mu.Unlock()
	p.started <- in
	return nil
}

func (p *paced) Stored(context.Context, stream.RunRef) ([]stream.Item, bool, error) {
	return nil, false, nil
}

func (p *paced) Query(_ context.Context, ref stream.RunRef, from int64) (stream.EventsPage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queries++
	return stream.EventsPage{Page: stream.Page{Items: p.logs[ref.Run][from:]}}, nil
}

// publish appends an item to the log and passes it to the readers in this process.
func (p *paced) publish(run, topic string, e stream.Event) []stream.Item {
	entry := must(stream.NewEntry(topic, e))
	p.mu.Lock()
	defer p.mu.Unlock()
	items := []stream.Item{{Topic: entry.Topic, Data: entry.Data, Offset: int64(len(p.logs[run]))}}
	p.logs[run] = append(p.logs[run], items...)
	return items
}

// openPaced opens an edge for so many streams, and starts a question whose answer the test
// gives. streams is told of each change.
func openPaced(t *testing.T, limit int, streams opened) (*edge, *paced, record.AnswerInput) {
	t.Helper()
	p := &paced{answering: &answering{}, started: make(chan record.AnswerInput, 1)}
	p.hub, p.logs = stream.NewHub(), map[string][]stream.Item{}
	p.edge = open(t, func(cfg *api.Config, d *api.Deps) {
		cfg.Streams, d.Metrics, d.Answers, d.Relay = limit, streams, p, stream.NewRelay(p, p.hub)
	})
	p.edge.do("POST", hooks+"/query", p.edge.reader, `{"text":"Why?","stream":true}`).want(202)
	return p.edge, p, <-p.started
}

// say publishes words of the answer.
func (p *paced) say(run, words string) {
	p.hub.Append(run, p.publish(run, stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: words}))
}

// finish ends the run with its answer.
func (p *paced) finish(t *testing.T, in record.AnswerInput) {
	t.Helper()
	if _, err := p.edge.blobs.PutJSON(t.Context(), in.AnswerKey(), record.Answer{Answer: "word", MessageID: in.MessageID}); err != nil {
		t.Fatal(err)
	}
	last := p.publish(in.Run, stream.TopicCompleted, stream.Event{Ref: in.AnswerKey()})
	if err := p.edge.store.EndRun(t.Context(), in.Workspace, in.Run, store.RunEnd{Status: knowledge.RunCompleted, ResultKey: in.AnswerKey(), At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	p.hub.Finish(in.Run, last)
}

// follow serves the events of a run behind one of them, "" = all, to w.
func (p *paced) follow(ctx context.Context, w http.ResponseWriter, run, query, last string) {
	r := httptest.NewRequestWithContext(ctx, "GET", "/runs/"+run+"/events"+query, nil)
	r.Header.Set("Authorization", "Bearer "+p.edge.reader)
	r.Header.Set("Last-Event-ID", last)
	p.edge.handler.ServeHTTP(w, r)
}

// TestAThousandReadersOfOneRun: each gets every event in its order, and together they
// read the log as one reader does.
func TestAThousandReadersOfOneRun(t *testing.T) {
	t.Parallel()
	const count, words = 1000, 60
	streams := make(opened, 2*count)
	_, p, in := openPaced(t, count, streams)
	bodies := make([]*httptest.ResponseRecorder, count)
	var group sync.WaitGroup
	for i := range bodies {
		bodies[i] = httptest.NewRecorder()
		group.Go(func() { p.follow(t.Context(), bodies[i], in.Run, "?compact=true", "") })
	}
	for range count {
		<-streams // one more is open
	}
	for range words {
		p.say(in.Run, "word ")
	}
	p.finish(t, in)
	group.Wait()
	want := bodies[0].Body.String()
	if got := strings.Count(want, "\nid: "); got != words+2 {
		t.Fatalf("%d events:\n%s", got, want)
	}
	for i, body := range bodies {
		if body.Code != 200 || body.Body.String() != want {
			t.Fatalf("reader %d: %d, %d of %d bytes", i, body.Code, body.Body.Len(), len(want))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queries > count/10 { // each 50 to 500 ms, for all readers
		t.Errorf("the log was queried %d times", p.queries)
	}
}
