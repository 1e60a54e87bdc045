package asciidoc

import (
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Read reads a text.
func Read(s string) format.MarkedText {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	r := &reader{attributes: map[string]string{}}
	r.lines, r.origins = chosen(lines)
	r.header()
	for r.at < len(r.lines) {
		r.block()
	}
	r.endList()
	r.addSource()
	return r.document
}

// reader reads the lines of a text.
type reader struct {
	document   format.MarkedText
	lines      []string
	origins    []int // index of each line in the text, which has others between conditions
	at         int   // the next line
	attributes map[string]string
	inserted   int // bytes of the values of attributes in the text

	style   string // of the next block, as its line in brackets has it
	list    []string
	first   int // line of the list
	marks   []string
	numbers []int
	joined  bool   // a plus continues the item of a list
	quoted  string // source of a quotation, which follows it
	inQuote bool   // between the lines around a quotation
}

func (r *reader) add(b knowledge.Block, first int) {
	if strings.TrimSpace(b.Text) == "" {
		return
	}
	b.Origin.First, b.Origin.Last = r.origins[first]+1, r.origins[max(r.at-1, first)]+1
	r.document.Blocks = append(r.document.Blocks, b)
}

var (
	attribute = regexp.MustCompile(`^:(!?[\w][\w-]*!?):(?:\s+(.*))?$`)
	section   = regexp.MustCompile(`^(={1,6}|#{1,6})\s+(\S.*?)(?:\s+=+)?$`)
	styleLine = regexp.MustCompile(`^\[[^\]\n]*\]$|^\[\[[^\]]*\]\]$`)
	titleLine = regexp.MustCompile(`^\.[^\s.].*$`)
	delimiter = regexp.MustCompile("^(?:-{4,}|\\.{4,}|={4,}|\\*{4,}|_{4,}|\\+{4,}|/{4,}|--|`{3,}[\\w-]*|[|,:!]={3,})$")
	blockName = regexp.MustCompile(`^([a-z]+)::([^\[\s]*)\[(.*)\]$`)
	breakLine = regexp.MustCompile(`^(?:'{3,}|<{3,}|-{3}|\*{3}|- - -|\* \* \*)$`)
)

// header reads the title, the author and the attributes with which a text begins.
func (r *reader) header() {
	for r.at < len(r.lines) && (r.lines[r.at] == "" || isComment(r.lines[r.at]) || r.setAttribute()) {
		r.at++
	}
	if r.at >= len(r.lines) {
		return
	}
	m := section.FindStringSubmatch(r.lines[r.at])
	if m == nil || len(m[1]) != 1 {
		return
	}
	start := r.at
	r.at++
	author := ""
	for n := 0; r.at < len(r.lines) && r.lines[r.at] != ""; r.at++ {
		switch line := r.lines[r.at]; {
		case isComment(line), r.setAttribute():
		case n == 0 && isAuthor(line):
			author = line
			n++
		case n == 1 && strings.ContainsAny(line[:1], "v0123456789"): // the revision
			n++
		default:
			r.title(m[2], author, start)
			return
		}
	}
	r.title(m[2], author, start)
}

func isAuthor(line string) bool {
	return !delimiter.MatchString(line) && !styleLine.MatchString(line) && section.FindString(line) == "" &&
		!strings.HasPrefix(line, "include::") && len(strings.Fields(line)) <= 8
}

func (r *reader) title(title, author string, at int) {
	if author == "" {
		author = r.attributes["author"]
	}
	r.document.Title, r.document.Author = r.inline(title), r.inline(author)
	r.add(knowledge.Block{Kind: knowledge.BlockHeading, Level: 1, Text: r.document.Title}, at)
	r.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: r.document.Author}, at)
}

// setAttribute sets the attribute that the next line states, and reports whether it does.
func (r *reader) setAttribute() bool {
	return setAttribute(r.attributes, r.lines[r.at])
}

func isComment(line string) bool {
	return strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "///")
}

// block reads the block that the next line begins.
func (r *reader) block() {
	line := r.lines[r.at]
	switch {
	case line == "":
		r.at++
	case isComment(line), breakLine.MatchString(line) && line != "--":
		r.at++
	case line == "+" && len(r.list) > 0:
		r.joined = true
		r.at++
	case r.setAttribute():
		r.at++
	case delimiter.MatchString(line):
		r.delimited()
	case styleLine.MatchString(line) && !strings.HasPrefix(line, "[["):
		r.endList()
		r.setStyle(strings.Trim(line, "[]"))
		r.at++
	case styleLine.MatchString(line):
		r.at++
	case r.isHeading():
		r.endList()
		r.heading()
	case blockName.MatchString(line):
		r.macro()
	case r.item():
	case titleLine.MatchString(line):
		r.endList()
		r.at++
		r.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: r.inline(line[1:])}, r.at-1)
	case line[0] == ' ' || line[0] == '\t':
		r.literal()
	default:
		r.paragraph()
	}
}

// isHeading reports whether the next line is a heading, also one with a line below it.
func (r *reader) isHeading() bool {
	line := r.lines[r.at]
	if section.MatchString(line) {
		return true
	}
	return r.underlined() > 0
}

// underlined returns the level of a heading that has a line below it, 0 for other lines.
func (r *reader) underlined() int {
	if r.at+1 >= len(r.lines) {
		return 0
	}
	line, below := []rune(r.lines[r.at]), r.lines[r.at+1]
	if len(line) < 2 || len(below) < 2 || strings.Trim(below, below[:1]) != "" || strings.ContainsAny(string(line[0]), ".[*-|") || len(line)-len(below) > 1 || len(below)-len(line) > 1 {
		return 0
	}
	return strings.Index("=-~^+", below[:1]) + 1
}

func (r *reader) heading() {
	first, level, text := r.at, 0, r.lines[r.at]
	if m := section.FindStringSubmatch(text); m != nil {
		level, text = len(m[1]), m[2]
	} else {
		level = r.underlined()
		r.at++
	}
	r.at++
	r.style = ""
	r.add(knowledge.Block{Kind: knowledge.BlockHeading, Level: level, Text: r.inline(text)}, first)
}

// macro reads a line such as image::pump.png[The pump].
func (r *reader) macro() {
	m := blockName.FindStringSubmatch(r.lines[r.at])
	first := r.at
	r.at++
	switch m[1] {
	case "include":
		r.document.Includes++
	case "image", "video", "audio":
		alternative, _, _ := strings.Cut(m[3], ",")
		if !strings.Contains(alternative, "=") {
			r.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: r.inline(strings.Trim(alternative, `"`))}, first)
		}
	}
}

// ends reports whether a line ends a paragraph.
func ends(line string) bool {
	return line == "" || line == "+" || delimiter.MatchString(line) || styleLine.MatchString(line) || isComment(line) ||
		blockName.MatchString(line) && !strings.HasPrefix(line, "include::")
}

// text returns the lines of a paragraph as one, but for the line ends that it states.
func (r *reader) text() string {
	var b strings.Builder
	for start := r.at; r.at < len(r.lines) && (r.at == start || !ends(r.lines[r.at])); r.at++ {
		line := strings.TrimSpace(r.lines[r.at])
		if r.at > start && len(r.list) > 0 && r.joined && isItem(line) {
			break
		}
		if r.at > start && strings.HasPrefix(line, "include::") {
			r.document.Includes++
			continue
		}
		hard := strings.HasSuffix(line, " +")
		b.WriteString(strings.TrimSuffix(line, " +"))
		if hard {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(r.inline(b.String()))
}

var admonitions = []string{"note", "tip", "important", "warning", "caution"}

func (r *reader) paragraph() {
	first := r.at
	style := r.style
	r.style = ""
	if isVerbatim(style) {
		var lines []string
		for ; r.at < len(r.lines) && r.lines[r.at] != ""; r.at++ {
			lines = append(lines, r.lines[r.at])
		}
		r.add(knowledge.Block{Kind: knowledge.BlockCode, Text: strings.Join(lines, "\n")}, first)
		return
	}
	text := r.text()
	for _, a := range admonitions {
		if style == a {
			text = strings.ToUpper(a) + ": " + text
		}
	}
	if r.joined && len(r.list) > 0 {
		r.joined = false
		r.list = append(r.list, indent(len(r.marks))+text)
		return
	}
	r.endList()
	r.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: text}, first)
	if !r.inQuote {
		r.addSource()
	}
}

// isVerbatim reports whether a style is one of text that is shown as it is.
func isVerbatim(style string) bool {
	name, _, _ := strings.Cut(style, ",")
	name, _, _ = strings.Cut(name, "%")
	return name == "source" || name == "listing" || name == "literal"
}
