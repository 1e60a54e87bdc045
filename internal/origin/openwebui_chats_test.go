package origin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/origin"
)

// chatsIn returns the conversations in a file, each as its title and messages, and the error.
func chatsIn(t *testing.T, text string) (got []string, failure error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chats.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for c, err := range origin.OpenChats(path).Conversations(t.Context()) {
		if err != nil {
			failure = err
			continue
		}
		words := []string{c.Title + " of " + c.Owner}
		for _, m := range c.Messages {
			words = append(words, m.Role+": "+m.Text)
		}
		got = append(got, strings.Join(words, "|"))
	}
	return got, failure
}

func TestChats(t *testing.T) {
	t.Parallel()
	history := func(current, messages string) string {
		return `{"id":"c","user_id":"u","title":"T","chat":{"history":{"currentId":"` + current + `","messages":{` + messages + `}},"messages":[{"role":"user","content":"flat"}]}}`
	}
	const asked = `"a":{"parentId":null,"role":"user","content":"Why?","timestamp":1700000000}`
	for name, test := range map[string]struct{ text, want, failure string }{
		"the_branch_that_was_shown_last": {history("c", asked+`,"b":{"parentId":"a","role":"assistant","content":"First."},"c":{"parentId":"a","role":"assistant","content":"Second."}`), "T of u|user: Why?|assistant: Second.", ""},
		"a_circle_ends_where_it_closes":  {history("b", `"a":{"parentId":"b","role":"user","content":"Why?"},"b":{"parentId":"a","role":"assistant","content":"So."}`), "T of u|user: Why?|assistant: So.", ""},
		"a_message_that_is_missing":      {history("b", `"b":{"parentId":"nowhere","role":"assistant","content":"So."}`), "T of u|assistant: So.", ""},
		"without_a_tree_the_list":        {history("", ""), "T of u|user: flat", ""},
		"parts_and_steps":                {history("b", `"a":{"parentId":null,"role":"user","content":[{"type":"text","text":"See:"},{"type":"image_url"}]},"b":{"parentId":"a","role":"assistant","content":"<details type=\"reasoning\" done=\"true\">\n<summary>Thought</summary>\nhm\n</details>\nSo."}`), "T of u|user: See:|assistant: So.", ""},
		"system_messages_are_left_out":   {history("b", `"a":{"parentId":null,"role":"system","content":"Be kind."},"b":{"parentId":"a","role":"user","content":"Hi"}`), "T of u|user: Hi", ""},
		"one_chat_after_another":         {history("a", asked) + "\n" + history("a", asked) + "\n", "T of u|user: Why?;T of u|user: Why?", ""},
		"a_list":                         {" [" + history("a", asked) + "," + history("a", asked) + "]", "T of u|user: Why?;T of u|user: Why?", ""},
		"a_list_that_ends_early":         {"[" + history("a", asked) + ",", "T of u|user: Why?", "end early"},
		"a_chat_that_ends_early":         {history("a", asked) + `{"id":`, "T of u|user: Why?", "end early"},
		"no_chats":                       {"[]", "", ""},
		"another_file":                   {"PK\x03\x04", "", "read the chats"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := chatsIn(t, test.text)
			if diff := cmp.Diff(test.want, strings.Join(got, ";")); diff != "" {
				t.Errorf("conversations (-want +got)\n%s", diff)
			}
			if (err != nil) != (test.failure != "") || err != nil && !strings.Contains(err.Error(), test.failure) {
				t.Errorf("the error is %v, want one with %q", err, test.failure)
			}
		})
	}
}
