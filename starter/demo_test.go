package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/samples"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// fakeServer is a server that the witness can kill.
type fakeServer struct {
	log    []string
	broken error
}

func (m *fakeServer) Kill() error {
	m.log = append(m.log, "killed")
	return nil
}

func (m *fakeServer) Start(context.Context) error {
	m.log = append(m.log, "started")
	return m.broken
}

// eventsWithRestart yields events. Those after the kill come when the server is
// back.
func eventsWithRestart(w *witness, events ...client.Event) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		for i, e := range events {
			if w.restarted != nil {
				err := <-w.restarted
				w.restarted <- err // for the witness to receive
			}
			if e.ID == 0 {
				e.ID = int64(i + 1)
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func words(text string) client.Event {
	data, err := json.Marshal(map[string]any{"chunk": map[string]string{"data": text}})
	if err != nil {
		panic(err)
	}
	return client.Event{Name: client.EventChunk, Data: data}
}

func completed(text string, sources ...client.Source) client.Event {
	data, err := json.Marshal(client.Answer{Text: text, Sources: sources})
	if err != nil {
		panic(err)
	}
	return client.Event{Name: client.EventCompleted, Data: data}
}

func TestWitness(t *testing.T) {
	t.Parallel()
	started := client.Event{Name: client.EventStarted, Data: json.RawMessage(`{"runId":"run-1"}`)}
	reset := client.Event{Name: client.EventReset, Data: json.RawMessage(`{"attempt":2,"reason":"retry"}`)}
	placed := client.Source{Rank: 1, Page: 2, Boxes: client.Boxes{{Page: 2, Box: knowledge.Box{X2: 1, Y2: 1}}}, UsedInResponse: true}
	for _, test := range []struct {
		name   string
		events []client.Event
		broken error
		says   string // "" = no error
	}{
		{"an_answer_that_continues_passes", []client.Event{started, words("one two "), words("three"), completed("one two three", placed)}, nil, ""},
		{"an_answer_too_short_to_be_killed_in", []client.Event{started, words("one"), completed("one", placed)}, nil, "before the server could be killed"},
		{"nothing_left_to_say_after_the_kill", []client.Event{started, words("one two "), completed("one two ", placed)}, nil, "had ended when the server was killed"},
		{"a_missing_event", []client.Event{started, words("one two "), {ID: 4, Name: client.EventChunk}}, nil, "event 4 came after event 2"},
		{"an_event_twice", []client.Event{started, words("one two "), {ID: 2, Name: client.EventChunk}}, nil, "event 2 came after event 2"},
		{"starting_over", []client.Event{started, words("one two "), reset, words("one two three"), completed("one two three", placed)}, nil, "started over"},
		{"other_words_than_the_answer", []client.Event{started, words("one two "), words("four"), completed("one two three", placed)}, nil, "is not the answer"},
		{"no_place_on_a_page", []client.Event{started, words("one two "), words("three"), completed("one two three")}, nil, "page and a box"},
		{"a_server_that_does_not_come_back", []client.Event{started, words("one two "), words("three")}, errors.New("no disk"), "no disk"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out, aside bytes.Buffer
			server := &fakeServer{broken: test.broken}
			w := &witness{out: terminal.NewAnswer(&out), aside: &aside, server: server, killAfter: 5}
			answer, err := w.watch(t.Context(), eventsWithRestart(w, test.events...))
			if err == nil {
				err = w.verdict(answer)
			}
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("got %v, want %q in it", err, test.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"killed", "started"}, server.log); diff != "" {
				t.Errorf("the server (-want +got):\n%s", diff)
			}
			if out.String() != "one two three" || w.killedAt != 8 || w.events != 4 || w.eventsAfter != 2 {
				t.Errorf("printed %q, killed at %d, %d events, %d of them after it", out.String(), w.killedAt, w.events, w.eventsAfter)
			}
		})
	}
}

func TestTheDemoSendsEachSample(t *testing.T) {
	t.Parallel()
	documents, err := samples.Documents()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := folderEntries(documents, "")
	if err != nil {
		t.Fatal(err)
	}
	all, err := fs.Glob(documents, "*")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.name)
	}
	if diff := cmp.Diff(all, names); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

// TestTheDemoIngests has documents that tell how far they are and what they wait for.
func TestTheDemoIngests(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cairn-Run-Id", "run-1")
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"documents":[{"id":"d-1","status":"pending","version":1}],"import":null}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 1\nevent: documentUpdate\ndata: {\"stage\":\"embed\",\"progress\":0.6,\"waiting\":{\"attempt\":2,\"of\":60,\"message\":\"busy\"}}\n\n"+
			"id: 2\nevent: runEnded\ndata: {\"status\":\"completed\",\"result\":{\"id\":\"d-1\",\"status\":\"published\",\"chunkCount\":3}}\n\n")
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{URL: server.URL, Key: "k", Workspace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	d := demonstration{app: &app{stdout: &stdout, stderr: &stderr}, client: c}
	if err := d.ingest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stdout.String(), "published  handbook.md  3 chunks\n") || !strings.Contains(stderr.String(), "handbook.md waits: attempt 2 of 60, next now: busy\n") {
		t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
	}
}
