package layout_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// mono returns a line in a font whose letters are 5 points wide, indented by so many.
func mono(indent int, y float64, text string) layout.Line {
	l := at(50+5*float64(indent), y, text)
	l.Mono = true
	start := 0
	runes := []rune(text)
	for i := 0; i <= len(runes); i++ {
		if i < len(runes) && runes[i] != ' ' {
			continue
		}
		l.Words = append(l.Words, layout.Word{Start: start, End: i, X1: l.Box.X1 + 5*float64(start), X2: l.Box.X1 + 5*float64(i)})
		start = i + 1
	}
	return l
}

const prose = "The configuration of the pump is in a file, which the controller reads."

func TestCode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		lines     []layout.Line
		want      []string
	}{
		{"keeps its lines and indentation", []layout.Line{
			at(50, 50, prose), mono(0, 80, "if speed > limit {"), mono(4, 92, "stop()"), mono(0, 104, "}"), at(50, 130, prose),
		}, []string{"paragraph: " + prose, "code: if speed > limit {\n    stop()\n}", "paragraph: " + prose}},
		{"keeps empty lines", []layout.Line{
			at(50, 50, prose), mono(0, 80, "a = 1"), mono(0, 92, "b = 2"), mono(0, 116, "c = 3"), at(50, 150, prose),
		}, []string{"paragraph: " + prose, "code: a = 1\nb = 2\n\nc = 3", "paragraph: " + prose}},
		{"keeps columns that are not a table", []layout.Line{
			at(50, 50, prose), mono(0, 80, "name:"), mono(10, 80, "P-17"), mono(20, 80, "# the pump"), mono(0, 92, "speed:"), mono(10, 92, "1450"), mono(20, 92, "# 1/min"),
			mono(0, 104, "oil:"), mono(10, 104, "5"), mono(20, 104, "# l"), at(50, 150, prose),
		}, []string{"paragraph: " + prose, "code: name:     P-17      # the pump\nspeed:    1450      # 1/min\noil:      5         # l", "paragraph: " + prose}},
		{"a name in a paragraph is not code", []layout.Line{at(50, 50, prose), mono(0, 62, "controller"), at(50, 74, "and so on it goes for a while here.")},
			[]string{"paragraph: " + prose + " controller and so on it goes for a while here."}},
		{"a document of a typewriter is text", []layout.Line{mono(0, 50, "The pump; it runs."), mono(0, 62, "The valve = closed."), mono(0, 74, "The end.")},
			[]string{"paragraph: The pump; it runs. The valve = closed. The end."}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			wantBlocks(t, layout.Document{Pages: pages(1), Lines: tc.lines}, tc.want...)
		})
	}
}

func TestContents(t *testing.T) {
	t.Parallel()
	bold := func(l layout.Line) layout.Line {
		l.Bold = true
		return l
	}
	for _, tc := range []struct {
		behaviour string
		lines     []layout.Line
		want      []string
	}{
		{"leaders of dots", []layout.Line{
			bold(at(50, 50, "1 Introduction ............ 3")), at(50, 62, "1.1 Scope . . . . . . . . . 4"), bold(at(50, 74, "2 Care of the pump _________ 10")), at(50, 120, prose),
		}, []string{"list: 1 Introduction … 3\n1.1 Scope … 4\n2 Care of the pump … 10", "paragraph: " + prose}},
		{"pages drawn apart, below the title", []layout.Line{
			bold(at(50, 50, "Contents")), at(50, 74, "Introduction"), at(400, 74, "3"), at(50, 86, "Scope"), at(400, 86, "4"), at(50, 98, "Care"), at(400, 98, "10"), at(50, 150, prose),
		}, []string{"heading1: Contents", "list: Introduction 3\nScope 4\nCare 10", "paragraph: " + prose}},
		{"titles on two lines", []layout.Line{
			bold(at(50, 50, "Inhaltsverzeichnis")), at(50, 74, "1 Einleitung ....... 3"), at(50, 86, "2 Wartung der Pumpen und aller"), at(50, 98, "Dichtungen ....... 4"), at(50, 110, "3 Anhang ....... 10"), at(50, 150, prose),
		}, []string{"heading1: Inhaltsverzeichnis", "list: 1 Einleitung … 3\n2 Wartung der Pumpen und aller Dichtungen … 4\n3 Anhang … 10", "paragraph: " + prose}},
		{"Roman pages", []layout.Line{
			bold(at(50, 50, "Contents")), at(50, 74, "Preface ..... iv"), at(50, 86, "Scope ..... 4"), at(50, 98, "Index ..... A-3"), at(50, 150, prose),
		}, []string{"heading1: Contents", "list: Preface … iv\nScope … 4\nIndex … A-3", "paragraph: " + prose}},
		{"text below a title is text", []layout.Line{
			bold(at(50, 50, "Contents")), at(50, 74, prose), at(50, 86, "It has three parts that are read in this order by most of them."),
		}, []string{"heading1: Contents", "paragraph: " + prose + " It has three parts that are read in this order by most of them."}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			wantBlocks(t, layout.Document{Pages: pages(1), Lines: tc.lines}, tc.want...)
		})
	}
	t.Run("amounts below another title are a table", func(t *testing.T) {
		t.Parallel()
		d := layout.Document{Pages: pages(1), Lines: []layout.Line{
			bold(at(50, 50, "Stock")), at(50, 74, "Pumps"), at(200, 74, "3"), at(50, 86, "Seals"), at(200, 86, "14"), at(50, 98, "Oil"), at(200, 98, "10"), at(50, 150, prose),
		}}
		if blocks := d.Blocks(); blocks[1].Kind != knowledge.BlockTable {
			t.Errorf("blocks %q", outlineOf(blocks))
		}
	})
	t.Run("bookmarks name the headings and not the entries", func(t *testing.T) {
		t.Parallel()
		wantBlocks(t, layout.Document{Pages: pages(1), Lines: []layout.Line{
			at(50, 50, "Introduction ....... 1"), at(50, 62, "Scope ....... 1"), at(50, 74, "Care ....... 1"), at(50, 200, "Scope"), at(50, 220, prose),
		}, Outline: []layout.Bookmark{{Title: "Scope", Level: 1, Page: 1, Top: 60}}},
			"list: Introduction … 1\nScope … 1\nCare … 1", "heading1: Scope", "paragraph: "+prose)
	})
}
