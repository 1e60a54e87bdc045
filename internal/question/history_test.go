package question_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
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
