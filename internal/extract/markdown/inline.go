package markdown

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inline returns the text of a node's inline content. A soft line break becomes
// a space, a hard one a line end.
func (r *reader) inline(n ast.Node) string {
	var b strings.Builder
	r.writeInline(&b, n)
	return tidy(b.String())
}

func (r *reader) writeInline(b *strings.Builder, parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if end := r.scriptEnd(n); end != nil {
			r.writeScript(b, n, end)
			n = end
			continue
		}
		r.writeNode(b, n)
	}
}

func (r *reader) writeNode(b *strings.Builder, n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		b.WriteString(unescape(n.Segment.Value(r.source), n.IsRaw()))
		switch {
		case n.HardLineBreak():
			b.WriteByte('\n')
		case n.SoftLineBreak():
			b.WriteByte(' ')
		}
	case *ast.String:
		b.Write(n.Value)
	case *ast.CodeSpan:
		r.writeCode(b, n)
	case *ast.AutoLink:
		b.Write(n.Label(r.source))
	case *ast.RawHTML:
		if tag := string(n.Segments.Value(r.source)); strings.HasPrefix(strings.ToLower(tag), "<br") {
			b.WriteByte('\n')
		}
	case *extast.TaskCheckBox:
		if n.IsChecked {
			b.WriteString("[x] ")
		} else {
			b.WriteString("[ ] ")
		}
	default: // emphasis, links, images: their text
		r.writeInline(b, n)
	}
}

func (r *reader) writeCode(b *strings.Builder, span *ast.CodeSpan) {
	for n := span.FirstChild(); n != nil; n = n.NextSibling() {
		t, ok := n.(*ast.Text)
		if !ok {
			continue
		}
		s := strings.ReplaceAll(string(t.Segment.Value(r.source)), "\n", " ")
		if r.inCell {
			s = strings.ReplaceAll(s, `\|`, "|")
		}
		b.WriteString(s)
	}
}

// unescape resolves each backslash escape and character reference once.
func unescape(s []byte, raw bool) string {
	if raw || !strings.ContainsAny(string(s), `\&`) {
		return string(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			end := strings.IndexByte(string(s[i:min(len(s), i+40)]), ';')
			if end < 0 {
				b.WriteByte('&')
				continue
			}
			b.WriteString(html.UnescapeString(string(s[i : i+end+1])))
			i += end
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// tidy collapses runs of white space within lines and keeps line ends.
func tidy(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = oneLine(l)
	}
	return strings.Join(lines, "\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
