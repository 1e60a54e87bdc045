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
		{"leaders of strokes", []layout.Line{
			bold(at(50, 50, "Contents")), at(50, 74, "Preface --------- iv"), at(50, 86, "Scope --------- 4"), at(50, 98, "Index ––––––––– 9"), at(50, 150, prose),
		}, []string{"heading1: Contents", "list: Preface … iv\nScope … 4\nIndex … 9", "paragraph: " + prose}},
		{"Roman pages", []layout.Line{
			bold(at(50, 50, "Contents")), at(50, 74, "Preface ..... iv"), at(50, 86, "Scope ..... 4"), at(50, 98, "Index ..... A-3"), at(50, 150, prose),
		}, []string{"heading1: Contents", "list: Preface … iv\nScope … 4\nIndex … A-3", "paragraph: " + prose}},
		{"leaders to several pages", []layout.Line{
			at(50, 74, "anchor ..... 4, 17"), at(50, 86, "bridge ..... 9–12, 40"), at(50, 98, "canal ..... 9"), at(50, 150, prose),
		}, []string{"list: anchor … 4, 17\nbridge … 9–12, 40\ncanal … 9", "paragraph: " + prose}},
		{"a list of figures behind the contents", []layout.Line{
			at(50, 50, "Scope ..... 1"), at(50, 62, "Use ..... 2"), at(50, 74, "Care ..... 4"), bold(at(50, 86, "List of figures")),
			at(50, 98, "The pump ..... 1"), at(50, 110, "The valve ..... 2"), at(50, 122, "The shaft ..... 3"), at(50, 180, prose),
		}, []string{"list: Scope … 1\nUse … 2\nCare … 4", "heading1: List of figures", "list: The pump … 1\nThe valve … 2\nThe shaft … 3", "paragraph: " + prose}},
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

func TestHeadings(t *testing.T) {
	t.Parallel()
	sized := func(size float64, bold bool, l layout.Line) layout.Line {
		l.Size, l.Bold = size, bold
		l.Box.Y2 = l.Box.Y1 + size
		return l
	}
	paragraph := func(element int, l layout.Line) layout.Line {
		l.Role.Element = element
		return l
	}
	stated := func(element int, l layout.Line) layout.Line {
		l.Role = layout.Role{Kind: knowledge.BlockHeading, Level: 1, Element: element}
		return l
	}
	const p = "paragraph: " + prose
	for _, tc := range []struct {
		behaviour string
		lines     []layout.Line
		outline   []layout.Bookmark
		want      []string
	}{
		{"a bold line right above its paragraph", []layout.Line{sized(10, true, at(50, 50, "Safety of the operator")), at(50, 61, prose)}, nil,
			[]string{"heading1: Safety of the operator", p}},
		{"a bold line in one paragraph of the file with the next", []layout.Line{
			paragraph(1, sized(10, true, at(50, 50, "Safety of the operator"))), paragraph(1, at(50, 61, prose)),
		}, nil, []string{"heading1: Safety of the operator", p}},
		{"bold words that a sentence begins with are of it", []layout.Line{
			paragraph(1, sized(10, true, at(50, 50, "The safety of the operator and of"))), paragraph(1, at(50, 61, "others comes first.")),
		}, nil, []string{"paragraph: The safety of the operator and of others comes first."}},
		{"bold headings below each other", []layout.Line{
			sized(10, true, at(50, 50, "2 Maintenance")), sized(10, true, at(50, 61, "2.1 Seals")), at(50, 72, prose),
		}, nil, []string{"heading1: 2 Maintenance", "heading2: 2.1 Seals", p}},
		{"numbers in one size", []layout.Line{
			sized(14, false, at(50, 50, "1 Introduction")), at(50, 70, prose), sized(14, false, at(50, 100, "1.1 Scope")), at(50, 120, prose),
			sized(14, false, at(50, 150, "1.1.1 Readers")), at(50, 170, prose), sized(14, false, at(50, 200, "2 Care")), at(50, 220, prose),
		}, nil, []string{"heading1: 1 Introduction", p, "heading2: 1.1 Scope", p, "heading3: 1.1.1 Readers", p, "heading1: 2 Care", p}},
		{"sizes", []layout.Line{
			sized(16, true, at(50, 50, "Introduction")), at(50, 70, prose), sized(13, true, at(50, 100, "Scope")), at(50, 120, prose), sized(10, true, at(50, 150, "Readers")), at(50, 162, prose),
		}, nil, []string{"heading1: Introduction", p, "heading2: Scope", p, "heading3: Readers", p}},
		{"bookmarks of the second level alone", []layout.Line{
			sized(16, true, at(50, 50, "Introduction")), at(50, 70, prose), sized(13, true, at(50, 100, "Scope")), at(50, 120, prose), sized(16, true, at(50, 150, "Care")), at(50, 172, prose),
		}, []layout.Bookmark{{Title: "Scope", Level: 1, Page: 1, Top: 100}}, []string{"heading1: Introduction", p, "heading2: Scope", p, "heading1: Care", p}},
		{"capitals in the size of the body", []layout.Line{
			sized(10, true, at(50, 50, "SAFETY")), at(50, 70, prose), sized(10, true, at(50, 100, "Before the start")), at(50, 112, prose),
		}, nil, []string{"heading1: SAFETY", p, "heading2: Before the start", p}},
		{"labels above headings without one", []layout.Line{
			sized(10, true, at(50, 50, "PART II")), sized(10, true, at(50, 65, "Item 7. Discussion of results")), at(50, 80, prose), sized(10, true, at(50, 110, "Liquidity")), at(50, 122, prose),
			sized(10, true, at(50, 150, "Item 8. Statements")), at(50, 162, prose),
		}, nil, []string{"heading1: PART II", "heading2: Item 7. Discussion of results", p, "heading3: Liquidity", p, "heading2: Item 8. Statements", p}},
		{"a file that states the title alone", []layout.Line{
			stated(1, sized(20, true, at(50, 20, "Annual report"))), sized(10, true, at(50, 50, "Note 1 — Stocks")), at(50, 62, prose), sized(10, true, at(50, 92, "Note 2 — Debt")), at(50, 104, prose),
			sized(10, true, at(50, 134, "Note 3 — Leases")), at(50, 146, prose), sized(10, true, at(50, 176, "Note 4 — Taxes")), at(50, 188, prose), sized(10, true, at(50, 218, "Note 5 — Pensions")), at(50, 230, prose),
		}, nil, []string{"heading1: Annual report", "heading2: Note 1 — Stocks", p, "heading2: Note 2 — Debt", p, "heading2: Note 3 — Leases", p, "heading2: Note 4 — Taxes", p, "heading2: Note 5 — Pensions", p}},
		{"a file that states its headings", []layout.Line{
			stated(1, at(50, 20, "Report")), at(50, 40, prose), sized(10, true, at(50, 70, "A label in bold")), at(50, 82, prose),
		}, nil, []string{"heading1: Report", p, "paragraph: A label in bold", p}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			wantBlocks(t, layout.Document{Pages: pages(1), Lines: tc.lines, Outline: tc.outline}, tc.want...)
		})
	}
}
