package answering_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// toFinish returns the input of FinishAnswer for a question of a conversation whose
// model has answered.
func (f *fixture) toFinish(conversation string) answering.FinishAnswerInput {
	f.Helper()
	_, err := f.Store.EnsureConversation(f.Ctx, activitytest.Member(), store.Conversation{ID: conversation, Project: "p"})
	f.Must(err)
	run := f.Ask("when are apples picked?", func(r *knowledge.Request) {
		r.ConversationID, r.QuestionID, r.MessageID = conversation, "question", "answer"
	})
	f.Must(f.Store.AddRun(f.Ctx, store.Run{
		ID: run.Run, Workspace: "w", Project: "p", Kind: "query", Owner: activitytest.Member().Owner(), ConversationID: conversation,
	}))
	key := run.TurnKey(1)
	_, err = f.Blobs.PutJSON(f.Ctx, key, record.ModelCall{Text: "In autumn.", Model: "m"})
	f.Must(err)
	entry, err := stream.NewEntry(stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: "In autumn."})
	f.Must(err)
	return answering.FinishAnswerInput{
		RunRef: run, Status: knowledge.RunCompleted, Workflow: "AnswerQuery", Loop: record.Loop{Answer: key},
		Items: []stream.Item{{Topic: entry.Topic, Data: entry.Data, Offset: 3}},
	}
}

// cutRuns wraps the store and ends FinishAnswer between two of its effects.
type cutRuns struct {
	step.RunEnds
	beforeEnd func() error
}

func (r cutRuns) EndAnswer(ctx context.Context, workspace, id string, end store.RunEnd, messages ...store.Message) error {
	if err := activitytest.Dies(r.beforeEnd); err != nil {
		return err
	}
	return r.RunEnds.EndAnswer(ctx, workspace, id, end, messages...)
}

func TestFinishAnswerThatDies(t *testing.T) {
	t.Parallel()
	kill := func() error { return activitytest.ErrKilled }
	for name, cut := range map[string]func(*fixture, *answering.FinishAnswerInput){
		"before the end of the run": func(f *fixture, _ *answering.FinishAnswerInput) {
			f.AnswerWith(func(d *answering.Dependencies) { d.Runs = cutRuns{RunEnds: f.Store, beforeEnd: kill} })
		},
		"for want of a search": func(_ *fixture, in *answering.FinishAnswerInput) {
			in.Loop.Searches = []string{in.SearchKey(9, 9)}
		},
		"for want of a part of the log": func(_ *fixture, in *answering.FinishAnswerInput) { in.Segments = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			in := f.toFinish("talk")
			stop := f.Hub.Follow(in.Run)
			defer stop()
			broken := in
			cut(f, &broken)
			f.FailedWith(act(f, f.Answering.FinishAnswer, broken), knowledge.CodeInternal, true)
			run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
			f.Must(err)
			given, ended, _, _ := f.Hub.Since(in.Run, 3)
			if run.Status != knowledge.RunRunning || ended || len(given) != 0 {
				t.Errorf("the run is %s; the hub has %d items, ended: %t", run.Status, len(given), ended)
			}
			f.AnswerWith(func(d *answering.Dependencies) { d.Runs = f.Store })
			f.Must(act(f, f.Answering.FinishAnswer, in))
			run, err = f.Store.RunForSystem(f.Ctx, "w", in.Run)
			f.Must(err)
			talk, err := f.Store.History(f.Ctx, activitytest.Member(), "talk", 10)
			f.Must(err)
			messages := talk.Messages
			if run.Status != knowledge.RunCompleted || len(messages) != 2 || messages[1].Text != "In autumn." {
				t.Errorf("the run is %s with messages %+v", run.Status, messages)
			}
			given, ended, _, _ = f.Hub.Since(in.Run, 3)
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
		f.Must(f.Store.DeleteConversation(f.Ctx, activitytest.Member(), "talk"))
		for range 2 {
			f.Must(act(f, f.Answering.FinishAnswer, in))
		}
		run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		f.Must(err)
		if run.Status != status {
			t.Errorf("the run is %s, want %s", run.Status, status)
		}
		if _, err := f.Store.Conversation(f.Ctx, activitytest.Member(), "talk"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
			t.Errorf("the conversation is back: %v", err)
		}
	}
}
