package prompt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	user := func(text string) knowledge.Message { return knowledge.Message{Role: "user", Content: text} }
	said := func(text string) knowledge.Message { return knowledge.Message{Role: "assistant", Content: text} }
	for name, test := range map[string]struct {
		messages []knowledge.Message
		limit    int
		want     int // of the last messages
	}{
		"nothing":                               {nil, 10, 0},
		"all that fits":                         {[]knowledge.Message{user("four"), said("five5")}, 3, 2},
		"an answer whose question does not":     {[]knowledge.Message{user("four"), said("five5")}, 2, 0},
		"the newest":                            {[]knowledge.Message{user("a"), said("b"), user("c"), said("d")}, 3, 2},
		"another alphabet":                      {[]knowledge.Message{user("знать")}, 3, 1},
		"more of another alphabet":              {[]knowledge.Message{user("знать")}, 2, 0},
		"a script without spaces":               {[]knowledge.Message{user(strings.Repeat("知识", 2000))}, 4000, 1},
		"more of a script without spaces":       {[]knowledge.Message{user(strings.Repeat("知识", 2000) + "库")}, 4000, 0},
		"nothing behind a message that is long": {[]knowledge.Message{user("a"), said("b"), user(strings.Repeat("long", 9)), said("d")}, 8, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := prompt.History(test.messages, test.limit)
			if diff := cmp.Diff(test.messages[len(test.messages)-test.want:], got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
