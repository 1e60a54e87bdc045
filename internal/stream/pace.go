package stream

import "time"

// The relay queries a log at these intervals while the hub reports no change. A
// query takes a turn of the workflow's worker, in which it serves no workflow, so
// with many readers queries delay the words that they ask for. The relay therefore
// hardly ever queries a run whose words come through the hub.
const (
	pollFirst     = 50 * time.Millisecond
	pollLast      = 500 * time.Millisecond
	pollPrimed    = 2 * time.Second  // a model call is about to begin in this process
	pollPublished = 10 * time.Second // a publisher in this process appends to the hub
)

// quietShare is the part of the time without news that a relay without a hub waits
// before it asks again, so that it adds little to a time that a reader waits anyway.
const quietShare = 10

// pace decides when a log is queried next.
type pace struct {
	hubless bool // no publisher is in this process
	poll    time.Duration
	limit   time.Duration
	news    time.Time // when there were new items last
}

// newPace returns the pace for a run. primed means that its workflow is about to start, and
// words that it begins with the words of a model.
func newPace(hubless, primed, words bool) pace {
	p := pace{hubless: hubless, limit: pollLast, news: time.Now()}
	switch {
	case primed && (hubless || !words):
		p.poll = pollFirst
	case primed:
		p.poll, p.limit = pollPrimed, pollPrimed
	}
	return p
}

// published sets the pace after news from the hub.
func (p *pace) published(publishing bool) {
	if p.poll, p.limit = pollFirst, pollLast; publishing {
		p.poll, p.limit = pollPublished, pollPublished
	}
}

// grew sets the pace after a query with new items.
func (p *pace) grew() { p.poll, p.news = pollFirst, time.Now() }

// idle sets the pace after a query without new items.
func (p *pace) idle() {
	if p.hubless {
		p.poll = min(max(time.Since(p.news)/quietShare, pollFirst), p.limit)
		return
	}
	p.poll = min(max(p.poll*2, pollFirst), p.limit)
}
