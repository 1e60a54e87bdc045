package latex

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

var (
	mathNames  = []string{"equation", "align", "gather", "multline", "displaymath", "eqnarray", "math", "flalign", "alignat", "dmath"}
	tableNames = []string{"tabular", "tabularx", "tabulary", "longtable", "array", "supertabular", "tabu", "longtabu", "tblr"}
	listNames  = []string{"itemize", "enumerate", "description", "thebibliography", "compactitem", "compactenum"}
	drawnNames = []string{"tikzpicture", "picture", "pgfpicture", "filecontents", "comment"}
)

// begin begins an environment. A star in its name changes nothing.
func (r *reader) begin(c *scanner, name string) {
	plain := strings.TrimSuffix(name, "*")
	end := `\end{` + name + `}`
	switch {
	case slices.Contains(drawnNames, plain):
		c.until(end)
	case slices.Contains(verbatimNames, plain):
		if plain == "minted" {
			c.option()
			c.argument()
		} else if strings.HasPrefix(c.rest(), "[") {
			c.option()
		}
		r.end()
		text := c.until(end)
		_, afterLine, found := strings.Cut(text, "\n")
		if first, _, _ := strings.Cut(text, "\n"); found && strings.TrimSpace(first) == "" {
			text = afterLine
		}
		r.code(strings.TrimRight(text, " \t\n"))
	case slices.Contains(mathNames, plain):
		if plain == "alignat" {
			c.argument()
		}
		r.formula(c.until(end))
	case slices.Contains(tableNames, plain):
		r.end()
		for range 2 {
			c.option()
		}
		if plain == "tabularx" || plain == "tabulary" || name == "tabular*" {
			c.argument()
		}
		c.option()
		c.argument()
		r.table(c.until(end))
	case slices.Contains(listNames, plain):
		c.option()
		r.end()
		if plain == "thebibliography" {
			c.argument()
		}
		r.lists = append(r.lists, list{kind: plain})
	default:
		r.end()
		if name == "minipage" || name == "adjustbox" || name == "multicols" || name == "wrapfigure" || name == "spacing" {
			c.option()
			c.argument()
		}
		if title, ok := c.option(); ok && !isPlacement(title) {
			r.text.WriteString(r.inline(title) + ". ")
		}
	}
}

// isPlacement reports whether an option says where a figure may stand.
func isPlacement(option string) bool { return strings.Trim(option, "htbpHcs! ") == "" }

// code adds a listing. In a list it is a part of the item.
func (r *reader) code(text string) {
	if len(r.lists) == 0 {
		r.add(knowledge.BlockCode, 0, text)
		return
	}
	inside := strings.Repeat("  ", min(len(r.lists), maxDepth))
	for line := range strings.SplitSeq(text, "\n") {
		r.items = append(r.items, inside+line)
	}
}

// finish ends an environment.
func (r *reader) finish(name string) {
	r.end()
	if len(r.lists) > 0 && r.lists[len(r.lists)-1].kind == strings.TrimSuffix(name, "*") {
		if r.lists = r.lists[:len(r.lists)-1]; len(r.lists) == 0 {
			r.closeLists()
		}
	}
}

// closeLists adds the lists that are open.
func (r *reader) closeLists() {
	r.end()
	r.lists = nil
	if len(r.items) > 0 {
		r.add(knowledge.BlockList, 0, strings.Join(r.items, "\n"))
	}
	r.items = nil
}

// item begins an item of a list.
func (r *reader) item(c *scanner) {
	r.end()
	if len(r.lists) == 0 {
		r.lists = append(r.lists, list{kind: "itemize"})
	}
	label, hasLabel := c.option()
	l := &r.lists[len(r.lists)-1]
	if l.number < 0 { // the item before has no text
		l.number = -l.number
	}
	l.number++
	mark := "- "
	switch {
	case l.kind == "thebibliography":
		mark = "- [" + c.argument() + "] "
	case hasLabel:
		mark = "- " + r.inline(label) + ": "
	case strings.HasSuffix(l.kind, "enumerate"), l.kind == "compactenum":
		mark = strconv.Itoa(l.number) + ". "
	}
	r.items = append(r.items, strings.Repeat("  ", min(len(r.lists)-1, maxDepth))+mark)
	l.number = -l.number
}

// rules are the commands between the rows of a table that draw lines.
var rules = strings.NewReplacer(`\hline`, "", `\toprule`, "", `\midrule`, "", `\bottomrule`, "", `\endhead`, "", `\endfirsthead`, "", `\endfoot`, "", `\endlastfoot`, "")

// table reads the rows of a table.
func (r *reader) table(s string) {
	r.closeLists()
	t := table.Table{}
	for _, line := range split(s, `\\`) {
		if option, after, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(option, "[") {
			line = after
		}
		var cells []table.Cell
		for _, cell := range split(rules.Replace(line), "&") {
			cells = append(cells, r.cells(strings.TrimSpace(cell))...)
		}
		t.Add(table.Row{Cells: cells})
	}
	r.document.Blocks = append(r.document.Blocks, t.Blocks()...)
}

// cells returns a cell, and those that it covers.
func (r *reader) cells(s string) []table.Cell {
	const maxSpan = 100
	width := 1
	if rest, ok := strings.CutPrefix(s, `\multicolumn`); ok {
		c := &scanner{s: rest}
		if n, err := strconv.Atoi(strings.TrimSpace(c.argument())); err == nil {
			width = min(max(n, 1), maxSpan)
		}
		c.argument()
		s = c.argument()
	}
	cells := make([]table.Cell, width)
	cells[0] = table.Cell{Text: r.inline(s), Columns: width}
	for i := range cells[1:] {
		cells[i+1].Covered = true
	}
	return cells
}

// split cuts a text at a mark outside of groups and of commands.
func split(s, mark string) []string {
	var parts []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case depth <= 0 && strings.HasPrefix(s[i:], mark):
			parts = append(parts, s[start:i])
			start = i + len(mark)
			i = start - 1
		case s[i] == '\\':
			i++
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth--
		}
	}
	return append(parts, s[start:])
}
