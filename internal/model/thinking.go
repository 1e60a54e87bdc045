package model

import (
	"strings"
	"sync"
)

// thinking tells the reasoning that a model writes between tags at the beginning of its answer
// from the answer. Tags may be cut anywhere.
type thinking struct {
	inside   bool
	unopened bool            // the reasoning that it is in began without a tag
	thought  bool            // reasoning has ended
	said     bool            // the answer has begun
	fenced   bool            // in a block of code
	line     string          // of the answer, since its last line end
	held     string          // what may be a tag
	whole    strings.Builder // reasoning that began without a tag, which may be the answer
}

// maxUnopened bounds the reasoning without an opening tag that is kept in case it is the answer.
const maxUnopened = 1 << 20

// write returns the deltas of words of the answer.
func (t *thinking) write(text string) (deltas []Delta) {
	t.held += text
	for t.held != "" {
		d, waits := t.step()
		if d != (Delta{}) {
			deltas = append(deltas, d)
		}
		if waits {
			break
		}
	}
	return deltas
}

// step consumes the beginning of what is held. waits reports that more must come.
func (t *thinking) step() (d Delta, waits bool) {
	switch {
	case t.inside:
		return t.think()
	case !t.said:
		if t.thought {
			t.held = strings.TrimLeft(t.held, " \t\r\n")
		}
		if n := leadingTag(t.held, opensThinking); n > 0 {
			t.held, t.inside = t.held[n:], true
			return Delta{}, false
		}
		if n := leadingTag(t.held, opensAnswer); n > 0 {
			t.held = t.held[n:]
			return Delta{}, false
		}
		if mayBeTag(t.held) {
			return Delta{}, true
		}
		t.said = true
	}
	return t.answer()
}

// think consumes reasoning.
func (t *thinking) think() (d Delta, waits bool) {
	if at, end := endOfThinking(t.held); at >= 0 {
		d.Reasoning = t.held[:at]
		t.held, t.inside, t.thought = t.held[end:], false, true
		t.whole.Reset()
		return d, false
	}
	keep := cutTag(t.held)
	d.Reasoning = t.held[:len(t.held)-keep]
	t.held = t.held[len(t.held)-keep:]
	if t.unopened && t.whole.Len() < maxUnopened {
		t.whole.WriteString(d.Reasoning)
	}
	return d, true
}

// answer consumes words of the answer. A closing tag at the beginning of a line, outside of code,
// makes all before it reasoning.
func (t *thinking) answer() (d Delta, waits bool) {
	at := strings.IndexByte(t.held, '<')
	if at < 0 {
		at = len(t.held)
	}
	if at > 0 {
		d.Text, t.held = t.held[:at], t.held[at:]
		t.note(d.Text)
		return d, false
	}
	if strings.TrimSpace(t.line) == "" && !t.fenced && !t.unopened {
		end := tagLength(t.held, endsThinking)
		switch isXML := strings.HasPrefix(t.held, "</"); {
		case end > 0 && isXML:
			t.held, t.unopened, t.thought, t.said, t.line = t.held[end:], true, true, false, ""
			return Delta{Restart: true}, false
		case cutTag(t.held) == len(t.held) && (isXML || t.held == "<"):
			return Delta{}, true
		}
	}
	d.Text, t.held = t.held[:1], t.held[1:]
	t.note(d.Text)
	return d, false
}

// note follows lines and blocks of code of the answer.
func (t *thinking) note(text string) {
	lines := strings.Split(t.line+text, "\n")
	for _, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			t.fenced = !t.fenced
		}
	}
	t.line = lines[len(lines)-1]
}

// close returns the rest. Reasoning that began without a tag and has no end was the answer.
func (t *thinking) close() (deltas []Delta) {
	rest := t.held
	t.held = ""
	switch {
	case t.inside && t.unopened:
		t.unopened = false
		if text := t.whole.String() + rest; text != "" {
			deltas = append(deltas, Delta{Text: text})
		}
	case t.inside && rest != "":
		deltas = append(deltas, Delta{Reasoning: rest})
	case rest != "" && (t.said || strings.TrimSpace(rest) != ""):
		deltas = append(deltas, Delta{Text: rest})
	}
	return deltas
}

// knownThinkers are the models that end their reasoning with a tag which they do not begin with:
// the template of the server opens it. It is safe for concurrent use.
type knownThinkers struct {
	mu     sync.Mutex
	models map[string]bool
}

func (k *knownThinkers) has(model string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.models[model]
}

func (k *knownThinkers) note(model string, unopened bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.models == nil {
		k.models = map[string]bool{}
	}
	k.models[model] = unopened
}
