package pdf_test

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// styles are the style sheets of the looks. Each has three variants.
var styles = map[string][3]string{
	"ruled": {
		"table{border-collapse:collapse} td,th{border:1px solid #444;padding:3px 6px}",
		"table{border-collapse:collapse} td,th{border:.5pt solid #999;padding:1px 3px;vertical-align:top}",
		"table{border-spacing:2px;border:1px solid #000} td,th{border:1px solid #888;padding:4px}",
	},
	"rules": {
		"table{border-collapse:collapse;border-top:2px solid;border-bottom:2px solid} thead tr:last-child th{border-bottom:1px solid} td,th{padding:2px 8px}",
		"table{border-collapse:collapse} td,th{border-bottom:1px solid #999;padding:4px 8px}",
		"table{border-collapse:collapse;border-top:1px solid;border-bottom:1px solid} thead tr:last-child th{border-bottom:1px solid} td,th{padding:3px 6px;vertical-align:top}",
	},
	"shaded": {
		"table{border-collapse:collapse} thead th{background:#245;color:#fff} tbody tr:nth-child(even){background:#e8eef4} td,th{padding:3px 8px}",
		"table{border-spacing:2px} thead th{background:#444;color:#fff} td{background:#eee} td,th{padding:3px 6px}",
		"table{border-collapse:collapse} tr:nth-child(odd){background:#ddd} td,th{padding:3px 8px;vertical-align:top}",
	},
	"none": {
		"td,th{padding:2px 10px}",
		"td,th{padding:4px 8px;vertical-align:top} th{text-align:left}",
		"td,th{padding:2px 6px} th{font-weight:normal;text-align:left}",
	},
}

// attributes returns the attributes of a table and of a cell for LibreOffice, which reads
// few style sheets.
func attributes(t setTable, head bool, row int) (table, cell string) {
	last := head && row == len(t.head)-1
	switch {
	case t.look == "ruled":
		return " border=1 cellspacing=0 cellpadding=3", ""
	case t.look == "rules" && t.style%3 == 1:
		return " cellpadding=3", " style='border-bottom:1px solid #999'"
	case t.look == "rules" && head && row == 0:
		cell = "border-top:2px solid #000;"
		fallthrough
	case t.look == "rules" && (last || !head && row == len(t.body)-1):
		return " cellpadding=3", " style='" + cell + "border-bottom:1px solid #000'"
	case t.look == "shaded" && head:
		return " cellpadding=3", " bgcolor=#224455"
	case t.look == "shaded" && (row%2 == 1 || t.style%3 == 1):
		return " cellpadding=3", " bgcolor=#e8eef4"
	}
	return " cellpadding=3", ""
}

// setHTML returns a page with the tables, each below a paragraph.
func setHTML(tables []setTable, css bool) string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Set</title><style>body{font:10pt sans-serif} .n{text-align:right} .beside{display:flex;gap:40px} h2{break-after:avoid}")
	for _, look := range looks {
		if !css {
			break
		}
		for i, style := range styles[look] {
			for rule := range strings.SplitAfterSeq(style, "}") {
				if rule = strings.TrimSpace(rule); rule != "" {
					selector, rest, _ := strings.Cut(rule, "{")
					var scoped []string
					for s := range strings.SplitSeq(selector, ",") {
						class := fmt.Sprintf(".%s%d", look, i)
						if s == "table" {
							scoped = append(scoped, "table"+class)
						} else {
							scoped = append(scoped, class+" "+s)
						}
					}
					fmt.Fprintf(&b, "%s{%s", strings.Join(scoped, ","), rest)
				}
			}
		}
	}
	b.WriteString("</style><body>\n")
	for i, t := range tables {
		if t.kind == "beside" && i > 0 && tables[i-1].kind == "beside" {
			continue
		}
		fmt.Fprintf(&b, "<h2>Part %d</h2><p>The figures of this part were taken in the course of the year, and they are shown as they were found on the day.</p>\n", i+1)
		if t.kind == "beside" && css {
			fmt.Fprintf(&b, "<div class=beside>%s%s</div>\n", tableHTML(t, css), tableHTML(tables[i+1], css))
		} else {
			b.WriteString(tableHTML(t, css))
			if t.kind == "beside" {
				b.WriteString("<p>The second part of the figures follows.</p>" + tableHTML(tables[i+1], css))
			}
		}
		b.WriteString("<p>Nothing else was found, and the books were closed at the end of the month by the two people who had opened them.</p>\n")
	}
	return b.String()
}

func tableHTML(t setTable, css bool) string {
	var b strings.Builder
	direction, width := "", ""
	switch t.kind {
	case "right to left":
		direction = " dir=rtl"
	case "wrapped names", "wrapped labels":
		width = " style='width:420px'"
	}
	of, _ := attributes(t, false, 0)
	if css {
		of = ""
	}
	fmt.Fprintf(&b, "<table class='%s%d'%s%s%s>", t.look, t.style%3, direction, width, of)
	row := func(tag string, n int, cells []setCell) {
		b.WriteString("<tr>")
		for i, c := range cells {
			if c.columns == 0 {
				continue
			}
			class := ""
			if c.number {
				class = " class=n"
			}
			if i == 0 && t.kind == "wrapped labels" && tag == "td" {
				class = " style='width:140px'"
			}
			if _, of := attributes(t, tag == "th", n); !css {
				class += of
			}
			fmt.Fprintf(&b, "<%s rowspan=%d colspan=%d%s>%s</%s>", tag, c.rows, c.columns, class, html.EscapeString(c.text), tag)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("<thead>")
	for n, cells := range t.head {
		row("th", n, cells)
	}
	b.WriteString("</thead><tbody>")
	for n, cells := range t.body {
		row("td", n, cells)
	}
	b.WriteString("</tbody></table>\n")
	return b.String()
}

// convert makes a PDF of a page of HTML. tagged is only for Chromium.
func convert(t *testing.T, program, page string, tagged bool) []byte {
	t.Helper()
	folder := t.TempDir()
	in, out := filepath.Join(folder, "set.html"), filepath.Join(folder, "set.pdf")
	if err := os.WriteFile(in, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	if program == "chromium" {
		args = []string{"--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + folder + "/profile", "--no-pdf-header-footer", "--print-to-pdf=" + out}
		if !tagged {
			args = append(args, "--disable-pdf-tagging")
		}
	} else {
		args = []string{"-env:UserInstallation=file://" + folder + "/profile", "--headless", "--convert-to", "pdf", "--outdir", folder}
	}
	if output, err := exec.CommandContext(t.Context(), program, append(args, in)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", program, err, output)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
