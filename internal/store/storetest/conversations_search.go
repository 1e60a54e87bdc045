package storetest

import (
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// found returns the ids of the conversations in which the principal finds words.
func (f *fixture) found(p knowledge.Principal, words string) []string {
	f.Helper()
	list, _, err := f.SearchConversations(f.ctx, p, words, store.Page{})
	f.must(err)
	ids := []string{}
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

func (f *fixture) wantFound(words string, want ...string) {
	f.Helper()
	if diff := cmp.Diff(append([]string{}, want...), f.found(reader("ann"), words)); diff != "" {
		f.Errorf("%q finds (-want +got)\n%s", words, diff)
	}
}

func foundByWords(f *fixture) {
	ann, now := reader("ann"), time.Now()
	for i, id := range []string{"old", "new"} {
		_, err := f.EnsureConversation(f.ctx, ann, store.Conversation{ID: id, Project: "handbook", Title: "About " + id + " Piers", CreatedAt: now.Add(time.Duration(i) * time.Second)})
		f.must(err)
	}
	say := func(id, message, text string) {
		f.must(f.SaveMessages(f.ctx, "acme", store.Message{ID: message, ConversationID: id, Role: "user", Text: text, Status: "completed"}))
	}
	say("old", "m1", "Wie hoch ist die ÜBERFAHRT?")
	say("old", "m2", "The light-house costs 100% of 42_000 euros.")
	say("new", "m3", "A foghorn, no more.")

	f.wantFound("pier", "new", "old")
	f.wantFound("überf", "old")
	f.wantFound("u\u0308berf", "old") // the same letters in parts
	f.wantFound("HOUSE", "old")
	f.wantFound("ouse")
	f.wantFound("foghorn about", "new")
	f.wantFound("foghorn lighthouse")
	f.wantFound("42", "old")
	f.wantFound("100%", "old")
	f.wantFound("%")
	f.wantFound("_")
	f.wantFound(" ")
	for _, p := range []knowledge.Principal{reader("bob"), manager("acme"), claims(func(c *knowledge.Claims) { c.User, c.Project = "ann", "press" })} {
		if got := f.found(p, "pier"); len(got) != 0 {
			f.Errorf("somebody else finds %q", got)
		}
	}

	_, err := f.RenameConversation(f.ctx, ann, "old", "Ferries")
	f.must(err)
	f.wantFound("pier", "new")
	f.wantFound("ferries house", "old")
	say("old", "m4", "And the crane?")
	f.wantFound("crane", "old")
	f.must(f.RewriteMessage(f.ctx, "acme", store.Message{ID: "m2", ConversationID: "old", Text: "It costs nothing."}))
	f.wantFound("house")
	f.wantFound("nothing crane", "old")
	f.must(f.DeleteConversation(f.ctx, ann, "new"))
	f.wantFound("pier")
	if got := f.found(ann, "ferries"); !slices.Equal(got, []string{"old"}) {
		f.Errorf("after the deletion of another it finds %q", got)
	}
}
