package activitytest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Ask stores the request of a question.
func (f *Fixture) Ask(question string, change ...func(*knowledge.Request)) knowledge.RunRef {
	f.Helper()
	request := knowledge.Request{
		Principal: Member(), Kind: "query", Question: question, Config: knowledge.ProjectConfig{}.WithDefaults(),
		Date: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC),
	}
	for _, c := range change {
		c(&request)
	}
	run := knowledge.RunRef{Workspace: "w", Project: "p", Run: knowledge.NewID()}
	_, err := f.Blobs.PutJSON(f.Ctx, run.RequestKey(), request)
	f.Must(err)
	return run
}

// Attempts returns the contexts of n attempts of one activity. They do not end with
// the attempts.
func Attempts(t *testing.T, n int) []context.Context {
	t.Helper()
	var list []context.Context
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(Quiet())
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(attempt(func(ctx context.Context) error {
		if list = append(list, context.WithoutCancel(ctx)); len(list) < n {
			return fmt.Errorf("attempt %d", len(list))
		}
		return nil
	}).Attempt)
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Millisecond},
		})
		return workflow.ExecuteActivity(ctx, "Attempt").Get(ctx, nil)
	})
	if err := env.GetWorkflowError(); err != nil || len(list) != n {
		t.Fatalf("%d attempts, %v", len(list), err)
	}
	return list
}

// ReadAnswer returns the text that a reader of a log has, the words since the last reset,
// and the number of resets.
func ReadAnswer(t *testing.T, items []stream.Item) (text string, resets int) {
	t.Helper()
	for i, item := range items {
		if item.Offset != items[0].Offset+int64(i) {
			t.Errorf("item %d has offset %d", i, item.Offset)
		}
		event, err := stream.DecodeEvent(item.Data)
		if err != nil {
			t.Error(err)
		}
		switch item.Topic {
		case stream.TopicDelta:
			text += event.Text
		case stream.TopicReset:
			text, resets = "", resets+1
		}
	}
	return text, resets
}

// WantAnswer checks the text that readers have after the workflow has added the tail of a
// call.
func (f *Fixture) WantAnswer(result answering.ModelCallResult, text string, resets int) {
	f.Helper()
	got, n := ReadAnswer(f.T, f.Workflows.Items())
	if got += result.Tail; got != text || n != resets {
		f.Errorf("after %d resets readers have %q, want %q after %d", n, got, text, resets)
	}
}

// Asked stores a question about apples and runs its first search.
func (f *Fixture) Asked(change ...func(*knowledge.Request)) answering.ModelCallInput {
	f.Helper()
	run := f.Ask("apples", change...)
	search, err := Do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
	f.Must(err)
	return answering.ModelCallInput{RunRef: run, Turn: 1, Loop: record.Loop{Found: search.Found}}
}

// Sent returns the text of the messages of the last request to the model.
func (f *Fixture) Sent() string {
	f.Helper()
	requests := f.Server.Requests()
	var all strings.Builder
	for _, m := range requests[len(requests)-1].Messages {
		all.WriteString(string(m.Content) + "\n")
	}
	return all.String()
}

// Holding returns the files that contain some words.
func (f *Fixture) Holding(words string) []string {
	f.Helper()
	var files []string
	f.Must(filepath.WalkDir(f.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(words)) {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// attempt is an activity whose method has a name.
type attempt func(context.Context) error

// Attempt calls the function.
func (a attempt) Attempt(ctx context.Context) error { return a(ctx) }
