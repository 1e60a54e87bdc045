package markdown

import (
	"bytes"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/yuin/goldmark/ast"
)

// position is a place in the source that was counted up to, and its line.
type position struct {
	offset int
	line   int // in the file
}

// lineAt returns the number of the line that an offset is on. Nodes come nearly
// in the order of the file, so the line ends between two calls are few.
func (r *reader) lineAt(offset int) int {
	p := r.position
	if offset >= p.offset {
		p.line += bytes.Count(r.source[p.offset:offset], []byte("\n"))
	} else {
		p.line -= bytes.Count(r.source[offset:p.offset], []byte("\n"))
	}
	p.offset = offset
	return p.line
}

// origin returns the lines of the file that a node with this text is made of.
func (r *reader) origin(n ast.Node, text string) knowledge.Origin {
	if r.position == nil {
		return knowledge.Origin{}
	}
	start, stop := r.extent(n)
	if start >= stop {
		return knowledge.Origin{}
	}
	inside := r.source[start:stop]
	stop -= len(inside) - len(bytes.TrimRight(inside, " \t\n"))
	start += len(inside) - len(bytes.TrimLeft(inside, "\n"))
	if start >= stop {
		return knowledge.Origin{}
	}
	o := knowledge.Origin{First: r.lineAt(start), Last: r.lineAt(stop - 1)}
	o.LineByLine = strings.Count(text, "\n") == o.Last-o.First
	return o
}

// extent returns where the lines of a node stand in the source; start is not below stop
// if it has none.
func (r *reader) extent(n ast.Node) (start, stop int) {
	start = len(r.source)
	// The walk returns an error only if its function does.
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		if lines := n.Lines(); entering && lines != nil && lines.Len() > 0 {
			start, stop = min(start, lines.At(0).Start), max(stop, lines.At(lines.Len()-1).Stop)
		}
		if html, ok := n.(*ast.HTMLBlock); ok && html.HasClosure() {
			start, stop = min(start, html.ClosureLine.Start), max(stop, html.ClosureLine.Stop)
		}
		return ast.WalkContinue, nil
	})
	return min(start, max(stop, 0)), stop
}
