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
		r.listing(c, plain, end)
	case slices.Contains(mathNames, plain):
		if plain == "alignat" {
			c.argument()
		}
		r.formula(c.environment(name))
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
		r.table(c.environment(name))
	case slices.Contains(listNames, plain):
		c.option()
		r.end()
		if plain == "thebibliography" {
			c.argument()
		}
		r.lists = append(r.lists, list{kind: plain})
	case plain == "frame", plain == "block", plain == "alertblock", plain == "exampleblock":
		r.slide(c, plain)
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

// listing reads text that is shown as it is, and its caption.
func (r *reader) listing(c *scanner, name, end string) {
	r.end()
	if name == "minted" || strings.HasPrefix(c.rest(), "[") {
		options, _ := c.option()
		if at := strings.Index(options, "caption="); at >= 0 {
			title := &scanner{s: options, at: at + len("caption=")}
			if strings.HasPrefix(title.rest(), "{") {
				r.text.WriteString(r.inline(title.argument()))
			} else {
				r.text.WriteString(r.inline(title.until(",")))
			}
			r.end()
		}
	}
	if name == "minted" {
		c.argument()
	}
	text := c.until(end)
	if first, after, found := strings.Cut(text, "\n"); found && strings.TrimSpace(first) == "" {
		text = after
	}
	r.code(strings.TrimRight(text, " \t\n"))
}

// slide begins a slide of a presentation, or a box on one. Its title may be missing.
func (r *reader) slide(c *scanner, name string) {
	r.closeLists()
	c.overlay()
	for range 2 {
		c.option()
	}
	for i := 0; i < 2 && strings.HasPrefix(strings.TrimLeft(c.rest(), " "), "{"); i++ {
		title := strings.ReplaceAll(r.inline(c.argument()), "\n", " ")
		switch {
		case i == 0 && name == "frame":
			r.add(knowledge.BlockHeading, levels["frametitle"], title)
		default:
			r.add(knowledge.BlockParagraph, 0, title)
		}
		if name != "frame" {
			return
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
	r.addItems()
	r.lists = nil
}

// addItems adds the items that were read. The list goes on behind a table.
func (r *reader) addItems() {
	r.end()
	if len(r.items) > 0 {
		r.add(knowledge.BlockList, 0, strings.Join(r.items, "\n"))
	}
	r.items = nil
}

// item begins an item of a list.
func (r *reader) item(c *scanner) {
	r.end()
	c.overlay()
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
var rules = strings.NewReplacer(`\hline`, "", `\toprule`, "", `\midrule`, "", `\bottomrule`, "", `\endhead`, "", `\endfirsthead`, "", `\endfoot`, "", `\endlastfoot`, "", `\tabularnewline`, `\\`)

// table reads the rows of a table.
func (r *reader) table(s string) {
	r.addItems()
	t, below := table.Table{}, map[int]int{} // rows that the cell of a column still covers
	for _, line := range split(rules.Replace(s), `\\`) {
		if option, after, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(option, "[") {
			line = after
		}
		var cells []table.Cell
		for _, cell := range split(line, "&") {
			cells = append(cells, r.cells(strings.TrimSpace(cell))...)
		}
		cover(cells, below)
		if r.isInline {
			for _, cell := range cells {
				r.text.WriteString(cell.Text + " ")
			}
			continue
		}
		t.Add(table.Row{Cells: cells})
	}
	r.document.Blocks = append(r.document.Blocks, t.Blocks()...)
}

// cover marks the empty cells below cells of several rows.
func cover(cells []table.Cell, below map[int]int) {
	for i := range cells {
		cell := &cells[i]
		if below[i] > 0 {
			below[i]--
			cell.Covered = cell.Covered || cell.Text == ""
		}
		if cell.Rows > 1 && !cell.Covered {
			below[i] = cell.Rows - 1
		}
	}
}

// cells returns a cell, and those that it covers.
func (r *reader) cells(s string) []table.Cell {
	const maxSpan = 100
	width, rows := 1, 1
	if rest, ok := strings.CutPrefix(s, `\multicolumn`); ok {
		c := &scanner{s: rest}
		if n, err := strconv.Atoi(strings.TrimSpace(c.argument())); err == nil {
			width = min(max(n, 1), maxSpan)
		}
		c.argument()
		s = c.argument()
	}
	if rest, ok := strings.CutPrefix(strings.TrimSpace(s), `\multirow`); ok {
		c := &scanner{s: rest}
		c.option()
		if n, err := strconv.Atoi(strings.TrimSpace(c.argument())); err == nil {
			rows = min(max(n, 1), maxSpan)
		}
	}
	cells := make([]table.Cell, width)
	cells[0] = table.Cell{Text: r.inline(s), Columns: width, Rows: rows}
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
		case strings.HasPrefix(s[i:], `\begin{`):
			depth++
			i += len(`\begin`) - 1
		case strings.HasPrefix(s[i:], `\end{`):
			depth--
			i += len(`\end`) - 1
		case s[i] == '\\':
			i += max(1, literal(s[i:]))
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth--
		}
	}
	return append(parts, s[start:])
}
