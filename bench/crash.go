package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

const (
	crashDocuments = 300
	crashKills     = 5
)

// crash ingests documents while the whole process is killed at random moments,
// then streams an answer over two kills.
func crash(ctx context.Context, b *bench) (figures []figure, err error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	m := modeltest.New(modeltest.Options{Tokens: 300, TokenDelay: 15 * time.Millisecond, EmbeddingDelay: 40 * time.Millisecond})
	defer m.Close()
	s, _, err := b.serveWithModel(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	random := rand.New(rand.NewPCG(b.seed, 0))
	documents, err := crashIngest(ctx, s, m, list[:crashDocuments], random)
	if err != nil {
		return nil, err
	}
	answer, err := crashAnswer(ctx, s, random)
	return append(documents, answer...), err
}

// crashIngest uploads documents over kills at random moments. "In flight" counts
// the requests that the model had not answered at a kill; "asked for again" also
// holds those that it had answered and that the killed process had not stored.
func crashIngest(ctx context.Context, s *server, m *modeltest.Server, list []abstract, random *rand.Rand) ([]figure, error) {
	var accepted atomic.Int64
	var uploads sync.WaitGroup
	var mu sync.RWMutex // held for writing while the server is down
	for c := range 4 {
		uploads.Go(func() {
			for i := c; i < len(list); i += 4 {
				body := map[string]any{"name": "abstract " + list[i].id, "externalId": list[i].id, "content": map[string]any{"text": "Document " + list[i].id + ". " + list[i].text}}
				for ctx.Err() == nil {
					mu.RLock()
					err := s.send(ctx, "POST", "/workspaces/default/webhooks/document?projectId=default", body, nil)
					mu.RUnlock()
					if err == nil {
						accepted.Add(1)
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	inFlight := 0
	for kill := range crashKills {
		for accepted.Load() < int64((kill+1)*len(list)/(crashKills+1)) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		open := m.Totals()
		if err := s.kill(); err != nil {
			return nil, err
		}
		inFlight += open.Embeddings.Asked - open.Embeddings.Answered
		mu.Lock()
		_, err := s.start(ctx)
		mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	uploads.Wait()
	lost, double, err := settle(ctx, s, len(list))
	if err != nil {
		return nil, err
	}
	batches, repeated := m.Embeddings(), 0
	for _, count := range batches {
		repeated += count.Asked - 1
	}
	return []figure{
		higher(fmt.Sprintf("documents accepted over %d kills", crashKills), float64(accepted.Load())).aim(float64(len(list))),
		lower("documents lost", float64(lost)).aim(0),
		lower("passages stored twice", float64(double)).aim(0),
		lower("batches of embeddings", float64(len(batches))),
		lower("batches asked for again", float64(repeated)),
		lower("requests in flight at the kills", float64(inFlight)),
	}, nil
}

// settle waits until nothing is pending and counts documents that are not
// published, and passages that are found twice.
func settle(ctx context.Context, s *server, n int) (lost, double int, err error) {
	published := 0
	for deadline := time.Now().Add(3 * time.Minute); published < n && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if published, err = s.published(ctx); err != nil {
			return 0, 0, err
		}
	}
	names, err := s.externalIDs(ctx)
	if err != nil {
		return 0, 0, err
	}
	for id := range names {
		var chunks struct {
			Data []struct{ ID, Text string }
		}
		if err := s.send(ctx, "GET", "/workspaces/default/documents/"+id+"/chunks?limit=500", nil, &chunks); err != nil {
			return 0, 0, err
		}
		seen := map[string]bool{}
		for _, c := range chunks.Data {
			if seen[c.Text] {
				double++
			}
			seen[c.Text] = true
		}
		if len(chunks.Data) == 0 {
			lost++
		}
	}
	return lost + n - published, double + len(names) - n, nil
}

// crashAnswer reads one answer of 300 tokens over two kills. Most of the silence
// is the model repeating words that readers have: the new attempt sends nothing
// until it has something new.
func crashAnswer(ctx context.Context, s *server, random *rand.Rand) ([]figure, error) {
	c, err := s.Client()
	if err != nil {
		return nil, err
	}
	var r reading
	var silences []time.Duration
	kills := 0
	events := c.Ask(ctx, client.Question{Text: "What is a slipstream?", Project: "default"})
	for words := 60 + random.IntN(60); ; words += 60 + random.IntN(60) {
		if kills == 2 {
			words = math.MaxInt
		}
		ended, err := r.upTo(words, events)
		if err != nil {
			return nil, err
		}
		if ended {
			break
		}
		kills++
		if err := s.kill(); err != nil {
			return nil, err
		}
		if _, err := s.start(ctx); err != nil {
			return nil, err
		}
		ready := time.Now()
		if c, err = s.Client(); err != nil {
			return nil, err
		}
		events = timed(c.Events(ctx, r.run, r.last), ready, &silences)
	}
	answer, err := storedAnswer(ctx, c, r.run)
	if err != nil {
		return nil, err
	}
	if r.text != answer.Text {
		return nil, fmt.Errorf("the reader has %d characters and the stored answer %d, and they differ", len(r.text), len(answer.Text))
	}
	return []figure{
		lower(fmt.Sprintf("gaps in the %d events of an answer over %d kills", r.last, kills), float64(r.gaps)).aim(0),
		lower("resets", float64(r.resets)).aim(0),
		lower("longest silence after readiness s", slices.Max(silences).Seconds()).aim(5),
	}, nil
}

// reading is an answer as its reader puts it together.
type reading struct {
	run, text    string
	last         int64 // event
	gaps, resets int
}

// upTo reads events until the answer has more than so many words, or has ended.
func (r *reading) upTo(words int, events iter.Seq2[client.Event, error]) (ended bool, err error) {
	for e, err := range events {
		if err == nil {
			err = r.take(e)
		}
		if err != nil {
			return false, err
		}
		if strings.Count(r.text, "word") > words {
			return false, nil
		}
	}
	return true, nil
}

func (r *reading) take(e client.Event) error {
	if e.ID != r.last+1 {
		r.gaps++
	}
	r.last = e.ID
	switch e.Name {
	case client.EventStarted:
		var started client.Started
		err := e.Decode(&started)
		r.run = started.RunID
		return err
	case client.EventChunk:
		var chunk client.TextChunk
		err := e.Decode(&chunk)
		r.text += chunk.Chunk.Data
		return err
	case client.EventReset:
		r.text = ""
		r.resets++
	}
	return nil
}

// storedAnswer reads the answer that a run ended with.
func storedAnswer(ctx context.Context, c *client.Client, run string) (answer client.Answer, err error) {
	last, err := c.Wait(ctx, run, nil)
	if err != nil {
		return answer, err
	}
	return answer, last.Decode(&answer)
}

// timed appends to silences how long after a moment the first event came.
func timed(events iter.Seq2[client.Event, error], since time.Time, silences *[]time.Duration) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		first := true
		for e, err := range events {
			if first {
				*silences, first = append(*silences, time.Since(since)), false
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
