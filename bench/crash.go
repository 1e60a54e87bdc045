package main

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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
func crash(ctx context.Context, b *bench) error {
	list, err := b.abstracts()
	if err != nil {
		return err
	}
	m := modeltest.New(modeltest.Options{Tokens: 300, TokenDelay: 15 * time.Millisecond, EmbeddingDelay: 40 * time.Millisecond})
	defer m.Close()
	s, _, err := b.serve(ctx, modelAt(m.URL())...)
	if err != nil {
		return err
	}
	defer s.stop()
	random := rand.New(rand.NewPCG(b.seed, 0))
	if err := crashIngest(ctx, s, m, list[:crashDocuments], random); err != nil {
		return err
	}
	return crashAnswer(ctx, s, random)
}

func crashIngest(ctx context.Context, s *server, m *modeltest.Server, list []abstract, random *rand.Rand) error {
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
			return err
		}
		inFlight += open.Embeddings.Asked - open.Embeddings.Answered
		mu.Lock()
		_, err := s.start(ctx)
		mu.Unlock()
		if err != nil {
			return err
		}
	}
	uploads.Wait()
	lost, double, err := settle(ctx, s, len(list))
	if err != nil {
		return err
	}
	stored, repeated, err := batches(s, m)
	if err != nil {
		return err
	}
	fmt.Println("| documents accepted | kills | lost | double | stored batches | batches asked for again | in flight at the kills |")
	fmt.Println("|---|---|---|---|---|---|---|")
	fmt.Printf("| %d | %d | %d | %d | %d | %d | %d |\n", accepted.Load(), crashKills, lost, double, stored, repeated, inFlight)
	return nil
}

// batches counts the batches of embeddings that are stored, and those that the
// model was asked for again.
func batches(s *server, m *modeltest.Server) (stored, repeated int, err error) {
	for _, count := range m.Embeddings() {
		repeated += count.Asked - 1
	}
	err = filepath.WalkDir(filepath.Join(s.folder, "data", "blobs"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "/embeddings/") {
			stored++
		}
		return err
	})
	return stored, repeated, err
}

// settle waits until nothing is pending and counts documents that are not
// published, and passages that are found twice.
func settle(ctx context.Context, s *server, n int) (lost, double int, err error) {
	var page struct{ Total int }
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err := s.send(ctx, "GET", "/workspaces/default/webhooks/documents?projectId=default&status=published&limit=1", nil, &page); err != nil {
			return 0, 0, err
		}
		if page.Total >= n {
			break
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
	return lost + n - page.Total, double + len(names) - n, nil
}

// crashAnswer reads one answer of 300 tokens over two kills.
func crashAnswer(ctx context.Context, s *server, random *rand.Rand) error {
	c, err := s.client()
	if err != nil {
		return err
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
			return err
		}
		if ended {
			break
		}
		kills++
		if err := s.kill(); err != nil {
			return err
		}
		if _, err := s.start(ctx); err != nil {
			return err
		}
		ready := time.Now()
		if c, err = s.client(); err != nil {
			return err
		}
		events = timed(c.Events(ctx, r.run, r.last), ready, &silences)
	}
	answer, err := storedAnswer(ctx, c, r.run)
	if err != nil {
		return err
	}
	fmt.Println("\n| kills | characters read | equal to the stored answer | events | gaps | resets | silence after readiness s |")
	fmt.Println("|---|---|---|---|---|---|---|")
	fmt.Printf("| %d | %d | %v | %d | %d | %d | %v |\n", kills, len(r.text), r.text == answer.Text, r.last, r.gaps, r.resets, seconds(silences))
	return nil
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

// timed notes how long the first event of a stream took after a moment.
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

func seconds(list []time.Duration) string {
	out := []string{}
	for _, d := range list {
		out = append(out, fmt.Sprintf("%.1f", d.Seconds()))
	}
	return strings.Join(out, ", ")
}
