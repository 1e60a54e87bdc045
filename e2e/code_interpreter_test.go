package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestCodeInterpreter asks about a table that is attached to a conversation. The model
// has code draw it, and the link of the plot opens without a key.
func TestCodeInterpreter(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bwrap"); err != nil {
		const lacking = "no code runs here: apt-get install bubblewrap python3-pandas python3-matplotlib"
		if os.Getenv("CI") != "" {
			t.Fatal(lacking)
		}
		t.Skip(lacking)
	}
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	var conversation struct{ ID string }
	if status := s.call(t, "POST", "/workspaces/default/conversations", map[string]any{}, &conversation); status != http.StatusCreated {
		t.Fatalf("no conversation: status %d", status)
	}
	s.publishWith(t, "sales.csv", "month,sold\n1,3\n2,5\n", map[string]any{"conversationId": conversation.ID})
	change := map[string]any{"tools": map[string]any{"code_interpreter": true}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, nil); status != http.StatusOK {
		t.Fatalf("the project is refused: status %d", status)
	}
	const code = `{"language":"python","code":"import pandas as pd\nd = pd.read_csv('sales.csv')\nd.plot(x='month', y='sold')\nd.to_csv('again.csv')\nd.sold.sum()"}`
	const second = `{"language":"python","code":"print(open('again.csv').read())\nraise ValueError('no more')"}`
	m.ScriptChat(
		modeltest.Call(model.ToolCall{ID: "draw", Name: "code_interpreter", Arguments: code}),
		modeltest.Call(model.ToolCall{ID: "again", Name: "code_interpreter", Arguments: second}),
		modeltest.Text("Eight were sold."))
	var answer struct {
		Answer    string
		ToolCalls []struct {
			ID, Status string
			Files      []struct {
				Name, MediaType, URL string
				Bytes                int64
			}
		}
	}
	body := map[string]any{"text": "How many were sold?", "projectId": "default", "conversationId": conversation.ID}
	if status := s.call(t, "POST", webhooks+"/query", body, &answer); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	requests := m.Requests()
	var told []string
	for _, message := range requests[len(requests)-1].Messages {
		if message.ToolCallID != "" {
			told = append(told, string(message.Content))
		}
	}
	if len(told) != 2 || !strings.Contains(told[0], `8\n`) && !strings.Contains(told[0], "8\n") || !strings.Contains(told[1], "ValueError: no more") || !strings.Contains(told[1], "1,2,5") {
		t.Errorf("the model is told %q", told)
	}
	if len(answer.ToolCalls) != 2 || answer.ToolCalls[1].Status != "completed" || len(answer.ToolCalls[0].Files) != 2 {
		t.Fatalf("the answer has the calls %+v", answer.ToolCalls)
	}
	plot := answer.ToolCalls[0].Files[1]
	res, err := http.Get(s.ends.API + plot.URL) //nolint:noctx // a link as a browser opens it
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	head := make([]byte, 4)
	t.Run("a cancel stops the code", func(t *testing.T) {
		const program = "/usr/bin/sleep"
		argument := fmt.Sprintf("86399.%d", os.Getpid()) // that no other test has
		long := `{"language":"python","code":"import subprocess\nsubprocess.run(['` + program + `', '` + argument + `'])"}`
		m.ScriptChat(modeltest.Call(model.ToolCall{ID: "long", Name: "code_interpreter", Arguments: long}))
		a := s.query(t, "How long does it take?")
		r := &reader{run: a.run, body: a}
		r.until(t, func(list []event) bool { return len(statuses(t, list)) > 0 })
		runs := func(want bool) func(context.Context) error {
			return func(context.Context) error {
				if got := processes(program, argument); (len(got) > 0) != want {
					return fmt.Errorf("the code has the processes %v", got)
				}
				return nil
			}
		}
		await(t, time.Minute, "the code runs", runs(true))
		s.wantCanceled(t, r)
		await(t, 30*time.Second, "the code has ended", runs(false))
	})
	if _, err := res.Body.Read(head); err != nil || string(head) != "\x89PNG" || res.StatusCode != http.StatusOK || plot.MediaType != "image/png" || res.ContentLength != plot.Bytes {
		t.Errorf("%+v opens %d %q of %d bytes: %v", plot, res.StatusCode, head, res.ContentLength, err)
	}
}

// processes returns the files in /proc of the command lines that have exactly these words.
func processes(words ...string) (found []string) {
	want := []byte(strings.Join(words, "\x00") + "\x00")
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well-formed
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Equal(line, want) { // an error: it has ended
			found = append(found, file)
		}
	}
	return found
}
