package terminal_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/starter/terminal"
)

func TestAnAnswerIsWrappedNotCut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		width      int
		text, want string
	}{
		{"between_words", 20, "The head is cleaned with a soft cloth.", "The head is cleaned\nwith a soft cloth.\n"},
		{"a_word_that_ends_at_the_edge", 8, "The head is.", "The head\nis.\n"},
		{"spaces_at_the_edge_are_dropped", 8, "The head   is.", "The head\nis.\n"},
		{"line_ends_and_indentation_stay", 20, "Steps:\n\n  1. Open the valve.\n  2. Wait.\n", "Steps:\n\n  1. Open the valve.\n  2. Wait.\n"},
		{"a_citation_stays_with_its_number", 12, `It is wiped <citation id="c-1">[12]</citation> twice.`, "It is wiped\n[12] twice.\n"},
		{"a_long_word_is_not_cut", 10, "See https://example.org/a-long_address/of.html now", "See\nhttps://example.org/a-long_address/of.html now\n"},
		{"chinese_has_no_spaces", 10, "本产品每两年必须校准一次。", "本产品每两\n年必须校准\n一次。\n"},
		{"a_tab_ends_at_a_stop", 12, "a\tbc def", "a\tbc\ndef\n"},
		{"a_pipe_has_no_edge", 0, "The head is cleaned with a soft cloth.", "The head is cleaned with a soft cloth.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			show := func(pieces ...string) string {
				var out strings.Builder
				a := terminal.NewAnswer(terminal.Screen{Writer: &out, Width: test.width})
				for _, p := range pieces {
					a.Add(p)
				}
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
				return out.String()
			}
			if diff := cmp.Diff(test.want, show(test.text)); diff != "" {
				t.Errorf("whole (-want +got):\n%s", diff)
			}
			for cut := range test.text {
				if got := show(test.text[:cut], test.text[cut:]); got != test.want {
					t.Errorf("cut at %d: %q, want %q", cut, got, test.want)
				}
			}
			if diff := cmp.Diff(test.want, show(strings.Split(test.text, "")...)); diff != "" {
				t.Errorf("by character (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAnswerMakesRoomForALineOfAnother(t *testing.T) {
	t.Parallel()
	for _, halves := range [][2]string{{"The head is ", "cleaned."}, {"The head is", " cleaned."}} {
		var out strings.Builder
		screen := terminal.Screen{Writer: &out, Width: 20}
		a := terminal.NewAnswer(screen)
		a.Add(halves[0])
		a.Pause()
		out.WriteString("no connection\n")
		a.Add(halves[1])
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("The head is\nno connection\ncleaned.\n", out.String()); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", halves[0], diff)
		}
	}
}
