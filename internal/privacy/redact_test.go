package privacy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// lease is a page with an account number that is broken over two lines, a table, and a
// figure whose text has an address.
func lease() knowledge.Layout {
	first, second := knowledge.Box{X1: 0, Y1: 0, X2: 300, Y2: 10}, knowledge.Box{X1: 0, Y1: 10, X2: 240, Y2: 20}
	text := "Pay to DE89 3704 0044\n0532 0130 00, not by cash."
	return knowledge.Layout{
		Title: "Lease of ann@example.org", Metadata: map[string]string{"author": "bob@example.org", "created": "2024-05-12"},
		Pages: []knowledge.PageSize{{Page: 1, Width: 300, Height: 400}},
		Blocks: []knowledge.Block{
			{Kind: knowledge.BlockHeader, Text: "bob@example.org", Lines: knowledge.Lines{{End: 15, Page: 1}}},
			{Kind: knowledge.BlockParagraph, Text: text, Lines: knowledge.Lines{{Start: 0, End: 21, Page: 1, Box: first}, {Start: 22, End: 48, Page: 1, Box: second}}},
			{
				Kind: knowledge.BlockTable, Text: "| Name | Mail |\n| --- | --- |\n| Ann | ANN@example.org |", Header: "| Name | Mail |\n| --- | --- |",
				Cells: []knowledge.Cell{{Text: "Name"}, {Column: 1, Text: "Mail"}, {Row: 1, Text: "Ann"}, {Row: 1, Column: 1, Text: "ANN@example.org"}},
			},
			{Kind: knowledge.BlockFigure, Text: "bob@example.org", Figure: "card.png"},
			{Kind: knowledge.BlockFigure, Text: "A ship.", Figure: "ship.png"},
		},
	}
}

func TestRedactedLayout(t *testing.T) {
	t.Parallel()
	before := lease()
	got, report, dropped := privacy.NewFinder(nil).NewRedactor().Layout(before)
	if diff := cmp.Diff(lease(), before); diff != "" {
		t.Errorf("the layout before was changed:\n%s", diff)
	}
	if got.Title != "Lease of <EMAIL_ADDRESS_1>" || got.Metadata["author"] != "<EMAIL_ADDRESS_2>" || got.Metadata["created"] != "2024-05-12" {
		t.Errorf("title %q, metadata %v", got.Title, got.Metadata)
	}
	var texts []string
	for _, b := range got.Blocks {
		texts = append(texts, b.Text)
	}
	want := []string{
		"<EMAIL_ADDRESS_2>", "Pay to <IBAN_CODE_1>\n, not by cash.", "| Name | Mail |\n| --- | --- |\n| Ann | <EMAIL_ADDRESS_1> |", "<EMAIL_ADDRESS_2>", "A ship.",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("texts:\n%s", diff)
	}
	if table := got.Blocks[2]; table.Cells[3].Text != "<EMAIL_ADDRESS_1>" || !strings.HasPrefix(table.Text, table.Header) {
		t.Errorf("table: %+v", table)
	}
	if !cmp.Equal(dropped, []string{"card.png"}) || got.Blocks[3].Figure != "" || got.Blocks[4].Figure != "ship.png" {
		t.Errorf("figures %q are dropped", dropped)
	}
	if !cmp.Equal(report.Pages, []int{0, 1}) {
		t.Errorf("pages %v", report.Pages)
	}
	wantPlaces(t, got, report)
}

// wantPlaces checks that each finding of a report is a placeholder in the text of a layout.
func wantPlaces(t *testing.T, layout knowledge.Layout, report privacy.Report) {
	t.Helper()
	var parts []string
	for _, b := range layout.Blocks {
		if !b.Kind.IsFurniture() {
			parts = append(parts, b.Text)
		}
	}
	text := []rune(strings.Join(parts, knowledge.BlockSeparator))
	if len(report.Findings) != 3 {
		t.Errorf("findings %+v", report.Findings)
	}
	for _, f := range report.Findings {
		if at := string(text[f.Start:f.End]); !strings.HasPrefix(at, "<"+f.Entity+"_") || !strings.HasSuffix(at, ">") {
			t.Errorf("%+v is at %q", f, at)
		}
	}
}

// TestBoxesOfRedactedLines checks that what stands before and behind a placeholder keeps its
// place on the page, and that the placeholder has the box of its value.
func TestBoxesOfRedactedLines(t *testing.T) {
	t.Parallel()
	before := lease().Blocks[1]
	redacted, _, _ := privacy.NewFinder(nil).NewRedactor().Layout(lease())
	got := redacted.Blocks[1]
	runes := []rune(got.Text)
	var texts []string
	for i, l := range got.Lines {
		if i > 0 && l.Start < got.Lines[i-1].End || l.End > len(runes) {
			t.Fatalf("line %d overlaps or ends behind the text: %+v", i, got.Lines)
		}
		texts = append(texts, string(runes[l.Start:l.End]))
	}
	if want := []string{"Pay to ", "<IBAN_CODE_1>", ", not by cash."}; !cmp.Equal(texts, want) {
		t.Fatalf("lines %q, want %q", texts, want)
	}
	for i, want := range []knowledge.Box{before.Lines[0].Part(0, 7), before.Lines[0].Part(7, 21), before.Lines[1].Part(34, 48)} {
		if got.Lines[i].Box != want {
			t.Errorf("%q has the box %v, want %v", texts[i], got.Lines[i].Box, want)
		}
	}
}

func TestRedactedAttributes(t *testing.T) {
	t.Parallel()
	name, tags, metadata, err := privacy.Recognisers(nil).RedactAttributes(t.Context(), knowledge.VersionPrivacy{Mode: knowledge.PrivacyRedact, Entities: "EMAIL_ADDRESS,UK_NHS"}, "ann@example.org.pdf",
		[]string{"of bob@example.org", "2024"}, map[string]any{"nhs number": "9434765919", "more": []any{"ann@example.org", 7.0}, "ip": "192.168.17.4"})
	if err != nil || name != "<EMAIL_ADDRESS_1>.pdf" || !cmp.Equal(tags, []string{"of <EMAIL_ADDRESS_2>", "2024"}) {
		t.Errorf("name %q, tags %q", name, tags)
	}
	want := map[string]any{"nhs number": "<UK_NHS_1>", "more": []any{"<EMAIL_ADDRESS_1>", 7.0}, "ip": "192.168.17.4"}
	if diff := cmp.Diff(want, metadata); diff != "" {
		t.Errorf("metadata:\n%s", diff)
	}
	if name, _, _, err := privacy.Recognisers(nil).RedactAttributes(t.Context(), knowledge.VersionPrivacy{Mode: knowledge.PrivacyDetect}, "ann@example.org", nil, nil); err != nil || name != "ann@example.org" {
		t.Errorf("a project that only detects has the name %q", name)
	}
}

// TestEntitiesAreThoseOfTheVocabulary compares the names that a project may choose with
// those that the recognisers find.
func TestEntitiesAreThoseOfTheVocabulary(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, name := range knowledge.PIIEntities() {
		known[name] = false
	}
	for _, tt := range published() {
		if _, ok := known[tt.entity]; !ok {
			t.Errorf("%s is no entity of the vocabulary", tt.entity)
		}
		known[tt.entity] = true
	}
	for name, found := range known {
		if !found {
			t.Errorf("%s is not recognised", name)
		}
	}
}
