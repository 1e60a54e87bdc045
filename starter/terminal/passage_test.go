package terminal_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/starter/terminal"
)

func TestPassage(t *testing.T) {
	t.Parallel()
	const text = "Ä \x1b[2JWipe it with a soft cloth. Rest." // the escape character is dropped, and counts
	const on, off = "\x1b[1;7m", "\x1b[m"
	for _, test := range []struct {
		name       string
		screen     terminal.Screen
		start, end int
		want       string
	}{
		{"a_pipe_has_marks", terminal.Screen{}, 6, 32, "Ä [2J>>>Wipe it with a soft cloth.<<< Rest.\n"},
		{"a_terminal_has_colours", terminal.Screen{Width: 80, Colours: true}, 6, 32, "Ä [2J" + on + "Wipe it with a soft cloth." + off + " Rest.\n"},
		{"lines_are_wrapped_and_each_is_marked", terminal.Screen{Width: 18, Colours: true}, 6, 32,
			"Ä [2J" + on + "Wipe it with" + off + "\n" + on + "a soft cloth." + off + "\nRest.\n"},
		{"a_terminal_without_colours_has_marks", terminal.Screen{Width: 80}, 6, 32, "Ä [2J>>>Wipe it with a soft cloth.<<< Rest.\n"},
		{"nothing_is_marked", terminal.Screen{Width: 80, Colours: true}, 0, 0, "Ä [2JWipe it with a soft cloth. Rest.\n"},
		{"offsets_beyond_the_text_end_there", terminal.Screen{}, 33, 99, "Ä [2JWipe it with a soft cloth. >>>Rest.<<<\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			test.screen.Writer = &out
			if err := terminal.Passage(test.screen, text, test.start, test.end); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
