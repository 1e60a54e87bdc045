package storetest

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func conversationsAreImported(f *fixture) {
	then := time.Date(2024, 5, 3, 9, 0, 0, 0, time.UTC)
	talk := store.Conversation{ID: "elsewhere", Project: "handbook", Title: "Old talk", CreatedAt: then}
	said := func(texts ...string) (list []store.Message) {
		for i, text := range texts {
			list = append(list, store.Message{ID: numbered("said", i), Role: []string{"user", "assistant"}[i%2], Text: text, Status: "completed", CreatedAt: then.Add(time.Duration(i) * time.Minute)})
		}
		return list
	}
	bring := func(want bool, texts ...string) store.Conversation {
		f.Helper()
		c, changed, err := f.ImportConversation(f.ctx, reader("ann"), talk, said(texts...))
		f.must(err)
		if changed != want {
			f.Errorf("an import of %q reports changed = %t", texts, changed)
		}
		return c
	}
	wantTexts := func(want ...string) {
		f.Helper()
		if diff := cmp.Diff(want, f.texts("elsewhere")); diff != "" {
			f.Errorf("messages (-want +got)\n%s", diff)
		}
	}

	c := bring(true, "Is the quay lit?", "Yes.")
	if c.Title != "Old talk" || !c.CreatedAt.Equal(then) || !c.UpdatedAt.Equal(then.Add(time.Minute)) {
		f.Errorf("the conversation is %+v", c)
	}
	bring(false, "Is the quay lit?", "Yes.")
	bring(true, "Is the quay lit?", "Yes, by three lamps.", "Since when?")
	wantTexts("Is the quay lit?", "Yes, by three lamps.", "Since when?")
	bring(true, "Is the quay lit?")
	wantTexts("Is the quay lit?")
	f.wantFound("quay", "elsewhere")
	f.wantFound("lamps")

	_, _, err := f.ImportConversation(f.ctx, reader("bob"), talk, said("Taken."))
	f.wantCode(err, knowledge.CodeNotFound)
	_, _, err = f.ImportConversation(f.ctx, claims(func(c *knowledge.Claims) { c.User, c.Project = "ann", "press" }), store.Conversation{ID: "other", Project: "handbook"}, said("Taken."))
	f.wantCode(err, knowledge.CodeNotFound)

	f.must(f.SaveMessages(f.ctx, "acme", store.Message{ID: "asked", ConversationID: "elsewhere", RunID: "run", Role: "user", Text: "And today?", Status: "completed", CreatedAt: time.Now()}))
	bring(false, "Is the quay lit?", "Something else.")
	wantTexts("Is the quay lit?", "And today?")
}
