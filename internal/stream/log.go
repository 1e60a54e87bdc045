package stream

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// The names of the Workflow Streams protocol, and of Cairn's own query, which
// reads a log without an event in the workflow's history.
const (
	SignalPublish = "__temporal_workflow_stream_publish"
	UpdatePoll    = "__temporal_workflow_stream_poll"
	QueryOffset   = "__temporal_workflow_stream_offset"
	QueryEvents   = "cairn_events"
)

// ErrLogLost reports that the log of a workflow can never be read again: Temporal
// has no workflow of that id, or no worker can replay it.
var ErrLogLost = errors.New("the log of the workflow is lost")

// pageBytes bounds a page of a log, in bytes of topic and base64.
const pageBytes = 1_000_000

// Batch is the payload of a publish signal. A publisher raises Sequence by one for
// each batch. With an empty PublisherID no batch is dropped as a repetition.
type Batch struct {
	Items       []Entry `json:"items"`
	PublisherID string  `json:"publisher_id"`
	Sequence    int64   `json:"sequence"`
}

// PollInput asks for items at or after an offset; 0 = from the oldest item in
// memory. Empty Topics = all topics.
type PollInput struct {
	Topics     []string `json:"topics"`
	FromOffset int64    `json:"from_offset"`
}

// Page is a part of a log. NextOffset is the offset behind its last item.
type Page struct {
	Items      []Item `json:"items"`
	NextOffset int64  `json:"next_offset"`
	MoreReady  bool   `json:"more_ready"`
}

// EventsPage is the result of QueryEvents. Base is the offset of the oldest item
// in memory; older items are in stored segments.
type EventsPage struct {
	Page
	Base   int64 `json:"base"`
	Closed bool  `json:"closed"` // the workflow adds no more items
}

// Log is the log of one workflow. It is plain state: the workflow applies batches
// to it and carries it over a continue-as-new. Not safe for concurrent use; a
// workflow has a single thread.
type Log struct {
	Base       int64            `json:"base"`
	Entries    []Entry          `json:"entries"`
	Publishers map[string]int64 `json:"publishers,omitempty"` // last sequence of each
	Attempts   fence            `json:"attempts,omitempty"`
}

// End returns the offset of the next item.
func (l *Log) End() int64 { return l.Base + int64(len(l.Entries)) }

// Append adds an entry that the workflow itself writes.
func (l *Log) Append(e Entry) { l.Entries = append(l.Entries, e) }

// Publish adds the items of a batch. It drops the batch if its sequence was seen
// before, and an item if a newer attempt of the same model call has written. A
// delta without words announces that an attempt has begun, and is not kept.
func (l *Log) Publish(b Batch) {
	if b.PublisherID != "" {
		if b.Sequence <= l.Publishers[b.PublisherID] {
			return
		}
		if l.Publishers == nil {
			l.Publishers = map[string]int64{}
		}
		l.Publishers[b.PublisherID] = b.Sequence
	}
	for _, e := range b.Items {
		if l.fenced(e) {
			continue
		}
		l.Append(e)
	}
}

// ToolPublisher returns the publisher of what a tool call shows: a name of the call
// itself, so that an attempt does not show again what an earlier one has shown, and
// calls that run side by side have no effect on each other.
func ToolPublisher(turn, call int) string { return fmt.Sprintf("tool-%d-%d", turn, call) }

// Retire makes the log drop what a publisher sends from now on.
func (l *Log) Retire(publisher string) {
	if l.Publishers == nil {
		l.Publishers = map[string]int64{}
	}
	l.Publishers[publisher] = math.MaxInt64
}

// GiveUp makes the log drop what the attempts of a turn's model call send from now on.
func (l *Log) GiveUp(turn int) { l.Attempts.raise(turn, GivenUp) }

// HasWords reports whether the items at or after an offset, which are in memory, hold words
// of a turn's model call.
func (l *Log) HasWords(from int64, turn int) bool {
	for _, item := range l.Items(from) {
		if item.Topic != TopicDelta {
			continue
		}
		if e, err := DecodeEvent(item.Data); err == nil && e.Turn == turn && e.Text != "" {
			return true
		}
	}
	return false
}

// fenced reports whether the log drops an entry: a newer attempt has replaced its
// attempt, or it only announces a new one.
func (l *Log) fenced(e Entry) bool {
	event, err := DecodeEvent(e.Data)
	if err != nil || event.Turn == 0 {
		return false
	}
	if l.Attempts.stale(event) {
		return true
	}
	l.Attempts.raise(event.Turn, event.Attempt)
	return e.Topic == TopicDelta && event.Text == ""
}

// Truncated reports whether the item at an offset is no longer in memory. Offset
// 0 never is truncated: it asks for the oldest item.
func (l *Log) Truncated(from int64) bool { return from != 0 && from < l.Base }

// Page returns the items at or after from: at most pageBytes, but at least one
// item if there is one. Empty topics = all topics.
func (l *Log) Page(from int64, topics []string) Page {
	p := Page{Items: []Item{}, NextOffset: l.End()}
	size := 0
	for i := max(from-l.Base, 0); i < int64(len(l.Entries)); i++ {
		e := l.Entries[i]
		if len(topics) > 0 && !slices.Contains(topics, e.Topic) {
			continue
		}
		n := len(e.Data) + len(e.Topic)
		if size+n > pageBytes && len(p.Items) > 0 {
			p.NextOffset, p.MoreReady = l.Base+i, true
			break
		}
		size += n
		p.Items = append(p.Items, Item{Topic: e.Topic, Data: e.Data, Offset: l.Base + i})
	}
	return p
}

// Items returns every item in memory at or after from.
func (l *Log) Items(from int64) []Item {
	items := []Item{}
	for i := max(from-l.Base, 0); i < int64(len(l.Entries)); i++ {
		items = append(items, Item{Topic: l.Entries[i].Topic, Data: l.Entries[i].Data, Offset: l.Base + i})
	}
	return items
}

// carryBytes bounds the entries that a log carries over a continue-as-new, in
// bytes of topic and base64. They are part of a workflow input, which Temporal
// limits to 2 MB.
const carryBytes = 256 << 10

// Carry returns the log that the next run of the workflow starts with: the last
// keep entries, or fewer if they are larger than carryBytes. A reader that is one
// step behind then misses nothing.
func (l *Log) Carry(keep int) Log {
	drop, size := len(l.Entries), 0
	for drop > max(len(l.Entries)-keep, 0) {
		e := l.Entries[drop-1]
		if size += len(e.Topic) + len(e.Data); size > carryBytes && drop < len(l.Entries) {
			break
		}
		drop--
	}
	return l.From(l.Base + int64(drop))
}

// From returns the log without the items before an offset, which it has in memory.
func (l *Log) From(offset int64) Log {
	return Log{
		Base:       offset,
		Entries:    append([]Entry{}, l.Entries[offset-l.Base:]...),
		Publishers: maps.Clone(l.Publishers),
		Attempts:   maps.Clone(l.Attempts),
	}
}
