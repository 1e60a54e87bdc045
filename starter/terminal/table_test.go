package terminal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
	"github.com/google/go-cmp/cmp"
)

func TestSources(t *testing.T) {
	t.Parallel()
	onPages := client.Source{Rank: 1, ChunkID: "c-1", DocumentName: "manual.pdf", ExternalID: "manuals/hx4.pdf", Heading: []string{"Cleaning"}, Page: 2, UsedInResponse: true,
		Boxes: client.Boxes{{Page: 2, Box: knowledge.Box{X1: 64.2, Y1: 100, X2: 531, Y2: 180.7}}, {Page: 3, Box: knowledge.Box{X1: 64, Y1: 60, X2: 531, Y2: 90}}}}
	text := client.Source{
		Rank: 4, ChunkID: "c-4", DocumentName: "hand\nbook.md", ExternalID: "hr/hand\nbook.md", Heading: []string{"Leave", "Parental\tleave"}, Lines: [2]int{41, 48}, UsedInResponse: true,
	}
	oneLine := client.Source{Rank: 6, ChunkID: "c-6", DocumentName: "rows.csv", Lines: [2]int{7, 7}, UsedInResponse: true}
	page := client.Source{Rank: 7, ChunkID: "c-7", DocumentName: "page.html", Heading: []string{"Tides"}, Text: "Spring tides\ncome after a new moon and after a full one.", UsedInResponse: true}
	recording := client.Source{Rank: 8, ChunkID: "c-8", DocumentName: "talk.mp3", StartTime: new(3598.2), EndTime: new(3607.9), UsedInResponse: true}
	sheet := client.Source{Rank: 9, ChunkID: "c-9", DocumentName: "sales.xlsx", Place: "Sales!A2:D41", UsedInResponse: true}
	web := client.Source{Rank: 10, DocumentName: "Tides", URL: "https://tides.example/", UsedInResponse: true}
	gone := client.Source{Rank: 5, ChunkID: "c-5", UsedInResponse: true, Removed: true}
	unused := client.Source{Rank: 2, ChunkID: "c-2", DocumentName: "other.md", Lines: [2]int{3, 3}}
	for _, test := range []struct {
		name    string
		sources []client.Source
		boxes   bool
		want    string
	}{
		{"cited_passages_with_their_places_and_ids", []client.Source{onPages, unused, text, gone, oneLine, page}, false,
			"Sources\n" +
				"  [1]  manual.pdf › Cleaning\n       pages 2-3; external id manuals/hx4.pdf; chunk c-1\n" +
				"  [4]  hand book.md › Leave › Parental leave\n       lines 41-48; external id hr/hand book.md; chunk c-4\n" +
				"  [5]  (removed)\n" +
				"  [6]  rows.csv\n       line 7; chunk c-6\n" +
				"  [7]  page.html › Tides\n       “Spring tides come after a new moon and a…”; chunk c-7\n"},
		{"boxes_on_the_pages", []client.Source{onPages}, true,
			"Sources\n  [1]  manual.pdf › Cleaning\n       page 2, box 64,100 531,181; page 3, box 64,60 531,90; external id manuals/hx4.pdf; chunk c-1\n"},
		{"a_recording_a_sheet_and_a_page_of_the_web", []client.Source{recording, sheet, web}, false,
			"Sources\n  [8]  talk.mp3\n       59:58-1:00:07; chunk c-8\n" +
				"  [9]  sales.xlsx\n       Sales!A2:D41; chunk c-9\n" +
				"  [10]  Tides\n        https://tides.example/\n"},
		{"what_was_found_where_nothing_is_cited", []client.Source{unused}, false,
			"Nothing is cited. Passages that were found\n  [2]  other.md\n       line 3; chunk c-2\n"},
		{"nothing_found", nil, false, "No passages were found.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := terminal.Sources(&out, test.sources, test.boxes); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProgressWithoutATerminalIsLines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := terminal.NewProgress(&out, nil, 2)
	if err := p.Done("published", "a.md", "12 chunks"); err != nil {
		t.Fatal(err)
	}
	if err := p.Done("failed", "b\x1b.pdf", "encrypted at extract: it asks for a password"); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	want := "published  a.md  12 chunks\nfailed     b.pdf  encrypted at extract: it asks for a password\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestProgressOnATerminalKeepsTheBarOutOfTheLines(t *testing.T) {
	t.Parallel()
	var out, bar strings.Builder
	p := terminal.NewProgress(&out, &bar, 1)
	if err := p.Done("published", "a.md", ""); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if out.String() != "published  a.md\n" || !strings.Contains(bar.String(), "documents") {
		t.Errorf("lines %q, bar %q", out.String(), bar.String())
	}
}

func TestJSONIsEscaped(t *testing.T) {
	t.Parallel()
	v := map[string]any{"name": "a\x1b\u009b\x7f\u202e<é>\n", "raw": json.RawMessage("{\"x\": \"\u0085\"}")}
	var lines, one strings.Builder
	if err := errors.Join(terminal.JSON(&lines, v), terminal.JSONLine(&one, v)); err != nil {
		t.Fatal(err)
	}
	want := `{"name":"a\u001b\u009b\u007f\u202e<é>\n","raw":{"x":"\u0085"}}` + "\n"
	if diff := cmp.Diff(want, one.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(lines.String())); err != nil || compact.String()+"\n" != want {
		t.Errorf("the same in lines is %s, %v", lines.String(), err)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 chunks", 1: "1 chunk", 2: "2 chunks"} {
		if got := terminal.Count(n, "chunk"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	if got := terminal.Shorten("vier Wörter über äöü", 11); got != "vier Wörter…" || terminal.Shorten("äöü", 3) != "äöü" {
		t.Errorf("got %q", got)
	}
}
