package ooxml

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/script"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// textOf returns the text of a body of DrawingML, one paragraph a line.
func textOf(body *markup.Node) string {
	var lines []string
	for _, p := range body.Children("p") {
		lines = append(lines, paragraphText(p))
	}
	return strings.Join(lines, "\n")
}

func paragraphText(p *markup.Node) string {
	var b, raised strings.Builder // raised or lowered text of one or more runs
	position := script.OnLine
	end := func() {
		b.WriteString(script.Write(position, raised.String()))
		raised.Reset()
	}
	for _, n := range p.Nodes {
		switch n.Name {
		case "r", "fld":
			at := script.OnLine
			if shift := n.Child("rPr").Attr("baseline"); strings.HasPrefix(shift, "-") {
				at = script.Lowered
			} else if strings.Trim(shift, "0%") != "" {
				at = script.Raised
			}
			if at != position {
				end()
				position = at
			}
			raised.WriteString(n.Child("t").Content())
			continue
		}
		end()
		switch n.Name {
		case "br":
			b.WriteByte('\n')
		case "AlternateContent":
			b.WriteString(math(chosen(n)))
		case "m", "oMath", "oMathPara":
			b.WriteString(math(n))
		}
	}
	end()
	return b.String()
}

// addText adds the paragraphs of a shape. bullets says that they are items of a list
// unless they say otherwise.
func addText(doc *office.Document, body *markup.Node, bullets bool) {
	var counts [10]int
	for _, p := range body.Children("p") {
		text := paragraphText(p)
		properties := p.Child("pPr")
		depth := 0
		if properties != nil {
			depth = min(max(office.Int(properties.Attr("lvl"), 0), 0), len(counts)-1)
		}
		isItem := bullets
		mark := ""
		switch numbered := properties.Child("buAutoNum"); {
		case strings.TrimSpace(text) == "":
			continue
		case properties.Child("buNone") != nil:
			isItem = false
		case properties.Child("buChar") != nil, properties.Child("buBlip") != nil:
			isItem = true
		case numbered != nil:
			isItem = true
			counts[depth]++
			mark = autoNumber(numbered, counts[depth])
		}
		for deeper := depth + 1; deeper < len(counts); deeper++ {
			counts[deeper] = 0
		}
		if isItem {
			doc.Item(depth, mark, text)
		} else {
			doc.Add(knowledge.BlockParagraph, text)
		}
	}
}

// autoNumber returns the number of an item: arabicPeriod is "1.", alphaLcParenBoth
// is "(a)".
func autoNumber(n *markup.Node, count int) string {
	kind := n.Attr("type")
	format := "decimal"
	for prefix, name := range map[string]string{
		"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman",
	} {
		if strings.HasPrefix(kind, prefix) {
			format = name
		}
	}
	number := office.Number(count+office.Int(n.Attr("startAt"), 1)-1, format)
	switch {
	case strings.HasSuffix(kind, "ParenBoth"):
		return "(" + number + ")"
	case strings.HasSuffix(kind, "ParenR"):
		return number + ")"
	case strings.HasSuffix(kind, "Plain"):
		return number
	}
	return number + "."
}

// slideTable adds a table of a slide.
func slideTable(doc *office.Document, n *markup.Node) {
	t := table.Table{HasHeader: n.Child("tblPr").Attr("firstRow") == "1" && len(n.Children("tr")) > 1}
	for _, row := range n.Children("tr") {
		var cells []table.Cell
		for _, c := range row.Children("tc") {
			cells = append(cells, table.Cell{
				Text: textOf(c.Child("txBody")), Rows: office.Int(c.Attr("rowSpan"), 1), Columns: office.Int(c.Attr("gridSpan"), 1),
				Covered: c.Attr("hMerge") == "1" || c.Attr("vMerge") == "1",
			})
		}
		t.Add(table.Row{Cells: cells})
	}
	doc.Table(&t)
}
