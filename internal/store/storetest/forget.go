package storetest

import (
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// rewrites replaces the words of an answer, with which the summary of its conversation goes.
func rewrites(f *fixture) {
	f.cite(reader("ann"), "talk", "m1")
	f.cite(reader("ann"), "other", "m2")
	f.must(f.SaveSummary(f.ctx, "acme", "talk", "m1", "of a pier"))
	f.must(f.SaveSummary(f.ctx, "acme", "other", "m2", "of ropes"))
	f.must(f.RewriteMessage(f.ctx, "elsewhere", store.Message{ID: "m1", ConversationID: "talk", Text: "foreign"}))
	f.must(f.RewriteMessage(f.ctx, "acme", store.Message{ID: "m1", ConversationID: "talk", Text: "less"}))
	for talk, want := range map[string]store.History{"talk": {Messages: []store.Message{{Text: "less"}}}, "other": {Summary: "of ropes", Messages: []store.Message{}}} {
		got, err := f.History(f.ctx, reader("ann"), talk, 5)
		f.must(err)
		for i, m := range got.Messages {
			got.Messages[i] = store.Message{Text: m.Text}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.Errorf("%s: %s", talk, diff)
		}
	}
}

// answersOfRuns lists the questions that have ended, page by page, and their answers.
func answersOfRuns(f *fixture) {
	_, err := f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: "talk"})
	f.must(err)
	talking := func(r *store.Run) { r.ConversationID = "talk" }
	for _, r := range []store.Run{run("a", talking), run("b", talking), run("c", talking), run("running", talking),
		run("ingest", func(r *store.Run) { r.Kind = knowledge.KindIngest }), run("d", func(r *store.Run) { r.Workspace = "other" })} {
		f.must(f.AddRun(f.ctx, r))
		if r.ID == "running" {
			continue
		}
		f.must(f.EndAnswer(f.ctx, r.Workspace, r.ID, store.RunEnd{Kind: r.Kind, Status: knowledge.RunCompleted, ResultKey: "key", At: time.Now()},
			store.Message{ID: "question-" + r.ID, ConversationID: "talk", RunID: r.ID, Role: "user", Text: "Why?"},
			store.Message{ID: "answer-" + r.ID, ConversationID: "talk", RunID: r.ID, Role: "assistant", Text: "So. " + r.ID}))
	}
	var got []string
	for after := ""; ; {
		page, err := f.EndedAnswers(f.ctx, "acme", after, 2)
		f.must(err)
		for _, r := range page {
			messages, err := f.AnswerMessages(f.ctx, r)
			f.must(err)
			for _, m := range messages {
				got = append(got, m.Text)
			}
			after = r.ID
		}
		if len(page) < 2 {
			break
		}
	}
	if diff := cmp.Diff([]string{"So. a", "So. b", "So. c"}, got); diff != "" {
		f.Error(diff)
	}
}

// wordsOfDocument reads the texts of all versions of a document that the principal may change.
func wordsOfDocument(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "one", "two")
	f.publish(upload("b.txt"), "three")
	words := func(p knowledge.Principal) (list []string, err error) {
		err = f.DocumentWords(f.ctx, p, v.Document, func(text string) { list = append(list, text) })
		slices.Sort(list)
		return list, err
	}
	got, err := words(manager("acme"))
	if diff := cmp.Diff([]string{"one", "two"}, got); diff != "" || err != nil {
		f.Errorf("%v, %s", err, diff)
	}
	_, err = words(manager("other"))
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = words(reader("ann"))
	f.wantCode(err, knowledge.CodeForbidden)
	r, err := f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	f.must(f.RemoveRows(f.ctx, r))
	if got, err := words(manager("acme")); err != nil || len(got) != 0 {
		f.Errorf("of a removed document there are %q, %v", got, err)
	}
}
