package pdf_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// withoutTables returns pages of HTML that have no table, each named by what it has instead.
func withoutTables() string {
	random := rand.New(rand.NewPCG(5, 7))
	prose := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(sentences[random.IntN(len(sentences))] + " ")
		}
		return b.String()
	}
	paragraphs := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "<p>%s</p>", prose(4))
		}
		return b.String()
	}
	items := func(n, length int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "<li>%s</li>", prose(length))
		}
		return b.String()
	}
	label := newSetMaker(9)
	entries := func(format string, n int) string {
		var b strings.Builder
		page := 1
		for i := range n {
			page += random.IntN(4)
			fmt.Fprintf(&b, format, i/3+1, i%3+1, label.label(""), page)
		}
		return b.String()
	}
	pages := map[string]string{
		"two columns":           "<h1>News</h1><div style='columns:2;text-align:justify'>" + paragraphs(16) + "</div>",
		"three columns":         "<div style='columns:3;column-gap:14px;font-size:8pt;text-align:justify'>" + paragraphs(24) + "</div>",
		"columns with a rule":   "<div style='columns:2;column-rule:1px solid #444'>" + paragraphs(10) + "</div>",
		"contents with dots":    "<h1>Contents</h1>" + entries("<div style='display:flex'><span>%d.%d %s</span><span style='flex:1;overflow:hidden;white-space:nowrap;direction:rtl'>"+strings.Repeat(".", 300)+"</span><span>%d</span></div>", 20),
		"contents without dots": "<h1>Contents</h1>" + entries("<div style='display:flex;justify-content:space-between'><span>%d.%d %s</span><span>%d</span></div>", 20),
		"contents in columns":   "<h1>Contents</h1>" + entries("<div style='display:grid;grid-template-columns:60px 1fr 40px;padding:2px'><span>%d.%d</span><span>%s</span><span style='text-align:right'>%d</span></div>", 20),
		"lists":                 "<ol>" + items(8, 1) + "</ol><ul>" + items(8, 2) + "</ul>",
		"references":            entries("<div style='display:grid;grid-template-columns:40px 1fr'><span>[%d%d]</span><span>%s: "+prose(2)+" %d.</span></div>", 9),
		"a form":                strings.Repeat("<p>Name: <span style='display:inline-block;width:180px;border-bottom:1px solid'>&nbsp;</span> Town: <span style='display:inline-block;width:120px;border-bottom:1px solid'>&nbsp;</span></p>", 6),
		"code":                  "<pre>" + strings.Repeat("for i := range list {   // all of them\n    sum += list[i]      // in order\n}\nreturn sum              // at the end\n\n", 6) + "</pre>",
		"cards":                 "<div style='display:flex;gap:12px'>" + strings.Repeat("<div style='flex:1;border:1px solid;padding:8px'><h3>"+label.label("")+"</h3>"+prose(3)+"</div>", 3) + "</div>",
		"shaded cards":          "<div style='display:flex;gap:12px'>" + strings.Repeat("<div style='flex:1;background:#dde;padding:8px'><h3>"+label.label("")+"</h3>"+prose(3)+"</div>", 3) + "</div>",
		"notes":                 strings.Repeat("<div style='border:1px solid #888;background:#eee;padding:6px;margin:8px'>"+prose(2)+"</div>", 5),
		"a letter":              "<div style='display:flex;justify-content:space-between'><div>Harbour Office<br>3 Mill Lane<br>Basel</div><div>Valley Works<br>14 Kiln Road<br>Ghent</div></div>" + paragraphs(5) + "<div style='display:flex;gap:80px'><div>____________<br>A. Miller</div><div>____________<br>B. Smith</div></div>",
		"links":                 "<ul>" + strings.ReplaceAll(items(12, 2), ".", ", as in <u>"+label.label("")+"</u>.") + "</ul>",
		"verses":                strings.Repeat("<p style='margin-left:60px'>The lamp is red,<br>&nbsp;&nbsp;&nbsp;&nbsp;the valve is shut,<br>and water stands<br>&nbsp;&nbsp;&nbsp;&nbsp;in every cut.</p>", 6),
		"bars":                  barChart(random, false), "stacked bars": barChart(random, true), "a flow chart": flowChart(),
		"an index":  "<div style='columns:3'>" + entries("<div>%[3]s, %[1]d%[2]d, %[4]d</div>", 60) + "</div>",
		"questions": strings.Repeat("<p><b>A:</b> "+prose(1)+"</p><p><b>B:</b> "+prose(2)+"</p>", 8),
	}
	maps.Copy(pages, indexes(random))
	var all strings.Builder
	all.WriteString("<!DOCTYPE html><html lang=en><meta charset=utf-8><style>body{font:10pt sans-serif}</style><body>")
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		fmt.Fprintf(&all, "<h2 style='page-break-before:always'>On %s</h2>%s\n", name, pages[name])
	}
	return all.String()
}

// indexes returns pages of entries with the numbers of pages behind them.
func indexes(random *rand.Rand) map[string]string {
	label, page := newSetMaker(11), 0
	var terms []string
	for range 90 {
		terms = append(terms, label.label(""))
	}
	slices.Sort(terms)
	list := func(n int, entry func(term string, page int) string) string {
		var b strings.Builder
		page = 0
		for _, term := range terms[:n] {
			page += random.IntN(4)
			b.WriteString(entry(term, page))
		}
		return b.String()
	}
	several := func(int) string {
		a, b := 1+random.IntN(300), 310+random.IntN(300)
		return []string{fmt.Sprint(a), fmt.Sprintf("%d, %d", a, b), fmt.Sprintf("%d–%d, %d", a, a+3, b), fmt.Sprintf("%d, %d, %d", a, a+5, b)}[random.IntN(4)]
	}
	apart := func(term, number string) string {
		return "<div style='display:flex;justify-content:space-between'><span>" + term + "</span><span>" + number + "</span></div>"
	}
	dotted := func(term, number string) string {
		return "<div style='display:flex'><span>" + term + "</span><span style='flex:1;overflow:hidden;white-space:nowrap;direction:rtl'>" + strings.Repeat(".", 300) + "</span><span>" + number + "</span></div>"
	}
	letter := ""
	return map[string]string{
		"an index with letters": "<div style='columns:3'>" + list(90, func(term string, p int) string {
			entry := "<div>" + term + ", " + several(p) + "</div>"
			if p%7 == 0 {
				entry += "<div style='padding-left:12px'>repair of, " + several(p) + "</div><div style='padding-left:12px'><i>see also</i> " + terms[p%90] + "</div>"
			}
			if term[:1] != letter {
				letter = term[:1]
				entry = "<h4>" + letter + "</h4>" + entry
			}
			return entry
		}) + "</div>",
		"an index with dots":          "<div style='columns:2'>" + list(60, func(term string, p int) string { return dotted(term, several(p)) }) + "</div>",
		"an index with numbers apart": "<div style='columns:2;column-gap:40px'>" + list(60, func(term string, p int) string { return apart(term, several(p)) }) + "</div>",
		"an index of authors": "<div style='columns:3'>" + list(60, func(term string, p int) string {
			return "<div>" + term[:6] + ", " + term[:1] + ". " + terms[p%90][:1] + ".: " + several(p) + "</div>"
		}) + "</div>",
		"contents in two columns":        "<h1>Contents</h1><div style='columns:2;column-gap:40px'>" + list(40, func(term string, p int) string { return apart(term, fmt.Sprint(p)) }) + "</div>",
		"dotted contents in two columns": "<h1>Contents</h1><div style='columns:2'>" + list(40, func(term string, p int) string { return dotted(term, fmt.Sprint(p)) }) + "</div>",
		"a list of figures": "<h1>List of figures</h1>" + list(20, func(term string, p int) string {
			return fmt.Sprintf("<div style='display:grid;grid-template-columns:80px 1fr 40px'><span>Figure %d.%d</span><span>%s</span><span style='text-align:right'>%d</span></div>", p/5+1, p%5+1, term, p)
		}),
	}
}

// barChart returns a chart with lines, bars and labels.
func barChart(random *rand.Rand, stacked bool) string {
	var b strings.Builder
	b.WriteString("<p>The chart shows the year.</p><svg width=600 height=320 font-size=11>")
	for i := range 6 {
		fmt.Fprintf(&b, "<line x1=40 x2=580 y1=%d y2=%d stroke=#999 /><text x=8 y=%d>%d</text>", 280-50*i, 280-50*i, 284-50*i, 20*i)
	}
	b.WriteString("<line x1=40 x2=40 y1=20 y2=280 stroke=#000 />")
	for i := range 8 {
		tall, x := 60+random.IntN(180), 60+65*i
		fmt.Fprintf(&b, "<rect x=%d y=%d width=40 height=%d fill=#47a /><text x=%d y=296>%d</text><text x=%d y=%d>%d</text>", x, 280-tall, tall, x+4, 2015+i, x+8, 276-tall, tall)
		if stacked {
			fmt.Fprintf(&b, "<rect x=%d y=%d width=40 height=%d fill=#a74 /><text x=%d y=%d fill=#fff>%d</text>", x, 280-tall/2, tall/2, x+8, 280-tall/4, tall/2)
		}
	}
	return b.String() + "</svg><p>Nothing else was found.</p>"
}

// flowChart returns boxes with texts that lines connect.
func flowChart() string {
	var b strings.Builder
	b.WriteString("<svg width=620 height=400 font-size=12>")
	for i := range 9 {
		x, y := 20+200*(i%3), 20+120*(i/3)
		fmt.Fprintf(&b, "<rect x=%d y=%d width=130 height=60 fill=none stroke=#000 /><text x=%d y=%d>%s</text><text x=%d y=%d>%s</text>", x, y, x+10, y+25, firstWords[i], x+10, y+42, secondWords[i])
		if i%3 < 2 {
			fmt.Fprintf(&b, "<line x1=%d x2=%d y1=%d y2=%d stroke=#000 />", x+130, x+200, y+30, y+30)
		}
		if i < 6 {
			fmt.Fprintf(&b, "<line x1=%d x2=%d y1=%d y2=%d stroke=#000 />", x+65, x+65, y+60, y+120)
		}
	}
	return b.String() + "</svg>"
}
