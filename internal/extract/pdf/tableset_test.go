package pdf_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// looks are the ways in which the tables of the set show their cells.
var looks = []string{"ruled", "rules", "shaded", "none"}

// perLook is the number of tables of each look in the set.
const perLook = 15

// setTable is a table of the set that the tests generate.
type setTable struct {
	look, kind string
	style      int         // a variant of the look
	head       [][]setCell // one or two rows
	body       [][]setCell
}

// setCell is a cell of such a table. A cell without columns is covered by another.
type setCell struct {
	text          string
	rows, columns int
	number        bool
}

// triple is what a reader must be able to see in one part of the text: the value of a
// cell with the names of its column and its row.
type triple struct{ group, column, row, value string }

// kinds are the difficulties of the tables, one for each table of a look.
var kinds = [perLook]string{
	"plain", "sparse", "wrapped cells", "wrapped names", "merged header", "merged labels", "money", "long",
	"beside", "signs", "right to left", "many columns", "wrapped labels", "sections", "texts",
}

// setMaker makes tables whose labels are unique.
type setMaker struct {
	random *rand.Rand
	used   map[string]bool
}

func newSetMaker(seed uint64) *setMaker {
	return &setMaker{rand.New(rand.NewPCG(seed, 7)), map[string]bool{}}
}

var (
	firstWords  = strings.Fields("Amber Broad Copper Distant Eastern Forest Golden Harbour Inner Jasper Kettle Lower Marble Northern Outer Paper River Silver Timber Upper Valley Western Winter Yellow")
	secondWords = strings.Fields("anchor bridge canal depot engine ferry garden house island journal kiln ladder mill needle office pump quarry road station tunnel union valve wharf yard")
	names       = strings.Fields("Area Budget Count Depth Energy Force Grade Height Index Jobs Knots Length Mass Nights Orders Price Quota Rate Stock Total Units Volume Weight Yield")
	towns       = strings.Fields("Arles Basel Cork Delft Evora Fermo Ghent Hasselt Izola Jena Kotor Lucca Mainz Namur Olten Parma Reims Siena Turku Ulm Vigo Worms Xanten Ypres")
	hebrew      = strings.Fields("אבן בית גשר דלת הר ורד זהב חלון טירה ים כפר לחם מגדל נהר ספר עיר פרח צוק קיר רחוב שער תנור")
	sentences   = []string{
		"The lamp is red while the unit charges and green when it is full.", "Close the main valve before the cover is taken off.",
		"It was moved to the lower store after the flood in spring.", "Ask the office for a new key and note the number.",
		"Two people must lift it, because it weighs more than it seems.", "Water stood in the shaft for three days and was pumped out.",
	}
)

func (m *setMaker) pick(words []string) string { return words[m.random.IntN(len(words))] }

// label returns a label that no other row has.
func (m *setMaker) label(kind string) string {
	for {
		s := m.pick(firstWords) + " " + m.pick(secondWords)
		switch kind {
		case "right to left":
			s = m.pick(hebrew) + " " + m.pick(hebrew)
		case "wrapped labels":
			s += " and the smaller " + m.pick(secondWords) + " behind the " + m.pick(secondWords)
		}
		if !m.used[s] {
			m.used[s] = true
			return s
		}
	}
}

// table makes a table.
func (m *setMaker) table(look string, index int) setTable {
	t := setTable{look: look, kind: kinds[index], style: index}
	columns, rows := 3+m.random.IntN(3), 4+m.random.IntN(6)
	switch t.kind {
	case "long":
		rows = 70
	case "many columns":
		columns = 8
	case "wrapped cells", "beside":
		columns = 2
	case "merged header":
		columns = 4
	case "texts", "wrapped names":
		columns = 3
	}
	t.head = m.head(t.kind, columns)
	for row := range rows {
		if t.kind == "sections" && row%3 == 0 {
			t.body = append(t.body, []setCell{{text: m.label("") + " group", rows: 1, columns: columns + 1}})
		}
		cells := []setCell{{text: m.label(t.kind), rows: 1, columns: 1}}
		if t.kind == "merged labels" && row%2 == 1 {
			cells[0] = setCell{}
		} else if t.kind == "merged labels" && row+1 < rows {
			cells[0].rows = 2
		}
		for column := range columns {
			cells = append(cells, m.value(t.kind, column))
		}
		t.body = append(t.body, cells)
	}
	return t
}

func (m *setMaker) head(kind string, columns int) [][]setCell {
	order := m.random.Perm(len(names))
	corner := "Item"
	if kind == "right to left" {
		corner, order = "שם", m.random.Perm(len(hebrew))
	}
	row := []setCell{{text: corner, rows: 1, columns: 1}}
	for i := range columns {
		name := names[order[i]%len(names)]
		switch kind {
		case "wrapped names":
			name += " of the " + m.pick(secondWords) + " at the end of the " + m.pick(secondWords)
		case "right to left":
			name = hebrew[order[i]]
		}
		row = append(row, setCell{text: name, rows: 1, columns: 1})
	}
	if kind != "merged header" {
		return [][]setCell{row}
	}
	row[0].rows = 2
	top := []setCell{row[0], {text: "2024", rows: 1, columns: 2}, {}, {text: "2025", rows: 1, columns: 2}, {}}
	return [][]setCell{top, {{}, row[1], row[2], row[1], row[2]}}
}

// value makes the cell of a column, 0 = first behind the labels.
func (m *setMaker) value(kind string, column int) setCell {
	c := setCell{rows: 1, columns: 1, number: true}
	n := 100 + m.random.IntN(9900)
	switch {
	case kind == "sparse" && m.random.IntN(5) < 2:
	case kind == "wrapped cells":
		c.text, c.number = sentences[m.random.IntN(len(sentences))], false
	case kind == "texts":
		c.text, c.number = m.pick(towns), false
	case kind == "money" && m.random.IntN(3) == 0:
		c.text = fmt.Sprintf("$ (%d.%02d)", n, m.random.IntN(100))
	case kind == "money":
		c.text = fmt.Sprintf("$ %d.%02d", n*m.random.IntN(30), m.random.IntN(100))
	case kind == "signs":
		c.text = []string{"–", fmt.Sprintf("%d%%", n%100), fmt.Sprintf("+%d", n), fmt.Sprintf("(%d)", n), "n/a"}[m.random.IntN(5)]
	case kind == "many columns":
		c.text = fmt.Sprint(n)
	case column%3 == 2:
		c.text = fmt.Sprintf("%d.%d", n%200, n%10)
	default:
		c.text = fmt.Sprint(n)
	}
	return c
}

// triples returns what can be read from a table.
func (t setTable) triples() []triple {
	var out []triple
	last := t.head[len(t.head)-1]
	label := ""
	for _, row := range t.body {
		if row[0].columns > 1 {
			continue // a section
		}
		if row[0].columns > 0 {
			label = row[0].text
		}
		for i, c := range row[1:] {
			if c.text == "" {
				continue
			}
			group := ""
			if len(t.head) > 1 {
				group = t.head[0][1+i/2*2].text
			}
			out = append(out, triple{group, last[i+1].text, label, c.text})
		}
	}
	return out
}
