package answering

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// maxThoughts bounds the reasoning of a model call that is published, in bytes. The rest is
// dropped, because a log has to be read whole.
const maxThoughts = 256 << 10

// thoughts are the words of a model's reasoning, which are no part of the answer. The
// publisher's lock guards them.
type thoughts struct {
	hidden  bool // none is published
	pending strings.Builder
	reset   bool // readers drop the reasoning so far
	size    int  // bytes of this attempt
	seen    string
	held    int // bytes of this attempt that equal the beginning of seen
}

// think publishes words of the reasoning, except words that repeat those that readers have of
// an earlier attempt.
func (p *publisher) think(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &p.thoughts
	if text == "" || t.hidden || t.size+len(text) > maxThoughts {
		return
	}
	t.size += len(text)
	if t.seen != "" {
		rest := t.seen[t.held:]
		switch {
		case strings.HasPrefix(rest, text):
			t.held += len(text)
			return
		case strings.HasPrefix(text, rest):
			text = text[len(rest):]
		default:
			t.reset, text = true, t.seen[:t.held]+text
		}
		t.seen = ""
	}
	t.pending.WriteString(text)
	p.flush()
}

// restart drops the reasoning so far, because another model begins anew.
func (t *thoughts) restart() {
	t.reset = t.reset || t.size > t.pending.Len() || t.seen != ""
	t.pending.Reset()
	t.seen, t.held, t.size = "", 0, 0
}

// waiting reports whether there is something to publish.
func (t *thoughts) waiting() bool { return t.pending.Len() > 0 }

// take removes the next part of the reasoning, and returns it as an event.
func (t *thoughts) take() (e stream.Event, ok bool) {
	if !t.waiting() {
		return e, false
	}
	text, later := cutAt(t.pending.String(), maxBatch)
	t.pending.Reset()
	t.pending.WriteString(later)
	e.Text = text
	if t.reset {
		e.Data, t.reset = stream.Data(record.ReasoningData{Reset: true}), false
	}
	return e, true
}
