package asciidoc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/asciidoc"
	"github.com/cairn-rag/cairn/internal/extract/extracttest"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	const head = "title: , author: , includes: 0\n"
	for _, tc := range []struct{ behaviour, source, want string }{
		{"an attribute that is not set", "ifdef::x[]\nA\nendif::[]\nifndef::x[]\nB\nendif::x[]", "paragraph: B\n"},
		{"an attribute that the text sets", ":x:\n\nifdef::x[]\nA\nendif::x[]\nifndef::x[]\nB\nendif::[]", "paragraph: A\n"},
		{"an attribute that the text removes", ":x: 1\n:!x:\n\nifdef::x[]\nA\nendif::[]\n{x}", "paragraph: {x}\n"},
		{"an attribute between conditions that do not hold", "ifdef::x[]\n:y:\nendif::[]\nifdef::y[]\nA\nendif::[]\nB", "paragraph: B\n"},
		{"an attribute in a listing", "----\n:x: 1\n----\nifdef::x[]\nA\nendif::[]", "code: :x: 1\n"},
		{"conditions within others", "ifdef::x[]\nifndef::y[]\nA\nendif::[]\nB\nendif::[]\nC", "paragraph: C\n"},
		{"one line", ":x:\n\nifdef::x[A *b*]\nifndef::x[C]", "paragraph: A b\n"},
		{"a line within a paragraph", "A\nifdef::x[]\nB\nendif::[]\nC", "paragraph: A C\n"},
		{"any and all of several", ":x:\n\nifdef::x,y[A]\nifdef::x+y[B]\nifndef::x,y[C]\nifndef::x+y[D]", "paragraph: A D\n"},
		{"texts that are compared", ":x: a\n\nifeval::[\"{x}\" == \"a\"]\nA\nendif::[]\nifeval::['{x}' != 'a']\nB\nendif::[]", "paragraph: A\n"},
		{"numbers that are compared", ":x: 10\n\nifeval::[{x} > 9]\nA\nendif::[]\nifeval::[{x} <= 9]\nB\nendif::[]", "paragraph: A\n"},
		{"an expression without an attribute", "ifeval::[\"{x}\" == \"a\"]\nA\nendif::[]\nB", "paragraph: B\n"},
		{"conditions in a listing", "----\na\nifdef::x[]\nb\nendif::[]\n\\ifdef::x[]\n----", "code: a\n    ifdef::x[]\n"},
		{"an end without a beginning", "A\n\nendif::[]\nB", "paragraph: A\nparagraph: B\n"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(head+tc.want, extracttest.Shown(asciidoc.Read(tc.source))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOriginsBehindConditions looks at the lines of the source of a block.
func TestOriginsBehindConditions(t *testing.T) {
	t.Parallel()
	blocks := asciidoc.Read("ifdef::x[]\nA\nendif::[]\nB\nC").Blocks
	if len(blocks) != 1 || blocks[0].Origin.First != 4 || blocks[0].Origin.Last != 5 {
		t.Errorf("blocks %+v, want one from line 4 to 5", blocks)
	}
}
