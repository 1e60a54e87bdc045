package activities

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/stream"
)

// publisher writes the words of one attempt of a model call into the run's log:
// the first at once, then one batch at a time, each gathering what came while
// the one before was under way. A model that falls silent leaves no words
// behind: a timer publishes them. It is used by one goroutine.
type publisher struct {
	workflows  Workflows
	hub        Hub
	in         ModelCallInput
	workflowID string
	attempt    int
	id         string // of this publisher in the stream protocol
	sequence   int64

	seen   string // words of earlier attempts that readers have
	held   int    // bytes of this attempt that equal the beginning of seen
	offset int64
	inHub  bool // offset is known to be where our items go

	mu        sync.Mutex // guards what follows, of which the timer knows too
	pending   strings.Builder
	reset     bool // a reset must come before the pending words
	published bool // readers have words of this turn
	last      time.Time
	batches   int
	inFlight  chan struct{} // closed when the batch that is under way has ended; nil = none
	timer     *time.Timer   // publishes what is pending; nil = none is set
	closed    bool          // nothing is published by itself any more
	err       error         // of a batch that could not be published
}

func newPublisher(w Workflows, hub Hub, in ModelCallInput, workflowID string, attempt int) *publisher {
	var id [8]byte
	_, _ = rand.Read(id[:]) // crypto/rand never fails
	return &publisher{
		workflows: w, hub: hub, in: in, workflowID: workflowID, attempt: attempt,
		id: hex.EncodeToString(id[:]), offset: in.Offset, inHub: attempt == 1,
	}
}

// resume asks the log for the words that earlier attempts published. Before it
// does, it shuts them out: one whose worker was frozen may still be sending.
func (p *publisher) resume(ctx context.Context) error {
	if p.attempt == 1 {
		return nil
	}
	p.hub.Fence(p.in.Run, p.in.Turn, p.attempt)
	if err := p.send(p.take()); err != nil {
		return err
	}
	var seen strings.Builder
	for from := p.in.Offset; ; {
		page, err := p.workflows.Events(ctx, p.workflowID, from)
		if err != nil {
			return fmt.Errorf("read what was published: %w", err)
		}
		for _, item := range page.Items {
			event, err := stream.DecodeEvent(item.Data)
			if err != nil || event.Turn != p.in.Turn {
				continue
			}
			switch item.Topic {
			case stream.TopicDelta:
				seen.WriteString(event.Text)
			case stream.TopicReset:
				seen.Reset()
			}
		}
		if from = page.NextOffset; !page.MoreReady {
			break
		}
	}
	p.seen, p.published = seen.String(), seen.Len() > 0
	return nil
}

// write takes words. They are held back while they repeat what readers have.
func (p *publisher) write(text string) {
	if text == "" {
		return
	}
	reset := false
	if p.seen != "" {
		rest := p.seen[p.held:]
		switch {
		case strings.HasPrefix(rest, text):
			p.held += len(text)
			return
		case strings.HasPrefix(text, rest):
			text = text[len(rest):]
		default:
			reset, text = true, p.seen[:p.held]+text
		}
		p.seen = ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reset = p.reset || reset
	p.pending.WriteString(text)
	p.flush()
}

// flush publishes what is pending if nothing is under way and it is time. If it
// is not, the next word will, or the timer. The lock is held.
func (p *publisher) flush() {
	if p.inFlight != nil || p.closed || p.err != nil { // close returns the error
		return
	}
	if p.batches > 0 && time.Since(p.last) < p.interval() {
		p.later()
		return
	}
	items, done := p.take(), make(chan struct{})
	p.inFlight = done
	p.last = time.Now()
	p.batches++
	p.published = true
	go func() {
		err := p.send(items)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.inFlight, p.err = nil, err
		p.later()
		close(done)
	}()
}

// quiet is how long words wait for one more to go with them, once it is time.
const quiet = 50 * time.Millisecond

// later sees to it that what is pending is published although no word follows.
// The lock is held.
func (p *publisher) later() {
	if p.timer != nil || p.closed || p.pending.Len() == 0 {
		return
	}
	p.timer = time.AfterFunc(max(p.interval()-time.Since(p.last), 0)+quiet, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.timer = nil; !p.closed && p.pending.Len() > 0 {
			p.flush()
		}
	})
}

// stop ends the publishing by timer, and returns a channel that is closed when the
// batch that is under way has ended.
func (p *publisher) stop() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.inFlight == nil {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	return p.inFlight
}

// interval grows with the length of the answer, so that a long one does not
// fill the workflow's history.
func (p *publisher) interval() time.Duration {
	switch {
	case p.batches < 100:
		return 150 * time.Millisecond
	case p.batches < 300:
		return 400 * time.Millisecond
	default:
		return time.Second
	}
}

// maxBatch is how many bytes of words go into a batch. As JSON they may be six
// times as many, and Temporal takes 2 MB.
const maxBatch = 64 << 10

// take returns the next batch of what is pending.
func (p *publisher) take() []stream.Entry {
	var items []stream.Entry
	add := func(topic string, e stream.Event) {
		// Encoding a struct of strings and numbers cannot fail.
		if encoded, err := stream.NewEntry(topic, e); err == nil {
			items = append(items, encoded)
		}
	}
	if p.reset {
		data := stream.Data(map[string]any{"attempt": p.attempt, "reason": "retry"})
		add(stream.TopicReset, stream.Event{Turn: p.in.Turn, Attempt: p.attempt, Data: data})
		p.reset = false
	}
	text, later := cutAt(p.pending.String(), maxBatch)
	add(stream.TopicDelta, stream.Event{Turn: p.in.Turn, Attempt: p.attempt, Text: text})
	p.pending.Reset()
	p.pending.WriteString(later)
	return items
}

// cutAt cuts a text after at most n bytes, between two characters.
func cutAt(text string, n int) (before, after string) {
	if len(text) <= n {
		return text, ""
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], text[n:]
}

// send signals a batch and, once that is acknowledged, hands it to the readers in
// this process.
func (p *publisher) send(items []stream.Entry) error {
	// Words that the model gave are sent also while the activity is cancelled.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	p.sequence++
	batch := stream.Batch{Items: items, PublisherID: p.id, Sequence: p.sequence}
	if err := p.workflows.Publish(ctx, p.workflowID, batch); err != nil {
		return fmt.Errorf("publish batch %d: %w", batch.Sequence, err)
	}
	if !p.inHub {
		return nil
	}
	given := make([]stream.Item, 0, len(items))
	for _, e := range items {
		given = append(given, stream.Item{Topic: e.Topic, Data: e.Data, Offset: p.offset})
		p.offset++
	}
	p.hub.Append(p.in.Run, given)
	return nil
}

// close waits for the batch that is under way and returns the words that are left.
// Words that readers have and that this attempt did not repeat in full are
// reset.
func (p *publisher) close(ctx context.Context) (tail string, published bool, err error) {
	select {
	case <-p.stop():
	case <-ctx.Done():
		return "", false, ctx.Err()
	}
	if p.err != nil {
		return "", false, p.err
	}
	if p.held < len(p.seen) {
		p.reset = true
		p.pending.WriteString(p.seen[:p.held])
		p.seen = ""
	}
	for p.reset || p.pending.Len() > maxBatch {
		if err := p.send(p.take()); err != nil {
			return "", false, err
		}
		p.published = true
	}
	return p.pending.String(), p.published, nil
}

// abandon lets a batch that is under way end before the attempt is given up, so
// that the next one sees it.
func (p *publisher) abandon() { <-p.stop() }
