package answering

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

// publisher writes the words of one attempt of a model call into the run's log: the
// first words at once or after firstHold, then one batch at a time, with the words that came
// during the batch before. A timer publishes the words before a pause of the model.
// Its methods are called by one goroutine.
type publisher struct {
	workflows  Workflows
	hub        Hub
	in         ModelCallInput
	workflowID string
	attempt    int
	id         string // of this publisher in the stream protocol
	sequence   int64

	whole  strings.Builder // words that this attempt wrote since it began or restarted
	seen   string          // words of earlier attempts that readers have
	held   int             // bytes of this attempt that equal the beginning of seen
	offset int64
	inHub  bool // offset is the offset of the next item, so the hub may have it

	mu        sync.Mutex // guards the fields below, which the timer uses too
	pending   strings.Builder
	thoughts  thoughts       // come before the pending words
	notes     []stream.Entry // that come before the pending words
	reset     bool           // a reset must come before the pending words
	published bool           // readers have words of this turn
	last      time.Time      // of the first word, then of the last batch
	batches   int
	inFlight  chan struct{} // closed when the current batch has ended; nil = no batch
	hold      time.Duration // of the first words
	timer     *time.Timer   // publishes the pending words; nil = not set
	closed    bool          // neither words nor the timer publish any more
	err       error         // of a batch that could not be published
}

func newPublisher(w Workflows, hub Hub, in ModelCallInput, workflowID string, attempt int) *publisher {
	var id [8]byte
	_, _ = rand.Read(id[:]) // crypto/rand never fails
	p := &publisher{
		workflows: w, hub: hub, in: in, workflowID: workflowID, attempt: attempt,
		id: hex.EncodeToString(id[:]), offset: in.Offset, inHub: attempt == 1,
	}
	if hub.Followed() >= manyQuestions {
		p.hold = firstHold
	}
	return p
}

// resume reads the words that earlier attempts published from the log. Before that,
// it fences those attempts, because one whose worker was frozen may still publish.
func (p *publisher) resume(ctx context.Context) error {
	if p.attempt == 1 {
		return nil
	}
	p.hub.Fence(p.in.Run, p.in.Turn, p.attempt)
	if err := p.send(p.take()); err != nil {
		return err
	}
	var seen, thought strings.Builder
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
			case stream.TopicReasoning:
				if len(event.Data) > 0 { // which only a reset has
					thought.Reset()
				}
				thought.WriteString(event.Text)
			}
		}
		if from = page.NextOffset; !page.MoreReady {
			break
		}
	}
	p.seen, p.published = seen.String(), seen.Len() > 0
	p.thoughts.seen = thought.String()
	return nil
}

// write publishes words, except words that repeat those that readers have.
func (p *publisher) write(text string) {
	if text == "" {
		return
	}
	p.whole.WriteString(text)
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
	if p.last.IsZero() {
		p.last = time.Now()
	}
	if reset {
		p.reset = true
		p.pending.Reset()
	}
	p.pending.WriteString(text)
	p.flush()
}

// restart begins the words of this attempt anew, because another source of them takes
// over. Words that repeat those that readers have are not published again, and where they
// differ a reset is published.
func (p *publisher) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.seen != "": // readers have the words of an earlier attempt alone
	case p.published:
		p.seen = p.whole.String()
	default:
		p.pending.Reset()
		p.last = time.Time{}
	}
	p.held = 0
	p.whole.Reset()
	p.thoughts.restart()
}

// flush publishes the pending words in the background, unless a batch is in flight
// or the interval is not over. Then the next word or the timer publishes them. The
// caller holds the lock.
func (p *publisher) flush() {
	if p.inFlight != nil || p.closed || p.err != nil { // close returns the error
		return
	}
	if time.Since(p.last) < p.interval() {
		p.setTimer()
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
		p.setTimer()
		close(done)
	}()
}

// quiet is how long the timer waits for further words after the interval.
const quiet = 50 * time.Millisecond

// setTimer publishes the pending words later if no word follows. The caller holds
// the lock.
func (p *publisher) setTimer() {
	if p.timer != nil || p.closed || !p.waiting() {
		return
	}
	wait := max(p.interval()-time.Since(p.last), 0)
	if p.batches > 0 {
		wait += quiet
	}
	p.timer = time.AfterFunc(wait, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.timer = nil; !p.closed && p.waiting() {
			p.flush()
		}
	})
}

// waiting reports whether words are to be published. The caller holds the lock.
func (p *publisher) waiting() bool { return p.pending.Len() > 0 || p.thoughts.waiting() }

// stop ends the publishing by words and timer, and returns a channel that is closed
// when the batch in flight has ended.
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

// maxHeld bounds an answer whose record is in the result of the activity, in bytes.
const maxHeld = 16 << 10

// holdsAll ends the publishing by words and timer. It reports whether the words of this
// attempt are short, none of them is published, and the readers in this process will get
// them with the result of the activity.
func (p *publisher) holdsAll() bool {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.pending.Len()
	return p.inHub && !p.published && !p.reset && len(p.notes) == 0 && !p.thoughts.waiting() && held > 0 && held <= maxHeld
}

// firstHold is how long the first words wait in a process that answers many questions
// at the same time. The answer of a model that has ended by then is the result of the
// activity and needs no signal, which costs a fifth of a short question. While the
// process answers few questions, it sends the first word at once.
const (
	firstHold     = 20 * time.Millisecond
	manyQuestions = 4
)

// interval returns the shortest time between two batches. It grows with the length
// of the answer, so that a long answer does not fill the workflow's history.
func (p *publisher) interval() time.Duration {
	switch {
	case p.batches == 0:
		return p.hold
	case p.batches < 100:
		return 150 * time.Millisecond
	case p.batches < 300:
		return 400 * time.Millisecond
	default:
		return time.Second
	}
}

// maxBatch bounds the words of a batch, in bytes. As JSON they may be six times as
// long, and Temporal limits a signal to 2 MB.
const maxBatch = 64 << 10

// take removes the next batch from the pending words and returns it.
func (p *publisher) take() []stream.Entry {
	items := p.notes
	p.notes = nil
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
	if e, ok := p.thoughts.take(); ok {
		e.Turn, e.Attempt = p.in.Turn, p.attempt
		add(stream.TopicReasoning, e)
	}
	text, later := cutAt(p.pending.String(), maxBatch)
	if text != "" || len(items) == 0 { // the log drops an empty one: it only announces the attempt
		add(stream.TopicDelta, stream.Event{Turn: p.in.Turn, Attempt: p.attempt, Text: text})
	}
	p.pending.Reset()
	p.pending.WriteString(later)
	return items
}

// cutAt cuts a text after at most n bytes, between two code points.
func cutAt(text string, n int) (before, after string) {
	if len(text) <= n {
		return text, ""
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], text[n:]
}

// send signals a batch to the log. After Temporal has acknowledged the signal, it
// passes the batch to the hub.
func (p *publisher) send(items []stream.Entry) error {
	// A cancel of the activity does not discard the words that the model has sent.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	p.sequence++
	batch := stream.Batch{Items: items, PublisherID: p.id, Sequence: p.sequence}
	if err := p.workflows.Publish(ctx, p.workflowID, batch); err != nil {
		return fmt.Errorf("publish batch %d: %w", batch.Sequence, err)
	}
	p.show(items)
	return nil
}

// show passes entries that are durable to the hub, if their offset is known.
func (p *publisher) show(entries []stream.Entry) {
	if !p.inHub {
		return
	}
	durable := make([]stream.Item, 0, len(entries))
	for _, e := range entries {
		durable = append(durable, stream.Item{Topic: e.Topic, Data: e.Data, Offset: p.offset})
		p.offset++
	}
	p.hub.Append(p.in.Run, durable)
}

// showTail passes the tail to the hub. Temporal has acknowledged the result that
// holds it, and the workflow will add it to the log as the next item.
func (p *publisher) showTail(tail string) {
	p.pending.Reset()
	p.pending.WriteString(tail)
	p.show(p.take())
}

// close blocks until the batch in flight has ended and returns the words that are
// not published. It publishes a reset if this attempt did not repeat all the words
// that readers have. published reports whether readers have words of this turn.
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
		p.pending.Reset()
		p.pending.WriteString(p.seen[:p.held])
		p.seen = ""
	}
	for p.reset || len(p.notes) > 0 || p.thoughts.waiting() || p.pending.Len() > maxBatch {
		if err := p.send(p.take()); err != nil {
			return "", false, err
		}
		p.published = true
	}
	return p.pending.String(), p.published, nil
}

// abandon blocks until the batch in flight has ended, so that the next attempt
// finds its words in the log.
func (p *publisher) abandon() {
	<-p.stop()
	if len(p.notes) > 0 && p.err == nil {
		p.err = p.send(p.notes) // best effort: they only describe the failure
	}
}
