package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// rpc is an answer of the A2A endpoint.
type rpc struct {
	Result struct {
		Task task
		task
	}
	Error *struct {
		Code    int
		Message string
	}
}

type task struct {
	ID        string
	ContextID string
	Status    struct{ State string }
	Artifacts []struct {
		Parts []struct{ Text string }
	}
}

// a2a calls the agent guide without credentials.
func (s *server) a2a(t *testing.T, method string, params any) (answer rpc) {
	t.Helper()
	body := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	if status := s.call(t, "POST", "/agents/guide/a2a", body, &answer, "Authorization", ""); status != http.StatusOK {
		t.Fatalf("%s: status %d", method, status)
	}
	return answer
}

func a2aMessage(id, text string) map[string]any {
	return map[string]any{"message": map[string]any{"messageId": id, "role": "ROLE_USER", "parts": []any{map[string]any{"text": text}}}, "configuration": map[string]any{"returnImmediately": true}}
}

// TestA2ATasksOutliveKills starts a task, kills the server in mid answer, and gets the whole answer
// from the server that comes after; another task is canceled.
func TestA2ATasksOutliveKills(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "pier.txt", "A lighthouse is on the northern pier.")
	s.putPublication(t, map[string]any{"limits": map[string]any{"requestsPerMinute": 100000, "visitorRequestsPerMinute": 100000}}) // it is asked often
	rest := make(chan struct{})
	m.ScriptChat(heldWords(200, rest), heldWords(200, rest)) // that of before the kill, and that of after it
	begun := s.a2a(t, "SendMessage", a2aMessage("one", "What is on the pier?")).Result.Task
	if begun.Status.State != "TASK_STATE_WORKING" || begun.ContextID == "" {
		t.Fatalf("the task is %+v", begun)
	}
	await(t, time.Minute, "the model is asked", func(context.Context) error {
		if m.Totals().Chats.Asked == 0 {
			return fmt.Errorf("it was not")
		}
		return nil
	})
	s.kill()
	close(rest)
	s.restart()
	await(t, time.Minute, "the task is completed", func(context.Context) error {
		now := s.a2a(t, "GetTask", map[string]any{"id": begun.ID}).Result
		if now.Status.State != "TASK_STATE_COMPLETED" {
			return fmt.Errorf("it is %s", now.Status.State)
		}
		if got := len(now.Artifacts[0].Parts[0].Text); got != len(slowWords(200).Text) {
			t.Errorf("the answer has %d bytes", got)
		}
		return nil
	})
	m.ScriptChat(slowWords(5000))
	other := s.a2a(t, "message/send", map[string]any{
		"message": map[string]any{"messageId": "two", "role": "user", "parts": []any{map[string]any{"kind": "text", "text": "And what else?"}}}, "configuration": map[string]any{"blocking": false},
	}).Result.task
	if other.Status.State != "working" || other.ContextID == begun.ContextID {
		t.Fatalf("the task is %+v", other)
	}
	s.a2a(t, "tasks/cancel", map[string]any{"id": other.ID})
	await(t, time.Minute, "the task is canceled", func(context.Context) error {
		if now := s.a2a(t, "tasks/get", map[string]any{"id": other.ID}).Result; now.Status.State != "canceled" {
			return fmt.Errorf("it is %s", now.Status.State)
		}
		return nil
	})
	for method, test := range map[string]struct {
		params any
		want   int
	}{
		"ListTasks":       {map[string]any{}, -32601},
		"GetTask":         {map[string]any{"id": begun.ID + "0"}, -32001},
		"CancelTask":      {map[string]any{"id": begun.ID}, -32002},
		"SendMessage":     {map[string]any{"message": map[string]any{"messageId": "three", "role": "ROLE_USER", "parts": []any{map[string]any{"url": "https://www.example.com"}}}}, -32005},
		"message/send":    {map[string]any{}, -32602},
		"tasks/get":       {map[string]any{}, -32602},
		"SubscribeToTask": {map[string]any{"id": begun.ID}, -32004},
	} {
		if got := s.a2a(t, method, test.params); got.Error == nil || got.Error.Code != test.want {
			t.Errorf("%s: %+v, want the code %d", method, got.Error, test.want)
		}
	}
}

// TestA2AClient lets the official Python client of the protocol converse with an agent.
func TestA2AClient(t *testing.T) {
	t.Parallel()
	folder := installedClients(t)
	if found, err := filepath.Glob(filepath.Join(folder, "python", "lib", "*", "site-packages", "a2a")); err != nil || len(found) == 0 {
		missing := "the A2A client is not installed: run .ci/stand-ins"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	s := start(t)
	s.publish(t, "pier.txt", "A lighthouse is on the northern pier. Ann keeps it.")
	s.putPublication(t, map[string]any{"starters": []string{"What is on the pier?"}})
	s.converse(t, folder, "a2a_client.py")
}

// TestA2AJavaScriptClient lets the official JavaScript client of the protocol converse with an
// agent, in either version: it streams a task, waits for one, reads them, and cancels a long one.
func TestA2AJavaScriptClient(t *testing.T) {
	t.Parallel()
	folder := installedClients(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "pier.txt", "A lighthouse is on the northern pier. Ann keeps it.")
	s.putPublication(t, map[string]any{"starters": []string{"What is on the pier?"}})
	for range 2 { // versions of the protocol
		m.ScriptChat(modeltest.Text("A lighthouse is on it [1]."),
			modeltest.Text("Who keeps the lighthouse?"), modeltest.Text("Ann keeps it [1]."), // the question alone, then its answer
			slowWords(5000))
	}
	s.converse(t, folder, "a2a_client.mjs")
}
