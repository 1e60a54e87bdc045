package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	temporal "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/worker"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/stream"
)

// TestMain lets the test binary also be cairn up without a workflow cache,
// the parser that cairn up starts, and cairn ask. The SDK has one cache for a process, which
// cannot be configured from outside.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "up" || os.Args[1] == "parse" || os.Args[1] == "ask") {
		sdk.SetStickyWorkflowCacheSize(0)
		main()
	}
	os.Exit(m.Run())
}

// cacheless is a running server without a workflow cache, with clients for it.
type cacheless struct {
	*client.Client
	ctx      context.Context // ends when a workflow must be stuck
	api, key string
	operator temporal.Client
}

func startCacheless(t *testing.T, m *modeltest.Server) *cacheless {
	t.Helper()
	folder := t.TempDir()
	child := childserver.New(childserver.Config{
		Program: os.Args[0], Data: folder, Log: filepath.Join(t.TempDir(), "log"), Env: childserver.Models(m.URL(), modeltest.ModelName),
	})
	t.Cleanup(func() {
		if err := child.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the server's last lines:\n%s", child.LastLines(30))
		}
	})
	if err := child.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s := &cacheless{ctx: ctx, api: child.Endpoints().API, key: child.Key()}
	var err error
	if s.Client, err = child.Client(); err != nil {
		t.Fatal(err)
	}
	s.operator, err = temporal.DialContext(t.Context(), temporal.Options{
		HostPort: child.Endpoints().Temporal, Namespace: "cairn", Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.operator.Close)
	return s
}

// TestWithoutAWorkflowCache ingests, answers and removes with a replay from the
// first event for every workflow task: a workflow that is not deterministic
// gets stuck.
func TestWithoutAWorkflowCache(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Options{TokenDelay: 10 * time.Millisecond, EmbeddingDelay: 20 * time.Millisecond})
	t.Cleanup(m.Close)
	s := startCacheless(t, m)
	var text strings.Builder
	for i := range 300 { // several batches of passages, and too large for local activities
		fmt.Fprintf(&text, "# Pier %d\n\nPier %d has a lighthouse. %s\n\n", i, i, strings.Repeat("Ships pass it by day and by night. ", 26))
	}
	d := s.publish(t, "piers.md", text.String())
	small := s.publish(t, "lights.txt", "The northern pier has a lighthouse.")
	query := s.answer(t, m)
	tool := s.ragSearch(t, m)
	s.wantReplays(t, knowledge.KindIngest.WorkflowID("default", d.ID), 4) // the removal deletes this history
	removal, err := s.RemoveDocument(s.ctx, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.end(t, s.Events(s.ctx, removal.RunID, 0), client.EventEnded)
	for workflow, tasks := range map[string]int{
		knowledge.KindIngest.WorkflowID("default", small.ID): 1, knowledge.KindQuery.WorkflowID("default", query): 4,
		knowledge.KindTool.WorkflowID("default", tool): 3, knowledge.KindRemove.WorkflowID("default", d.ID): 1,
	} {
		s.wantReplays(t, workflow, tasks)
	}
}

// publish adds a text and waits until it is published.
func (s *cacheless) publish(t *testing.T, name, text string) client.Document {
	t.Helper()
	d, err := s.AddDocument(s.ctx, client.NewDocument{Project: "default", Name: name, ExternalID: name, Content: client.Content{Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	s.end(t, s.Events(s.ctx, d.RunID, 0), client.EventEnded)
	if d, err = s.Document(s.ctx, d.ID); err != nil || d.Status != knowledge.StatusPublished || d.ChunkCount == 0 {
		t.Fatalf("%s is %s with %d passages: %v", name, d.Status, d.ChunkCount, err)
	}
	return d
}

// end reads events up to the run's last one, which must have the given name.
func (s *cacheless) end(t *testing.T, events iter.Seq2[client.Event, error], name string) (all []client.Event) {
	t.Helper()
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, e); e.ID != int64(len(all)) {
			t.Fatalf("event %d came after %d others", e.ID, len(all)-1)
		}
	}
	if len(all) == 0 || all[len(all)-1].Name != name {
		t.Fatalf("the events do not end with %s: %+v", name, all)
	}
	return all
}

// answer asks a question for which the model searches twice, and reads its
// events over HTTP and from the workflow's stream.
func (s *cacheless) answer(t *testing.T, m *modeltest.Server) (run string) {
	t.Helper()
	want := strings.Repeat("There is a lighthouse. ", 50)
	m.ScriptChat(modeltest.Reply{Text: "Let me see.", ToolCalls: []model.ToolCall{
		{ID: "call_1", Name: "documents_rag", Arguments: `{"query":"lighthouses"}`},
		{ID: "call_2", Name: "documents_rag", Arguments: `{"query":"ships at night"}`},
	}}, modeltest.Text(want+"<source_1>"))
	var polled string
	var polling sync.WaitGroup
	events := s.end(t, func(yield func(client.Event, error) bool) {
		for e, err := range s.Ask(s.ctx, client.Question{Project: "default", Text: "What is on pier 7?"}) {
			var started client.Started
			if e.Name == client.EventStarted {
				if err = e.Decode(&started); err == nil {
					run = started.RunID
					polling.Go(func() { polled = s.poll(t, run) })
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}, client.EventCompleted)
	polling.Wait()
	read := ""
	for _, e := range events {
		var words client.TextChunk
		switch e.Name {
		case client.EventChunk:
			if err := e.Decode(&words); err != nil {
				t.Fatal(err)
			}
			read += words.Chunk.Data
		case client.EventReset:
			read = ""
		}
	}
	var answer client.Answer
	if err := events[len(events)-1].Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(answer.Text, want) || read != answer.Text || len(answer.Sources) == 0 {
		t.Errorf("the answer is %q with %d sources, readers have %q", answer.Text, len(answer.Sources), read)
	}
	if polled == "" || !strings.HasPrefix(answer.Text, polled) {
		t.Errorf("the workflow's stream has %q of the answer", polled)
	}
	return run
}

// poll reads the text of a run by updates of its workflow until the workflow
// ends. The last text may then be only in the store.
func (s *cacheless) poll(t *testing.T, run string) (text string) {
	for offset := int64(0); ; {
		handle, err := s.operator.UpdateWorkflow(s.ctx, temporal.UpdateWorkflowOptions{
			WorkflowID: knowledge.KindQuery.WorkflowID("default", run), UpdateName: stream.UpdatePoll, WaitForStage: temporal.WorkflowUpdateStageCompleted,
			Args: []any{stream.PollInput{FromOffset: offset}},
		})
		var page stream.Page
		if err == nil {
			err = handle.Get(s.ctx, &page)
		}
		if _, ended := errors.AsType[*serviceerror.NotFound](err); ended {
			return text
		}
		if err != nil {
			t.Errorf("poll from %d: %v", offset, err)
			return text
		}
		for _, item := range page.Items {
			event, err := stream.DecodeEvent(item.Data)
			if err != nil {
				t.Error(err)
			}
			switch item.Topic {
			case stream.TopicDelta:
				text += event.Text
			case stream.TopicReset:
				text = ""
			case stream.TopicCompleted, stream.TopicError:
				return text
			}
		}
		offset = page.NextOffset
	}
}

// ragSearch runs the tool and returns its run.
func (s *cacheless) ragSearch(t *testing.T, m *modeltest.Server) (run string) {
	t.Helper()
	m.ScriptChat(modeltest.Text(strings.Repeat("It shines. ", 50) + "<source_1>"))
	req, err := http.NewRequestWithContext(s.ctx, http.MethodPost, s.api+"/tools/rag_search", strings.NewReader(`{"query":"What shines?","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if run = res.Header.Get("Cairn-Run-Id"); res.StatusCode != http.StatusOK || run == "" {
		t.Fatalf("rag_search: status %d", res.StatusCode)
	}
	events := s.end(t, s.Events(s.ctx, run, 0), client.EventToolEnd)
	if last := events[len(events)-1]; !strings.Contains(string(last.Data), strings.Repeat("It shines. ", 50)) {
		t.Errorf("rag_search returned %s", last.Data)
	}
	return run
}

// wantReplays checks that a workflow has ended without a failed task, had at
// least tasks workflow tasks, and that no worker had it in its cache for any of
// them.
func (s *cacheless) wantReplays(t *testing.T, workflow string, tasks int) {
	t.Helper()
	if err := s.operator.GetWorkflow(s.ctx, workflow, "").Get(s.ctx, nil); err != nil {
		t.Errorf("%s ended with %v", workflow, err)
	}
	replays := 0
	for events := s.operator.GetWorkflowHistory(s.ctx, workflow, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		switch e.EventType {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
			replays++
			if kind := e.GetWorkflowTaskScheduledEventAttributes().GetTaskQueue().GetKind(); kind != enumspb.TASK_QUEUE_KIND_NORMAL {
				t.Errorf("%s: event %d went to a worker's cache: %s", workflow, e.EventId, kind)
			}
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			t.Errorf("%s: %s", workflow, e)
		}
	}
	t.Logf("%s: %d workflow tasks", workflow, replays)
	if replays < tasks {
		t.Errorf("%s had %d workflow tasks, want %d", workflow, replays, tasks)
	}
}
