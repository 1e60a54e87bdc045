package storetest

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

func testCitations(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_cited_chunk_is_kept_as_superseded":                   keptSuperseded,
		"what_a_question_under_way_may_cite_is_kept":            keptForQuestion,
		"a_kept_chunk_is_for_who_may_see_the_document":          keptForReaders,
		"after_a_removal_it_is_gone_for_the_citing_owner_only":  goneForOwner,
		"a_kept_chunk_goes_with_the_last_conversation":          goesWithConversation,
		"a_replaced_answer_no_longer_keeps_what_it_cited":       replacedAnswer,
		"a_chunk_of_a_version_that_is_not_published_is_unknown": unpublishedChunk,
	})
}

// cite saves an answer of ann's in a conversation that cites chunks.
func (f *fixture) cite(p knowledge.Principal, conversation, message string, chunks ...knowledge.Chunk) {
	f.Helper()
	_, err := f.EnsureConversation(f.ctx, p, store.Conversation{ID: conversation})
	f.must(err)
	ids := []string{}
	for _, c := range chunks {
		ids = append(ids, c.ID)
	}
	f.must(f.SaveMessages(f.ctx, p.Workspace(), store.Message{
		ID: message, ConversationID: conversation, Role: "assistant", Text: "answer", ChunkIDs: ids, Status: "completed",
	}))
}

func keptSuperseded(f *fixture) {
	_, old := f.publish(upload("a.txt"), "one", "uncited")
	f.cite(reader("ann"), "talk", "m1", old[0])
	_, chunks := f.publish(upload("a.txt"), "two")
	view, err := f.Chunk(f.ctx, reader("bob"), old[0].ID)
	f.must(err)
	if !view.Superseded || view.Text != "one" || view.Version != 1 || view.Document.PublishedVersion != 2 {
		f.Errorf("kept chunk %+v", view)
	}
	_, err = f.Chunk(f.ctx, reader("bob"), old[1].ID)
	f.wantCode(err, knowledge.CodeNotFound)
	if diff := cmp.Diff([]string{"two"}, f.sees(reader("bob"), append(old, chunks...)...)); diff != "" {
		f.Error("a search returns a kept chunk: " + diff)
	}
	list, _, err := f.DocumentChunks(f.ctx, reader("bob"), view.DocumentID, store.Page{})
	if err != nil || len(list) != 1 || list[0].Text != "two" {
		f.Errorf("chunks %+v, %v", list, err)
	}
}

func keptForQuestion(f *fixture) {
	_, first := f.publish(upload("a.txt"), "one", "uncited")
	f.must(f.AddRun(f.ctx, run("elsewhere", func(r *store.Run) { r.Workspace = "other" })))
	f.must(f.AddRun(f.ctx, run("question")))
	_, second := f.publish(upload("a.txt"), "two")
	f.cite(reader("ann"), "talk", "m1", first[0])
	f.must(f.EndRun(f.ctx, "acme", "question", store.RunEnd{Status: knowledge.RunCompleted}))
	view, err := f.Chunk(f.ctx, reader("ann"), first[0].ID)
	if err != nil || view.Text != "one" || !view.Superseded {
		f.Errorf("cited by a question that was under way: %+v, %v", view, err)
	}
	f.publish(upload("a.txt"), "three")
	if _, err := f.Chunk(f.ctx, reader("ann"), first[0].ID); err != nil {
		f.Errorf("cited: %v", err)
	}
	for _, c := range []knowledge.Chunk{first[1], second[0]} {
		_, err := f.Chunk(f.ctx, reader("ann"), c.ID)
		f.wantCode(err, knowledge.CodeNotFound)
	}
}

func keptForReaders(f *fixture) {
	v, old := f.publish(upload("a.txt"), "one")
	f.cite(reader("bob"), "talk", "m1", old[0])
	f.publish(upload("a.txt", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"ann"}} }), "two")
	if _, err := f.Chunk(f.ctx, reader("ann"), old[0].ID); err != nil {
		f.Errorf("ann: %v", err)
	}
	if _, err := f.Chunk(f.ctx, manager("acme"), old[0].ID); err != nil {
		f.Errorf("a manager: %v", err)
	}
	_, err := f.Chunk(f.ctx, reader("bob"), old[0].ID) // cited it, but may not see it any more
	f.wantCode(err, knowledge.CodeNotFound)
	off := knowledge.StatusInactive
	_, err = f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Status: &off})
	f.must(err)
	_, err = f.Chunk(f.ctx, reader("ann"), old[0].ID)
	f.wantCode(err, knowledge.CodeNotFound)
}

func goneForOwner(f *fixture) {
	v, chunks := f.publish(upload("a.txt"), "one", "uncited")
	f.cite(reader("ann"), "talk", "m1", chunks[0])
	f.mark(v.Document)
	check := func() {
		f.Helper()
		_, err := f.Chunk(f.ctx, reader("ann"), chunks[0].ID)
		f.wantCode(err, knowledge.CodeGone)
		for _, p := range []knowledge.Principal{reader("bob"), manager("acme"), manager("other")} {
			_, err = f.Chunk(f.ctx, p, chunks[0].ID)
			f.wantCode(err, knowledge.CodeNotFound)
		}
		_, err = f.Chunk(f.ctx, reader("ann"), chunks[1].ID)
		f.wantCode(err, knowledge.CodeNotFound)
		there := knowledgetest.Principal(knowledge.Claims{Workspace: "other", User: "ann", KeyID: "reader"})
		_, err = f.Chunk(f.ctx, there, chunks[0].ID)
		f.wantCode(err, knowledge.CodeNotFound)
	}
	check()
	r, err := f.Removal(f.ctx, manager("acme"), v.Document)
	f.must(err)
	f.must(f.RemoveRows(f.ctx, r))
	check()
	f.publish(upload("a.txt"), "new")
	check()
	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	_, err = f.Chunk(f.ctx, reader("ann"), chunks[0].ID)
	f.wantCode(err, knowledge.CodeNotFound)
}

func goesWithConversation(f *fixture) {
	_, old := f.publish(upload("a.txt"), "one", "two")
	f.cite(reader("ann"), "talk", "m1", old[0], old[1])
	f.cite(reader("bob"), "chat", "m2", old[1])
	_, chunks := f.publish(upload("a.txt"), "three")
	f.cite(reader("ann"), "talk", "m3", chunks[0])
	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	_, err := f.Chunk(f.ctx, reader("bob"), old[0].ID)
	f.wantCode(err, knowledge.CodeNotFound)
	for _, c := range []knowledge.Chunk{old[1], chunks[0]} { // cited by bob; published
		if _, err := f.Chunk(f.ctx, reader("bob"), c.ID); err != nil {
			f.Errorf("%s went with somebody else's conversation: %v", c.Text, err)
		}
	}
}

func replacedAnswer(f *fixture) {
	_, old := f.publish(upload("a.txt"), "one")
	f.cite(reader("ann"), "talk", "m1", old[0])
	f.cite(reader("ann"), "talk", "m1")
	f.publish(upload("a.txt"), "two")
	_, err := f.Chunk(f.ctx, reader("ann"), old[0].ID)
	f.wantCode(err, knowledge.CodeNotFound)
}

func unpublishedChunk(f *fixture) {
	f.publish(upload("a.txt"), "one")
	v := f.add(upload("a.txt"))
	chunks := passages(v.VersionRef, "two")
	f.must(f.PutChunks(f.ctx, v.VersionRef, chunks))
	for _, p := range []knowledge.Principal{reader("ann"), manager("acme")} {
		_, err := f.Chunk(f.ctx, p, chunks[0].ID)
		f.wantCode(err, knowledge.CodeNotFound)
		if got := f.sees(p, chunks...); len(got) != 0 {
			f.Errorf("sees %q", got)
		}
	}
}

func testConversations(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_conversation_is_made_once_and_found_again": madeOnce,
		"somebody_elses_conversation_is_not_found":    somebodyElses,
		"messages_come_back_in_order":                 messageOrder,
		"saving_again_replaces_a_message_in_place":    saveAgain,
		"a_summary_stands_for_the_beginning":          summaries,
		"words_of_an_answer_are_replaced":             rewrites,
		"answers_that_have_ended_are_listed":          answersOfRuns,
		"words_of_a_document_are_read":                wordsOfDocument,
		"all_messages_are_saved_or_none":              saveAllOrNone,
		"deleting_takes_the_messages_too":             deleteConversation,
		"deleting_removes_what_is_attached":           deleteAttachments,
		"nothing_is_attached_to_a_deleted_one":        attachToDeleted,
		"preferences_are_the_owners":                  preferences,
		"renaming_changes_the_title_alone":            rename,
		"feedback_is_its_authors":                     feedback,
		"they_are_found_by_their_words":               foundByWords,
		"they_are_imported":                           conversationsAreImported,
	})
}

func madeOnce(f *fixture) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: "talk", Project: "handbook", Title: "Title"}); err != nil {
				f.Error(err)
			}
		})
	}
	wg.Wait()
	c, err := f.Conversation(f.ctx, reader("ann"), "talk")
	f.must(err)
	if c.Owner != "u:ann" || c.Workspace != "acme" || c.Project != "handbook" || c.Title != "Title" || c.CreatedAt.IsZero() {
		f.Errorf("conversation %+v", c)
	}
	list, _, err := f.Conversations(f.ctx, reader("ann"), store.Page{})
	if err != nil || len(list) != 1 {
		f.Errorf("%d conversations, %v", len(list), err)
	}
}

func somebodyElses(f *fixture) {
	f.cite(reader("ann"), "talk", "m1")
	for _, p := range []knowledge.Principal{reader("bob"), manager("acme"), claims(func(c *knowledge.Claims) { c.ExternalUser = "ann" }),
		claims(func(c *knowledge.Claims) { c.User, c.Project = "ann", "press" })} {
		_, err := f.EnsureConversation(f.ctx, p, store.Conversation{ID: "talk"})
		f.wantCode(err, knowledge.CodeNotFound)
		_, err = f.Conversation(f.ctx, p, "talk")
		f.wantCode(err, knowledge.CodeNotFound)
		_, _, err = f.Messages(f.ctx, p, "talk", store.Page{})
		f.wantCode(err, knowledge.CodeNotFound)
		_, err = f.History(f.ctx, p, "talk", 5)
		f.wantCode(err, knowledge.CodeNotFound)
		f.wantCode(f.DeleteConversation(f.ctx, p, "talk"), knowledge.CodeNotFound)
		if list, _, err := f.Conversations(f.ctx, p, store.Page{}); err != nil || len(list) != 0 {
			f.Errorf("lists %v, %v", list, err)
		}
	}
	_, err := f.EnsureConversation(f.ctx, claims(func(c *knowledge.Claims) { c.Project = "press" }), store.Conversation{ID: "new", Project: "handbook"})
	f.wantCode(err, knowledge.CodeNotFound)
}

func messageOrder(f *fixture) {
	_, err := f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: "talk"})
	f.must(err)
	now := time.Now().UTC().Truncate(time.Microsecond)
	want := []store.Message{
		{ID: "z", ConversationID: "talk", RunID: "r1", Role: "user", Text: "question", ChunkIDs: []string{}, Status: "completed", CreatedAt: now},
		{ID: "a", ConversationID: "talk", RunID: "r1", Role: "assistant", Text: "answer", Sources: json.RawMessage(`[{"rank":1}]`),
			ChunkIDs: []string{"c1", "c2"}, Status: "completed", CreatedAt: now},
		{ID: "m", ConversationID: "talk", RunID: "r2", Role: "user", Text: "again", ChunkIDs: []string{}, Status: "canceled", CreatedAt: now},
	}
	f.must(f.SaveMessages(f.ctx, "acme", want[:2]...))
	f.must(f.SaveMessages(f.ctx, "acme", want[2]))
	got, next, err := f.Messages(f.ctx, reader("ann"), "talk", store.Page{Limit: 2})
	f.must(err)
	rest, _, err := f.Messages(f.ctx, reader("ann"), "talk", store.Page{Limit: 2, Cursor: next})
	f.must(err)
	if diff := cmp.Diff(want, append(got, rest...)); diff != "" {
		f.Error(diff)
	}
	newest, next, err := f.LatestMessages(f.ctx, reader("ann"), "talk", store.Page{Limit: 2})
	f.must(err)
	oldest, _, err := f.LatestMessages(f.ctx, reader("ann"), "talk", store.Page{Limit: 2, Cursor: next})
	f.must(err)
	if diff := cmp.Diff([]store.Message{want[2], want[1], want[0]}, append(newest, oldest...)); diff != "" {
		f.Error(diff)
	}
	for n, first := range map[int]int{0: 3, 1: 2, 2: 1, 9: 0} {
		last, err := f.History(f.ctx, reader("ann"), "talk", n)
		f.must(err)
		if diff := cmp.Diff(store.History{Messages: want[first:], More: n > 0 && first > 0}, last); diff != "" {
			f.Errorf("last %d: %s", n, diff)
		}
	}
}

// summaries sums up a conversation. The history begins behind the summary, which never goes
// back, and which ends with the conversation.
func summaries(f *fixture) {
	for _, id := range []string{"m1", "m2", "m3"} {
		f.cite(reader("ann"), "talk", id)
	}
	f.must(f.SaveSummary(f.ctx, "acme", "talk", "m2", "two"))
	f.must(f.SaveSummary(f.ctx, "acme", "talk", "m1", "one"))
	f.must(f.SaveSummary(f.ctx, "acme", "talk", "unknown", "none"))
	f.must(f.SaveSummary(f.ctx, "other", "talk", "m3", "foreign"))
	h, err := f.History(f.ctx, reader("ann"), "talk", 5)
	f.must(err)
	if h.Summary != "two" || h.More || len(h.Messages) != 1 || h.Messages[0].ID != "m3" {
		f.Errorf("history %+v", h)
	}
	if list, _, err := f.Messages(f.ctx, reader("ann"), "talk", store.Page{}); err != nil || len(list) != 3 {
		f.Errorf("messages %+v, %v", list, err)
	}
	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	f.cite(reader("ann"), "talk", "m4")
	if h, err := f.History(f.ctx, reader("ann"), "talk", 5); err != nil || h.Summary != "" || len(h.Messages) != 1 {
		f.Errorf("history %+v, %v", h, err)
	}
}

func saveAgain(f *fixture) {
	f.cite(reader("ann"), "talk", "m1")
	f.cite(reader("ann"), "talk", "m2")
	f.must(f.SaveMessages(f.ctx, "acme", store.Message{ID: "m1", ConversationID: "talk", Role: "assistant", Text: "better", Status: "completed"}))
	talk, err := f.History(f.ctx, reader("ann"), "talk", 10)
	f.must(err)
	if list := talk.Messages; len(list) != 2 || list[0].ID != "m1" || list[0].Text != "better" {
		f.Errorf("messages %+v", talk)
	}
	_, err = f.EnsureConversation(f.ctx, reader("bob"), store.Conversation{ID: "chat"})
	f.must(err)
	err = f.SaveMessages(f.ctx, "acme", store.Message{ID: "m1", ConversationID: "chat", Text: "taken"})
	f.wantCode(err, knowledge.CodeConflict)
}

func saveAllOrNone(f *fixture) {
	_, err := f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: "talk"})
	f.must(err)
	err = f.SaveMessages(f.ctx, "acme", store.Message{ID: "m1", ConversationID: "talk"}, store.Message{ID: "m2", ConversationID: "missing"})
	f.wantCode(err, knowledge.CodeNotFound)
	if talk, err := f.History(f.ctx, reader("ann"), "talk", 10); err != nil || len(talk.Messages) != 0 {
		f.Errorf("messages %+v, %v", talk, err)
	}
}

func deleteAttachments(f *fixture) {
	f.cite(reader("ann"), "talk", "m1")
	attach := func(name, conversation string) store.Version {
		v, _ := f.publish(upload(name, func(nv *store.NewVersion) { nv.ConversationID = &conversation }), "one")
		return v
	}
	gone, held := attach("a.txt", "talk"), attach("b.txt", "talk")
	attach("c.txt", "another")
	f.publish(upload("e.txt", func(nv *store.NewVersion) { nv.ConversationID, nv.ExternalUserID = new("talk"), new("ann") }), "one")
	f.publish(upload("d.txt"), "one")
	hold := true
	if _, err := f.UpdateDocument(f.ctx, manager("acme"), held.Document, store.DocumentPatch{LegalHold: &hold}); err != nil {
		f.Fatal(err)
	}
	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	list, _, err := f.PendingRemovals(f.ctx, store.Position{}, 10)
	f.must(err)
	if len(list) != 1 || list[0].Document != gone.Document || list[0].Upto != 1 {
		f.Errorf("removals %+v", list)
	}
	if run, err := f.RunForSystem(f.ctx, "acme", list[0].RunID); err != nil || run.Kind != "remove" || run.Subject != gone.Document {
		f.Errorf("run %+v, %v", run, err)
	}
}

// attachToDeleted ends an upload to a conversation that was deleted while its bytes came.
func attachToDeleted(f *fixture) {
	f.cite(reader("ann"), "talk", "m1")
	nv := upload("a.txt", func(nv *store.NewVersion) { nv.ConversationID = new("talk") })
	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	_, _, err := f.AddVersion(f.ctx, nv)
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.Document(f.ctx, manager("acme"), nv.DocumentID)
	f.wantCode(err, knowledge.CodeNotFound)
}

func deleteConversation(f *fixture) {
	f.cite(reader("ann"), "talk", "m1")
	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	f.wantCode(f.DeleteConversation(f.ctx, reader("ann"), "talk"), knowledge.CodeNotFound)
	f.cite(reader("bob"), "talk", "m2")
	if talk, err := f.History(f.ctx, reader("bob"), "talk", 10); err != nil || len(talk.Messages) != 1 {
		f.Errorf("messages %+v, %v", talk, err)
	}
}

func preferences(f *fixture) {
	want := json.RawMessage(`{"rag":{"model":"it's","reranker":null}}`)
	f.must(f.SetPreferences(f.ctx, reader("ann"), json.RawMessage(`{}`)))
	f.must(f.SetPreferences(f.ctx, reader("ann"), want))
	for user, want := range map[string]string{"ann": string(want), "bob": "{}"} {
		if got, err := f.Preferences(f.ctx, reader(user)); err != nil || string(got) != want {
			f.Errorf("%s has %s, %v", user, got, err)
		}
	}
	f.wantCode(f.SetPreferences(f.ctx, reader("ann"), json.RawMessage(`{`)), knowledge.CodeMalformed)
}

func rename(f *fixture) {
	f.cite(reader("ann"), "talk", "m1")
	before, err := f.Conversation(f.ctx, reader("ann"), "talk")
	f.must(err)
	renamed, err := f.RenameConversation(f.ctx, reader("ann"), "talk", "Piers")
	f.must(err)
	after, err := f.Conversation(f.ctx, reader("ann"), "talk")
	if before.Title = "Piers"; err != nil || after != before || renamed != before {
		f.Errorf("renamed to %+v, read %+v, %v, want %+v", renamed, after, err, before)
	}
	_, err = f.RenameConversation(f.ctx, reader("bob"), "talk", "Mine")
	f.wantCode(err, knowledge.CodeNotFound)
}

// feedback looks at ratings: a later one replaces the author's earlier one, only
// administrators read everybody's, and they go with the conversation.
func feedback(f *fixture) {
	for _, id := range []string{"one", "two"} {
		r := store.Run{ID: id, Workspace: "acme", Kind: knowledge.KindQuery, WorkflowID: id, Owner: reader("ann").Owner(), ConversationID: "talk"}
		_, err := f.StartRun(f.ctx, reader("ann"), r, &store.Conversation{ID: "talk", Workspace: "acme"})
		f.must(err)
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	give := func(p knowledge.Principal, given store.Feedback) { f.must(f.SetFeedback(f.ctx, p, given)) }
	give(reader("ann"), store.Feedback{Run: "one", Rating: "up", CreatedAt: at})
	ann := store.Feedback{Run: "one", Author: reader("ann").Owner(), Rating: "down", Comment: "it's the wrong pier", Expected: "The northern one.", CreatedAt: at}
	give(reader("ann"), ann)
	administrator := func(workspace string) knowledge.Principal {
		return knowledgetest.Principal(knowledge.Claims{Workspace: workspace, Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, Permissions: []knowledge.Permission{knowledge.RunsAdmin}, KeyID: "boss"})
	}
	boss := administrator("acme")
	give(boss, store.Feedback{Run: "one", Rating: "up", CreatedAt: at.Add(time.Second)})
	give(reader("ann"), store.Feedback{Run: "two", Rating: "up", CreatedAt: at.Add(2 * time.Second)})
	want := func(p knowledge.Principal, count int, runs ...string) []store.Feedback {
		found, err := f.Feedback(f.ctx, p, runs...)
		if err != nil || len(found) != count {
			f.Errorf("feedback on %v: %+v, %v, want %d", runs, found, err, count)
		}
		return found
	}
	if found := want(reader("ann"), 1, "one"); len(found) == 1 && found[0] != ann {
		f.Errorf("feedback %+v, want %+v", found[0], ann)
	}
	want(reader("ann"), 2, "one", "two", "unknown")
	want(reader("ann"), 0)
	want(reader("bob"), 0, "one", "two")
	want(boss, 3, "one", "two")
	want(administrator("other"), 0, "one", "two")
	f.wantCode(f.SetFeedback(f.ctx, reader("ann"), store.Feedback{Run: "unknown", Rating: "up"}), knowledge.CodeNotFound)
	f.must(f.DeleteConversation(f.ctx, reader("ann"), "talk"))
	want(boss, 0, "one", "two")
}
