package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/standin"
)

// TestOpenAIClients lets the official clients of OpenAI hold a whole conversation with
// the server, of which they know the address alone.
func TestOpenAIClients(t *testing.T) {
	t.Parallel()
	python := standin.Program{Path: "openai/bin/python", Install: ".ci/stand-ins"}.Installed(t)
	script := standin.Program{Path: "openai-js/node_modules/openai/package.json", Install: ".ci/stand-ins"}.Installed(t)
	node, err := exec.LookPath("node")
	if err != nil {
		lacking := "install nodejs (Debian's package of that name) to run OpenAI's JavaScript client"
		if os.Getenv("CI") != "" {
			t.Fatal(lacking)
		}
		t.Skip(lacking)
	}
	s := start(t)
	s.publish(t, "pier.txt", "The northern pier has a lighthouse. It is painted red.")
	for name, command := range map[string][]string{
		"python": {python, "clients/openai_client.py"}, "javascript": {node, "clients/openai_client.mjs"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, command[0], command[1:]...)
			c.Env = append(os.Environ(),
				"OPENAI_BASE_URL="+s.ends.API+"/v1", "OPENAI_API_KEY="+s.key, "OPENAI_PACKAGE="+filepath.Dir(filepath.Dir(filepath.Dir(script))),
				"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
			out, err := c.CombinedOutput()
			if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "done") {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

// responseEvent is an event of a response.
type responseEvent struct {
	Type     string
	Number   int `json:"sequence_number"`
	Delta    string
	Response struct {
		Status string
		Output []struct {
			Content []struct{ Text string }
		}
	}
}

// readResponse reads the events of a response behind one of them, until stop returns true
// or the stream ends.
func (s *server) readResponse(t *testing.T, id string, after int, stop func(responseEvent) bool) (list []responseEvent) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/v1/responses/%s?stream=true&starting_after=%d", s.ends.API, id, after), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var event responseEvent
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if list = append(list, event); stop(event) {
			break
		}
	}
	return list
}

// TestOpenAIResponseSurvivesAKill follows a response in the background over a kill of the
// whole server, from the event at which its reader was cut off.
func TestOpenAIResponseSurvivesAKill(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 60, TokenDelay: 50 * time.Millisecond})
	s := start(t, at(m.URL())...)
	s.publish(t, "pier", "The northern pier has a lighthouse.")
	var made struct{ ID, Status string }
	if status := s.call(t, "POST", "/v1/responses", map[string]any{"model": "project:default", "input": "What is on the northern pier?", "background": true}, &made); status != http.StatusOK || made.Status != "in_progress" {
		t.Fatalf("status %d, %+v", status, made)
	}
	deltas := 0
	events := s.readResponse(t, made.ID, -1, func(e responseEvent) bool {
		if e.Delta != "" {
			deltas++
		}
		return deltas == 3
	})
	s.kill()
	s.restart()
	events = append(events, s.readResponse(t, made.ID, events[len(events)-1].Number, func(responseEvent) bool { return false })...)
	text, last := "", events[len(events)-1]
	for i, e := range events {
		if e.Number != i {
			t.Fatalf("event %d has the number %d", i, e.Number)
		}
		text += e.Delta
	}
	if last.Type != "response.completed" || last.Response.Status != "completed" {
		t.Fatalf("the last event is %+v", last)
	}
	wantSame(t, "the text that was read", text, last.Response.Output[len(last.Response.Output)-1].Content[0].Text)
}
