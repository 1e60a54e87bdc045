package api_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// paced is an answering whose run goes on until the test ends it.
type paced struct {
	*answering
	started chan workflows.AnswerInput
	queries int // guarded by mu
}

func (p *paced) Answer(_ context.Context, _ knowledge.RunKind, in workflows.AnswerInput) error {
	first := workflows.QueryStarted(in)
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

// TestAThousandReadersOfOneRun: each gets every event in its order, and together they
// read the log as one reader does.
func TestAThousandReadersOfOneRun(t *testing.T) {
	t.Parallel()
	const count, words = 1000, 60
	p := &paced{answering: &answering{}, started: make(chan workflows.AnswerInput, 1)}
	p.hub, p.logs = stream.NewHub(), map[string][]stream.Item{}
	streams := make(opened, 2*count)
	e := open(t, func(cfg *api.Config, d *api.Deps) {
		cfg.Streams, d.Metrics, d.Answers, d.Relay = count, streams, p, stream.NewRelay(p, p.hub)
	})
	e.do("POST", hooks+"/query", e.reader, `{"text":"Why?","stream":true}`).want(202)
	in := <-p.started
	bodies := make([]*httptest.ResponseRecorder, count)
	var group sync.WaitGroup
	for i := range bodies {
		bodies[i] = httptest.NewRecorder()
		group.Go(func() {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/runs/"+in.Run+"/events?compact=true", nil)
			r.Header.Set("Authorization", "Bearer "+e.reader)
			e.handler.ServeHTTP(bodies[i], r)
		})
	}
	for range count {
		<-streams // one more is open
	}
	for range words {
		p.hub.Append(in.Run, p.publish(in.Run, stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: "word "}))
	}
	if _, err := e.blobs.PutJSON(t.Context(), in.AnswerKey(), activities.AnswerRecord{Answer: "word", MessageID: in.MessageID}); err != nil {
		t.Fatal(err)
	}
	last := p.publish(in.Run, stream.TopicCompleted, stream.Event{Ref: in.AnswerKey()})
	if err := e.store.EndRun(t.Context(), in.Workspace, in.Run, store.RunEnd{Status: knowledge.RunCompleted, ResultKey: in.AnswerKey(), At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	p.hub.Finish(in.Run, last)
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
