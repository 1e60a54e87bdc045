package stream

import (
	"errors"
	"maps"
	"slices"
)

// The names of the Workflow Streams protocol, and of our own query, which reads
// a log without adding to the workflow's history.
const (
	SignalPublish = "__temporal_workflow_stream_publish"
	UpdatePoll    = "__temporal_workflow_stream_poll"
	QueryOffset   = "__temporal_workflow_stream_offset"
	QueryEvents   = "cairn_events"
)

// ErrLogLost is the error for the log of a workflow that nobody can read any
// more: Temporal has no workflow of that id, or no worker can replay it.
var ErrLogLost = errors.New("the log of the workflow is lost")

// pageBytes bounds a page of a log, in bytes of topic and base64.
const pageBytes = 1_000_000

// Batch is what a publisher sends. Sequence rises by one a batch of a
// publisher; an empty PublisherID means that nothing is dropped as a repeat.
type Batch struct {
	Items       []Entry `json:"items"`
	PublisherID string  `json:"publisher_id"`
	Sequence    int64   `json:"sequence"`
}

// PollInput asks for items at or after an offset; 0 means from whatever the
// log still holds. Topics empty means all.
type PollInput struct {
	Topics     []string `json:"topics"`
	FromOffset int64    `json:"from_offset"`
}

// Page is a part of a log. NextOffset is the first offset that it leaves out.
type Page struct {
	Items      []Item `json:"items"`
	NextOffset int64  `json:"next_offset"`
	MoreReady  bool   `json:"more_ready"`
}

// EventsPage is what QueryEvents answers. Base is the offset of the oldest item
// in memory: what is older stands in stored segments.
type EventsPage struct {
	Page
	Base   int64 `json:"base"`
	Closed bool  `json:"closed"` // nothing will be added
}

// StoredLog is a part of a log as the blob store keeps it, or the whole log of a
// run that has ended. The items have the offsets that they had in the workflow.
type StoredLog struct {
	Items []Item `json:"items"`
}

// Log is the log of one workflow. It is plain state: the workflow that holds it
// applies batches and carries it over a continue-as-new. Not safe for
// concurrent use (a workflow is single-threaded).
type Log struct {
	Base       int64            `json:"base"`
	Entries    []Entry          `json:"entries"`
	Publishers map[string]int64 `json:"publishers,omitempty"` // last sequence of each
	Attempts   fence            `json:"attempts,omitempty"`
}

// End is the offset that the next item gets.
func (l *Log) End() int64 { return l.Base + int64(len(l.Entries)) }

// Append adds an entry of the workflow's own.
func (l *Log) Append(e Entry) { l.Entries = append(l.Entries, e) }

// Publish adds a batch: dropped whole if its sequence was seen, and item by item
// where a newer attempt of the same model call has already written. A delta
// without words says that an attempt has begun, and is not kept.
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

// fenced reports whether the entry is not to be kept: it is of an attempt that was
// given up, or it only announces a new one.
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

// Truncated reports whether items from the offset on are no longer in memory.
func (l *Log) Truncated(from int64) bool { return from != 0 && from < l.Base }

// Page gives the items at or after from, at least one if there is one and at
// most about a megabyte. Topics empty means all.
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

// Items gives every item in memory from the offset on.
func (l *Log) Items(from int64) []Item {
	items := []Item{}
	for i := max(from-l.Base, 0); i < int64(len(l.Entries)); i++ {
		items = append(items, Item{Topic: l.Entries[i].Topic, Data: l.Entries[i].Data, Offset: l.Base + i})
	}
	return items
}

// carryBytes bounds what a log carries over a continue-as-new, in bytes of topic
// and base64: it is part of an input, of which Temporal takes 2 MB.
const carryBytes = 256 << 10

// Carry gives the log that the next run of the workflow starts with: the last
// keep entries, or fewer large ones, so that a reader one step behind loses
// nothing.
func (l *Log) Carry(keep int) Log {
	drop, size := len(l.Entries), 0
	for drop > max(len(l.Entries)-keep, 0) {
		e := l.Entries[drop-1]
		if size += len(e.Topic) + len(e.Data); size > carryBytes && drop < len(l.Entries) {
			break
		}
		drop--
	}
	return Log{
		Base:       l.Base + int64(drop),
		Entries:    append([]Entry{}, l.Entries[drop:]...),
		Publishers: maps.Clone(l.Publishers),
		Attempts:   maps.Clone(l.Attempts),
	}
}
