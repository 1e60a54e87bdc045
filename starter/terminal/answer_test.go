package terminal_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/starter/terminal"
	"github.com/google/go-cmp/cmp"
)

func render(t *testing.T, pieces ...string) string {
	t.Helper()
	var out strings.Builder
	a := terminal.NewAnswer(&out)
	for _, p := range pieces {
		a.Add(p)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(pieces, ""); a.Text() != got {
		t.Errorf("Text() = %q, want what was added: %q", a.Text(), got)
	}
	return out.String()
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"a_citation_is_its_number", `Wipe it.<citation id="c-1">[3]</citation> Then rest.`, "Wipe it.[3] Then rest.\n"},
		{"so_is_a_citation_of_the_web", `Yes<web_citation url="http://x/?a=1" title="a &gt; b">[1]</web_citation>.`, "Yes[1].\n"},
		{"so_is_a_mark_of_a_page_while_it_streams", "Yes <source_12>, <source_>, <sources> and <source_1", "Yes [12], <source_>, <sources> and <source_1\n"},
		{"other_angle_brackets_stay", "if a < b && c <= d { return <-ch } // </b> <cite>", "if a < b && c <= d { return <-ch } // </b> <cite>\n"},
		{"a_tag_that_never_closes_is_shown", `see <citation id="c`, "see <citation id=\"c\n"},
		{"control_characters_do_not_reach_the_terminal", "a\x1b[2Jb\x07\u009bc\u202ed\te\r\n", "a[2Jbcd\te\n"},
		{"an_answer_without_words_is_nothing", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, render(t, test.text)); diff != "" {
				t.Errorf("whole (-want +got):\n%s", diff)
			}
			for cut := range test.text {
				if got := render(t, test.text[:cut], test.text[cut:]); got != test.want {
					t.Errorf("cut at %d: %q, want %q", cut, got, test.want)
				}
			}
		})
	}
}

func TestAnswerReset(t *testing.T) {
	t.Parallel()
	t.Run("shown_words_are_declared_void", func(t *testing.T) {
		t.Parallel()
		var out strings.Builder
		a := terminal.NewAnswer(&out)
		a.Add("It is <cit")
		a.Reset("retry")
		a.Add("It is not.")
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		want := "It is <cit\n(the text above is void: the model was asked again and answers otherwise)\nIt is not.\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
		if a.Text() != "It is not." {
			t.Errorf("Text() = %q", a.Text())
		}
	})
	t.Run("where_nothing_was_shown_nothing_is_said", func(t *testing.T) {
		t.Parallel()
		var out strings.Builder
		a := terminal.NewAnswer(&out)
		a.Reset("tool_calls")
		a.Add("Yes.")
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != "Yes.\n" {
			t.Errorf("output %q", out.String())
		}
	})
}
