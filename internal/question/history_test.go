package question_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestCallersHistory asks with a history that the caller keeps itself.
func TestCallersHistory(t *testing.T) {
	t.Parallel()
	say := func(role, words string) knowledge.Message { return knowledge.Message{Role: role, Content: words} }
	given := []knowledge.Message{
		say("system", "Answer in French."), say("user", "first"), say("assistant", "one"), say("user", "second"),
		say("assistant", `two <citation id="c">[1]</citation>`), say("assistant", ""),
	}
	for name, c := range map[string]struct {
		override string
		want     []knowledge.Message
	}{
		"is_shown_without_citations": {`{}`, []knowledge.Message{
			say("system", "Answer in French."), say("user", "first"), say("assistant", "one"), say("user", "second"), say("assistant", "two"),
		}},
		"is_cut_to_the_newest_messages": {`{"ai":{"history":{"messages":2}}}`, []knowledge.Message{
			say("system", "Answer in French."), say("user", "second"), say("assistant", "two"),
		}},
		"is_left_out_by_a_project_without_history": {`{"ai":{"history":{"messages":0}}}`, []knowledge.Message{say("system", "Answer in French.")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			started, err := f.start(func(r *question.Request) {
				r.History, r.Override, r.Converse = given, []byte(c.override), false
			})
			if err != nil {
				t.Fatal(err)
			}
			snapshot := f.request(started.Run.ID)
			if diff := cmp.Diff(c.want, snapshot.History); diff != "" || snapshot.ConversationID != "" {
				t.Errorf("conversation %q, history: %s", snapshot.ConversationID, diff)
			}
		})
	}
}

// TestHistoryOfASession: a tool that is asked in a conversation keeps nothing in it, but
// rewrites a question that does not stand alone by what was said before.
func TestHistoryOfASession(t *testing.T) {
	t.Parallel()
	said := []knowledge.Message{{Role: "user", Content: "How many days of leave are there in France?"}, {Role: "assistant", Content: "Thirty."}}
	for name, c := range map[string]struct {
		enhance bool
		want    []knowledge.Message
	}{"is_read_to_rewrite_the_question": {true, said}, "is_left_out_otherwise": {false, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			project := knowledge.Project{ID: "q", Workspace: "default", Name: "Leave", Config: knowledge.ProjectConfig{AI: knowledge.AIConfig{EnhanceQuery: &c.enhance}}}
			if err := f.store.CreateProject(t.Context(), project); err != nil {
				t.Fatal(err)
			}
			session := knowledge.NewID()
			if _, err := f.store.EnsureConversation(t.Context(), f.reader, store.Conversation{ID: session, Project: "q"}); err != nil {
				t.Fatal(err)
			}
			for _, m := range said {
				if err := f.store.SaveMessages(t.Context(), "default", store.Message{ID: knowledge.NewID(), ConversationID: session, Role: m.Role, Text: m.Content, Status: "completed"}); err != nil {
					t.Fatal(err)
				}
			}
			claims := f.reader.Claims()
			claims.ConversationID = session
			f.reader = knowledgetest.Principal(claims)
			started, err := f.start(func(r *question.Request) {
				r.Kind, r.Project, r.Text, r.Converse = knowledge.KindTool, "q", "And in Germany?", false
			})
			if err != nil {
				t.Fatal(err)
			}
			snapshot := f.request(started.Run.ID)
			if diff := cmp.Diff(c.want, snapshot.History); diff != "" || snapshot.ConversationID != "" {
				t.Errorf("conversation %q, history: %s", snapshot.ConversationID, diff)
			}
		})
	}
}
