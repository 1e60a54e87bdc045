package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// testCombined is about what belongs together and is written in one transaction.
func testCombined(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"preparing_a_version_begins_it_and_stores_its_stage":         prepare,
		"preparing_stores_nothing_for_a_version_that_does_not_begin": prepareNothing,
		"publishing_writes_chunks_and_ends_the_run":                  publishAll,
		"publishing_keeps_the_chunks_that_are_written":               publishWritten,
		"without_publication_the_run_goes_on":                        publishNothing,
		"a_failed_end_publishes_nothing":                             publishFailedEnd,
		"starting_a_run_makes_its_conversation":                      startRun,
		"a_run_that_cannot_start_leaves_nothing":                     startNothing,
		"ending_an_answer_saves_its_messages":                        endAnswer,
		"ending_an_answer_leaves_a_deleted_conversation_deleted":     endAnswerDeleted,
		"a_message_that_cannot_be_saved_does_not_end_the_run":        endAnswerFailed,
	})
}

func (f *fixture) prepare(v store.Version, run string, facts store.Facts) store.Version {
	f.Helper()
	got, err := f.PrepareVersion(f.ctx, v.VersionRef, run, 7, knowledge.StageEmbed, 0.4, facts)
	f.must(err)
	return got
}

func (f *fixture) run(id string) store.Run {
	f.Helper()
	r, err := f.RunForSystem(f.ctx, "acme", id)
	f.must(err)
	return r
}

func prepare(f *fixture) {
	v := f.add(upload("a.txt"))
	facts := store.Facts{MediaType: "text/markdown", Language: "eng", Bytes: 5, ChunkCount: 3, PageCount: 2}
	for range 2 {
		got := f.prepare(v, v.RunID, facts)
		read, err := f.Version(f.ctx, v.VersionRef)
		f.must(err)
		for _, v := range []store.Version{got, read} {
			if !v.Begun || v.Stage != knowledge.StageEmbed || v.MediaType != "text/markdown" || v.Language != "eng" || v.Bytes != 5 || v.ChunkCount != 3 || v.PageCount != 2 {
				f.Errorf("version %+v", v)
			}
		}
		if d := f.document(v.Document); d.Stage != knowledge.StageEmbed || d.Progress != 0.4 || d.ChunkCount != 3 {
			f.Errorf("document %+v", d)
		}
		if r := f.run(v.RunID); r.FirstOffset != 7 {
			f.Errorf("its events begin at %d", r.FirstOffset)
		}
	}
}

func prepareNothing(f *fixture) {
	facts := store.Facts{ChunkCount: 3}
	unchanged := func(when string, v store.Version, run string) store.Version {
		f.Helper()
		got := f.prepare(v, run, facts)
		if got.ChunkCount != 0 || got.Stage == knowledge.StageEmbed || got.Begun {
			f.Errorf("%s: %+v", when, got)
		}
		return got
	}
	other := f.add(upload("other.txt"))
	unchanged("another run", other, "run")
	f.must(f.FailVersion(f.ctx, other.VersionRef, other.RunID, knowledge.DocumentError{Code: knowledge.CodeCanceled}))
	unchanged("a version that ended", other, other.RunID)

	overtaken := f.add(upload("a.txt"))
	f.publish(upload("a.txt"), "two")
	if got := unchanged("an older one than the published", overtaken, overtaken.RunID); got.Status != knowledge.StatusInactive {
		f.Errorf("it is %s", got.Status)
	}

	removing := f.add(upload("b.txt"))
	f.mark(removing.Document)
	if got := unchanged("a removed one", removing, removing.RunID); !got.Removing {
		f.Errorf("version %+v", got)
	}
	waiting := f.add(upload("b.txt"))
	if got := unchanged("one that waits for a removal", waiting, waiting.RunID); !got.Blocked {
		f.Errorf("version %+v", got)
	}
}

func publication(v store.Version, texts ...string) store.Publication {
	return store.Publication{
		Ref: v.VersionRef, RunID: v.RunID, Chunks: passages(v.VersionRef, texts...),
		End: &store.RunEnd{Status: knowledge.RunCompleted, LogKey: "log", At: time.Now()},
	}
}

func (f *fixture) publishVersion(p store.Publication, done bool) {
	f.Helper()
	got, err := f.PublishVersion(f.ctx, p)
	f.must(err)
	if got.Done != done {
		f.Errorf("published: %t, want %t", got.Done, done)
	}
}

func publishAll(f *fixture) {
	v := f.add(upload("a.txt"))
	p := publication(v, "one", "two")
	for range 2 {
		f.publishVersion(p, true)
		if diff := cmp.Diff([]string{"one", "two"}, f.sees(reader("ann"), p.Chunks...)); diff != "" {
			f.Error(diff)
		}
		if r := f.run(v.RunID); r.Status != knowledge.RunCompleted || r.LogKey != "log" || r.EndedAt.IsZero() {
			f.Errorf("run %+v", r)
		}
		p.End = &store.RunEnd{Status: knowledge.RunFailed, LogKey: "second"} // the first end counts
	}
}

func publishWritten(f *fixture) {
	v := f.add(upload("a.txt"))
	chunks := passages(v.VersionRef, "one", "two")
	f.must(f.PutChunks(f.ctx, v.VersionRef, chunks))
	f.publishVersion(store.Publication{Ref: v.VersionRef, RunID: v.RunID}, true)
	if diff := cmp.Diff([]string{"one", "two"}, f.sees(reader("ann"), chunks...)); diff != "" {
		f.Error(diff)
	}
	if r := f.run(v.RunID); r.Status != knowledge.RunRunning {
		f.Errorf("the run is %s", r.Status)
	}
}

func publishNothing(f *fixture) {
	running := func(when string, v store.Version) {
		f.Helper()
		f.publishVersion(publication(v, "unseen"), false)
		if r := f.run(v.RunID); r.Status != knowledge.RunRunning {
			f.Errorf("%s: the run is %s", when, r.Status)
		}
	}
	older := f.add(upload("a.txt"))
	f.publish(upload("a.txt"), "two")
	running("a newer version is published", older)
	failed := f.add(upload("b.txt"))
	f.must(f.FailVersion(f.ctx, failed.VersionRef, failed.RunID, knowledge.DocumentError{Code: knowledge.CodeCanceled}))
	running("the version was given up", failed)
	removed := f.add(upload("c.txt"))
	f.mark(removed.Document)
	running("the document is being removed", removed)
	r, err := f.Removal(f.ctx, manager("acme"), removed.Document)
	f.must(err)
	f.must(f.RemoveRows(f.ctx, r))
	running("the document was removed", removed)
}

func publishFailedEnd(f *fixture) {
	v := f.add(upload("a.txt"))
	p := publication(v, "one")
	p.RunID = "missing"
	_, err := f.PublishVersion(f.ctx, p)
	f.wantCode(err, knowledge.CodeNotFound)
	if d := f.document(v.Document); d.PublishedVersion != 0 || len(f.sees(reader("ann"), p.Chunks...)) != 0 {
		f.Errorf("document %+v", d)
	}
}

func startRun(f *fixture) {
	r := run("r1", func(r *store.Run) { r.ConversationID = "talk" })
	talk := store.Conversation{ID: "talk", Project: "handbook", Title: "A question"}
	for range 2 {
		f.must(f.startRun(reader("ann"), r, &talk))
		if diff := cmp.Diff(r, f.run("r1")); diff != "" {
			f.Error(diff)
		}
		c, err := f.Conversation(f.ctx, reader("ann"), "talk")
		f.must(err)
		if c.Owner != "u:ann" || c.Title != "A question" || c.Project != "handbook" {
			f.Errorf("conversation %+v", c)
		}
	}
	next := run("r2", func(r *store.Run) { r.ConversationID = "talk" })
	f.must(f.startRun(reader("ann"), next, &store.Conversation{ID: "talk", Title: "Another"}))
	if c, err := f.Conversation(f.ctx, reader("ann"), "talk"); err != nil || c.Title != "A question" {
		f.Errorf("conversation %+v, %v", c, err)
	}
	f.must(f.startRun(reader("ann"), run("alone"), nil))

	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	f.must(f.startRun(reader("ann"), r, &talk)) // a late repeat
	_, err := f.Conversation(f.ctx, reader("ann"), "talk")
	f.wantCode(err, knowledge.CodeNotFound)
}

func startNothing(f *fixture) {
	f.must(f.startRun(reader("ann"), run("anns"), &store.Conversation{ID: "anns talk"}))
	bobs := func(id string) store.Run { return run(id, func(r *store.Run) { r.Owner = "u:bob" }) }
	f.wantCode(f.startRun(reader("bob"), bobs("r1"), &store.Conversation{ID: "anns talk"}), knowledge.CodeNotFound)
	_, err := f.RunForSystem(f.ctx, "acme", "r1")
	f.wantCode(err, knowledge.CodeNotFound)
	f.wantCode(f.startRun(reader("bob"), bobs("anns"), &store.Conversation{ID: "bobs talk"}), knowledge.CodeConflict)
	_, err = f.Conversation(f.ctx, reader("bob"), "bobs talk")
	f.wantCode(err, knowledge.CodeNotFound)
	f.wantCode(f.startRun(reader("ann"), bobs("r2"), nil), knowledge.CodeForbidden)
	f.wantCode(f.startRun(manager("other"), run("r3"), nil), knowledge.CodeForbidden)
	f.wantCode(f.startRun(knowledge.Principal{}, run("r4"), nil), knowledge.CodeForbidden)
	held := claims(func(c *knowledge.Claims) { c.User, c.Project = "ann", "press" })
	f.wantCode(f.startRun(held, run("r5"), &store.Conversation{ID: "talk", Project: "handbook"}), knowledge.CodeNotFound)
}

// startRun starts a run.
func (f *fixture) startRun(p knowledge.Principal, r store.Run, c *store.Conversation) error {
	_, err := f.StartRun(f.ctx, p, r, c)
	return err
}

// talk makes a conversation of ann's with a run in it, and returns the messages
// with which the run ends.
func (f *fixture) talk(id string) []store.Message {
	f.Helper()
	f.must(f.startRun(reader("ann"), run(id), &store.Conversation{ID: id}))
	return []store.Message{
		{ID: "question of " + id, ConversationID: id, RunID: id, Role: "user", Text: "Why?", Status: "completed"},
		{ID: "answer of " + id, ConversationID: id, RunID: id, Role: "assistant", Text: "Because.", Status: "completed", ChunkIDs: []string{"c"}},
	}
}

func (f *fixture) texts(conversation string) []string {
	f.Helper()
	list, _, err := f.Messages(f.ctx, reader("ann"), conversation, store.Page{})
	f.must(err)
	texts := []string{}
	for _, m := range list {
		texts = append(texts, m.Text)
	}
	return texts
}

func endAnswer(f *fixture) {
	messages := f.talk("talk")
	for i, end := range []store.RunEnd{
		{Status: knowledge.RunCompleted, LogKey: "log", ResultKey: "answer"},
		{Status: knowledge.RunFailed, LogKey: "late"},
	} {
		f.must(f.EndAnswer(f.ctx, "acme", "talk", end, messages...))
		if r := f.run("talk"); r.Status != knowledge.RunCompleted || r.LogKey != "log" || r.ResultKey != "answer" {
			f.Errorf("end %d: run %+v", i, r)
		}
		if diff := cmp.Diff([]string{"Why?", "Because."}, f.texts("talk")); diff != "" {
			f.Error(diff)
		}
		messages[1].Text = "Too late."
	}
	f.wantCode(f.EndAnswer(f.ctx, "acme", "missing", store.RunEnd{Status: knowledge.RunCompleted}, messages...), knowledge.CodeNotFound)
}

func endAnswerDeleted(f *fixture) {
	messages := f.talk("talk")
	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	for range 2 {
		f.must(f.EndAnswer(f.ctx, "acme", "talk", store.RunEnd{Status: knowledge.RunCompleted}, messages...))
		if r := f.run("talk"); r.Status != knowledge.RunCompleted {
			f.Errorf("run %+v", r)
		}
		_, err := f.Conversation(f.ctx, reader("ann"), "talk")
		f.wantCode(err, knowledge.CodeNotFound)
	}
}

func endAnswerFailed(f *fixture) {
	other := f.talk("other")
	f.must(f.SaveMessages(f.ctx, "acme", other...))
	messages := f.talk("talk")
	messages[1].ID = other[1].ID
	f.wantCode(f.EndAnswer(f.ctx, "acme", "talk", store.RunEnd{Status: knowledge.RunCompleted}, messages...), knowledge.CodeConflict)
	if r := f.run("talk"); r.Status != knowledge.RunRunning || len(f.texts("talk")) != 0 {
		f.Errorf("run %+v, messages %q", r, f.texts("talk"))
	}
}
