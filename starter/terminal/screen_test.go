package terminal_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/starter/terminal"
)

func TestTableOnAScreen(t *testing.T) {
	t.Parallel()
	header := []string{"ID", "NAME", "STATUS", "CHUNKS"}
	rows := [][]string{
		{"7f15f1ff-d15e-5894-8fb3-155392ab8972", "manual.pdf", "published", "3"},
		{"7f15f1ff-d25e-5894-8fb3-155392ab8972", "保守マニュアル第二版、全巻.pdf", "error", "0"},
	}
	for _, test := range []struct {
		name   string
		screen terminal.Screen
		want   string
	}{
		{"a_wide_one_shows_everything", terminal.Screen{Width: 100}, "" +
			"ID                                    NAME                            STATUS     CHUNKS\n" +
			"7f15f1ff-d15e-5894-8fb3-155392ab8972  manual.pdf                      published  3\n" +
			"7f15f1ff-d25e-5894-8fb3-155392ab8972  保守マニュアル第二版、全巻.pdf  error      0\n"},
		{"ids_are_shortened_to_what_differs", terminal.Screen{Width: 66}, "" +
			"ID           NAME                            STATUS     CHUNKS\n" +
			"7f15f1ff-d1  manual.pdf                      published  3\n" +
			"7f15f1ff-d2  保守マニュアル第二版、全巻.pdf  error      0\n"},
		{"spare_columns_are_left_out_and_long_cells_cut", terminal.Screen{Width: 40}, "" +
			"ID           NAME              STATUS\n" +
			"7f15f1ff-d1  manual.pdf        published\n" +
			"7f15f1ff-d2  保守マニュアル…   error\n"},
		{"states_have_colours", terminal.Screen{Width: 100, Colours: true}, "" +
			"\x1b[1mID\x1b[m                                    \x1b[1mNAME\x1b[m                            \x1b[1mSTATUS\x1b[m     \x1b[1mCHUNKS\x1b[m\n" +
			"7f15f1ff-d15e-5894-8fb3-155392ab8972  manual.pdf                      \x1b[32mpublished\x1b[m  3\n" +
			"7f15f1ff-d25e-5894-8fb3-155392ab8972  保守マニュアル第二版、全巻.pdf  \x1b[31merror\x1b[m      0\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			test.screen.Writer = &out
			if err := terminal.Table(test.screen, header, rows, "CHUNKS"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two  three", 7, []string{"one two", "three"}},
		{"see https://example.org/a-long-path here", 10, []string{"see", "https://example.org/a-long-path", "here"}},
		{"保守 マニュアル 版", 10, []string{"保守", "マニュアル", "版"}},
		{"one two three", 0, []string{"one two three"}},
		{"", 5, []string{""}},
	} {
		if diff := cmp.Diff(test.want, terminal.Wrap(test.text, test.width)); diff != "" {
			t.Errorf("%q in %d columns (-want +got):\n%s", test.text, test.width, diff)
		}
	}
}

func TestShape(t *testing.T) {
	t.Parallel()
	given := `{"externalId":"a","metadata":{"orderNo":1},"ai":{"numberOfChunks":8},"list":[{"chunkId":"c","runID":9007199254740993}],"big":1000000}`
	shaped, err := terminal.Shape(json.RawMessage(given))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := terminal.JSONLine(&out, shaped); err != nil {
		t.Fatal(err)
	}
	want := `{"ai":{"numberOfChunks":8},"big":1000000,"external_id":"a","list":[{"chunk_id":"c","run_id":9007199254740993}],"metadata":{"orderNo":1}}` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestYAML(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := terminal.YAML(&out, map[string]any{"chunkCount": 1000000, "score": 0.5, "name": "a\x1b[31m\u202e", "empty": nil, "yes": "no"})
	if err != nil {
		t.Fatal(err)
	}
	want := "chunk_count: 1000000\nempty: null\nname: \"a\\e[31m\\u202e\"\nscore: 0.5\n\"yes\": \"no\"\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}
