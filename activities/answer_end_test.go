package activities_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// toFinish returns the input of FinishAnswer for a question of a conversation whose
// model has answered.
func (f *fixture) toFinish(conversation string) activities.FinishAnswerInput {
	f.Helper()
	_, err := f.store.EnsureConversation(f.ctx, member(), store.Conversation{ID: conversation, Project: "p"})
	f.must(err)
	run := f.ask("when are apples picked?", func(r *knowledge.Request) {
		r.ConversationID, r.QuestionID, r.MessageID = conversation, "question", "answer"
	})
	f.must(f.store.AddRun(f.ctx, store.Run{
		ID: run.Run, Workspace: "w", Project: "p", Kind: "query", Owner: member().Owner(), ConversationID: conversation,
	}))
	key := run.TurnKey(1)
	_, err = f.blobs.PutJSON(f.ctx, key, activities.TurnRecord{Text: "In autumn.", Model: "m"})
	f.must(err)
	entry, err := stream.NewEntry(stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: "In autumn."})
	f.must(err)
	return activities.FinishAnswerInput{
		RunRef: run, Status: knowledge.RunCompleted, Workflow: "AnswerQuery", Loop: activities.Loop{Answer: key},
		Items: []stream.Item{{Topic: entry.Topic, Data: entry.Data, Offset: 3}},
	}
}

// cutRuns wraps the store and ends FinishAnswer between two of its effects.
type cutRuns struct {
	activities.RunEnds
	beforeEnd func() error
}

func (r cutRuns) EndAnswer(ctx context.Context, workspace, id string, end store.RunEnd, messages ...store.Message) error {
	if err := call(r.beforeEnd); err != nil {
		return err
	}
	return r.RunEnds.EndAnswer(ctx, workspace, id, end, messages...)
}

func TestFinishAnswerThatDies(t *testing.T) {
	t.Parallel()
	kill := func() error { return errKilled }
	for name, cut := range map[string]func(*fixture, *activities.FinishAnswerInput){
		"before the end of the run": func(f *fixture, _ *activities.FinishAnswerInput) {
			f.answering.Runs = cutRuns{RunEnds: f.store, beforeEnd: kill}
		},
		"for want of a search": func(_ *fixture, in *activities.FinishAnswerInput) {
			in.Loop.Searches = []string{in.SearchKey(9, 9)}
		},
		"for want of a part of the log": func(_ *fixture, in *activities.FinishAnswerInput) { in.Segments = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			in := f.toFinish("talk")
			stop := f.hub.Follow(in.Run)
			defer stop()
			broken := in
			cut(f, &broken)
			f.failed(step(f, f.answering.FinishAnswer, broken), knowledge.CodeInternal, true)
			run, err := f.store.RunForSystem(f.ctx, "w", in.Run)
			f.must(err)
			given, ended, _, _ := f.hub.Since(in.Run, 3)
			if run.Status != knowledge.RunRunning || ended || len(given) != 0 {
				t.Errorf("the run is %s; the hub has %d items, ended: %t", run.Status, len(given), ended)
			}
			f.answering.Runs = f.store
			f.must(step(f, f.answering.FinishAnswer, in))
			run, err = f.store.RunForSystem(f.ctx, "w", in.Run)
			f.must(err)
			talk, err := f.store.History(f.ctx, member(), "talk", 10)
			f.must(err)
			messages := talk.Messages
			if run.Status != knowledge.RunCompleted || len(messages) != 2 || messages[1].Text != "In autumn." {
				t.Errorf("the run is %s with messages %+v", run.Status, messages)
			}
			given, ended, _, _ = f.hub.Since(in.Run, 3)
			if diff := cmp.Diff(in.Items, given); diff != "" || !ended {
				t.Errorf("the hub has the end: %t, %s", ended, diff)
			}
		})
	}
}

// TestFinishAnswerOfADeletedConversation deletes a conversation while one of its
// questions is answered.
func TestFinishAnswerOfADeletedConversation(t *testing.T) {
	t.Parallel()
	for _, status := range []knowledge.RunStatus{knowledge.RunCompleted, knowledge.RunFailed} {
		f := newFixture(t)
		in := f.toFinish("talk")
		in.Status = status
		f.must(f.store.DeleteConversation(f.ctx, member(), "talk"))
		for range 2 {
			f.must(step(f, f.answering.FinishAnswer, in))
		}
		run, err := f.store.RunForSystem(f.ctx, "w", in.Run)
		f.must(err)
		if run.Status != status {
			t.Errorf("the run is %s, want %s", run.Status, status)
		}
		if _, err := f.store.Conversation(f.ctx, member(), "talk"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
			t.Errorf("the conversation is back: %v", err)
		}
	}
}

// TestWrongNumberOfVectors answers a batch of one text with a wrong number of
// vectors of the right length.
func TestWrongNumberOfVectors(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 2} {
		f := newFixture(t)
		in := f.upload("a.txt", "some text")
		embed := activities.EmbedInput{StepInput: in, Last: f.prepare(in), Count: 1}
		numbers := strings.TrimSuffix(strings.Repeat("0.5,", localmodel.Dimensions), ",")
		vectors := []string{}
		for i := range count {
			vectors = append(vectors, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%s]}`, i, numbers))
		}
		f.server.ScriptEmbeddings(modeltest.Reply{
			Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
			Body: `{"object":"list","data":[` + strings.Join(vectors, ",") + `],"usage":{"prompt_tokens":1}}`,
		})
		err := step(f, f.ingestion.EmbedChunks, embed)
		f.failed(err, knowledge.CodeProviderFailed, true)
		if keys := f.vectors(in); len(keys) != 0 {
			t.Errorf("%d vectors for a text: stored %v", count, keys)
		}
	}
}
