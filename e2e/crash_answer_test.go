package e2e_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/sse"
)

// silenceLimit is generous, because the benchmark measures how long readers wait.
const silenceLimit = 10 * time.Second

// reader reads one run over any number of kills. Like a browser, it reconnects
// with the id of the last event that it saw.
type reader struct {
	run  string
	last int64
	body asked
	list []event

	// stream continues where the last until left it: what was read of the body beyond the
	// last event is not lost.
	stream iter.Seq2[sse.Event, error]
	read   io.Reader // the body of stream
}

// until reads until enough returns true or the run ends.
func (r *reader) until(t *testing.T, enough func([]event) bool) {
	t.Helper()
	if r.read != r.body.body {
		r.read = r.body.body
		next, stop := iter.Pull2(sse.Read(r.read))
		t.Cleanup(stop)
		r.stream = func(yield func(sse.Event, error) bool) {
			for {
				if e, err, more := next(); !more || !yield(e, err) {
					return
				}
			}
		}
	}
	var err error
	r.last, err = eventsOf(r.stream, r.last, func(e event) bool {
		r.list = append(r.list, e)
		return !e.terminal() && !enough(r.list)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *reader) ended() bool { return len(r.list) > 0 && r.list[len(r.list)-1].terminal() }

// reconnect opens the stream again after the last event and reads on. It returns
// how long the next event took.
func (r *reader) reconnect(t *testing.T, s *server, enough func([]event) bool) (silence time.Duration) {
	t.Helper()
	began := time.Now()
	res, err := s.send(t.Context(), "GET", "/runs/"+r.run+"/events?compact=true", nil, "Last-Event-ID", strconv.FormatInt(r.last, 10))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("events of run %s: status %d", r.run, res.StatusCode)
	}
	before := len(r.list)
	r.body = asked{run: r.run, body: res.Body}
	r.until(t, func(list []event) bool {
		if len(list) == before+1 {
			silence = time.Since(began)
		}
		return enough(list)
	})
	return silence
}

func never([]event) bool { return false }

// words returns a condition that holds once the text of the events has n words.
func words(t *testing.T, n int, text func(*testing.T, []event) string) func([]event) bool {
	return func(list []event) bool { return strings.Count(text(t, list), "word") >= n }
}

func answerText(t *testing.T, list []event) string { return read(t, list).text }

// toolText joins the fragments of a rag_search. An answer that starts over drops
// the fragments before.
func toolText(t *testing.T, list []event) string {
	t.Helper()
	text := ""
	for _, e := range list {
		switch e.Name {
		case "tool_update":
			if u := toolUpdate(t, e); (u.phase == "COMPILING_RESULTS" || u.phase == "GENERATION") && u.status == "started" {
				text = ""
			}
		case "tool_partial_update":
			var fragment struct{ Content string }
			e.decode(t, &fragment)
			text += fragment.Content
		}
	}
	return text
}

type update struct{ phase, status string }

func toolUpdate(t *testing.T, e event) update {
	t.Helper()
	var u struct{ Phase, Status string }
	e.decode(t, &u)
	return update{u.Phase, u.Status}
}

// toolResponse returns the response in the last event of a rag_search.
func toolResponse(t *testing.T, list []event) string {
	t.Helper()
	e := list[len(list)-1]
	if e.Name != client.EventToolEnd {
		t.Fatalf("the tool ended with %s %s", e.Name, e.Data)
	}
	var end struct{ Response string }
	e.decode(t, &end)
	if end.Response == "" {
		t.Fatalf("no response in %s", e.Data)
	}
	return end.Response
}

func TestKillDuringAnAnswer(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	m := standIn(t, modeltest.Options{Tokens: 250, TokenDelay: 12 * time.Millisecond})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")

	for _, test := range []struct {
		name  string
		start func() asked
		text  func(*testing.T, []event) string
		final func(*testing.T, []event) string
	}{
		{
			"a question", func() asked { return s.query(t, "What is on the northern pier?") }, answerText,
			func(t *testing.T, list []event) string { return read(t, list).answer.Text },
		},
		{
			"rag_search", func() asked {
				return s.ask(t, "/tools/rag_search", map[string]any{"query": "What is on the northern pier?", "stream": true})
			}, toolText, toolResponse,
		},
	} {
		t.Run(test.name+" over two kills is read once and whole", func(t *testing.T) {
			a := test.start()
			r := &reader{run: a.run, body: a}
			r.until(t, words(t, 20+random.IntN(40), test.text))
			for kill, next := range []int{100 + random.IntN(60), 1000} {
				if r.ended() {
					t.Fatalf("the answer had ended before kill %d", kill+1)
				}
				s.kill()
				s.restart()
				silence := r.reconnect(t, s, words(t, next, test.text))
				t.Logf("kill %d: %v of silence behind the start", kill+1, silence.Round(time.Millisecond))
				if silence > silenceLimit {
					t.Errorf("readers received nothing for %v after the restart", silence)
				}
			}
			if !r.ended() {
				t.Fatalf("the stream broke off after event %d", r.last)
			}
			wantSame(t, "what the reader put together", test.text(t, r.list), test.final(t, r.list))
			again := s.follow(t, a.run, 0)
			wantSame(t, "what a later reader puts together", test.text(t, again), test.final(t, r.list))
			if len(again) != len(r.list) {
				t.Errorf("%d events later, %d at the time", len(again), len(r.list))
			}
			if n := strings.Count(test.final(t, r.list), "word"); n != 250 {
				t.Errorf("the answer has %d words of 250", n)
			}
		})
	}
	t.Run("cairn ask says that the connection is lost, and prints the whole answer", func(t *testing.T) {
		askOverAnOutage(t, s, 250, s.kill, s.restart)
	})
	t.Run("cairn ask says that a server is silent, and prints the whole answer", func(t *testing.T) {
		askOverAnOutage(t, s, 250, func() { s.signal(t, syscall.SIGSTOP) }, func() { s.signal(t, syscall.SIGCONT) })
	})
}

func TestKillBeforeAnAnswerThatDiffers(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	first := modeltest.Reply{Text: strings.Repeat("word ", 200), TokenDelay: 15 * time.Millisecond}
	second := strings.TrimSpace(strings.Repeat("another word ", 30))

	t.Run("of a question is reset and right", func(t *testing.T) {
		m.ScriptChat(first, modeltest.Text(second))
		a := s.query(t, "What is on the northern pier?")
		r := &reader{run: a.run, body: a}
		r.until(t, words(t, 20, answerText))
		s.kill()
		s.restart()
		r.reconnect(t, s, never)
		tr := read(t, r.list)
		wantSame(t, "the text", tr.text, second)
		wantSame(t, "the answer", tr.answer.Text, second)
		if tr.resets != 1 {
			t.Errorf("%d resets, want 1", tr.resets)
		}
		for _, e := range r.list {
			var reset client.Reset
			if e.Name != client.EventReset {
				continue
			}
			if e.decode(t, &reset); reset.Reason != "retry" || reset.Attempt < 2 {
				t.Errorf("reset %s", e.Data)
			}
		}
	})

	t.Run("of rag_search begins once more and is right", func(t *testing.T) {
		m.ScriptChat(first, modeltest.Text(second))
		a := s.ask(t, "/tools/rag_search", map[string]any{"query": "What is on the northern pier?", "stream": true})
		r := &reader{run: a.run, body: a}
		r.until(t, words(t, 20, toolText))
		s.kill()
		s.restart()
		r.reconnect(t, s, never)
		wantSame(t, "the text", toolText(t, r.list), second)
		wantSame(t, "the response", toolResponse(t, r.list), second)
		begun := 0
		for _, e := range r.list {
			if e.Name == "tool_update" && toolUpdate(t, e) == (update{"COMPILING_RESULTS", "started"}) {
				begun++
			}
		}
		if begun != 2 {
			t.Errorf("the answer began %d times, want 2", begun)
		}
	})
}

func wantSame(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want && want != "" {
		return
	}
	same := 0
	for same < min(len(got), len(want)) && got[same] == want[same] {
		same++
	}
	cut := func(s string) string { return fmt.Sprintf("%.80q", s[max(0, same-20):]) }
	t.Errorf("%s (%d bytes) is not what was stored (%d bytes); they part at %d: %s, %s", what, len(got), len(want), same, cut(got), cut(want))
}

// TestKillsBeyondTheTries kills the server more often than a model call may fail.
func TestKillsBeyondTheTries(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 200, TokenDelay: 15 * time.Millisecond})
	s := start(t, at(m.URL())...)
	a := s.query(t, "What is on the northern pier?")
	r := &reader{run: a.run, body: a}
	r.until(t, words(t, 10, answerText))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for kill := range 8 {
		if err := m.Wait(ctx, func(now modeltest.Totals) bool { return now.Chats.Asked > kill }); err != nil {
			t.Fatalf("the model was not asked after kill %d: %v", kill, err)
		}
		s.kill()
		s.restart()
	}
	r.reconnect(t, s, never)
	tr := read(t, r.list)
	wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
	if n := strings.Count(tr.text, "word"); n != 200 || tr.resets != 0 {
		t.Errorf("%d words of 200, %d resets", n, tr.resets)
	}
}
