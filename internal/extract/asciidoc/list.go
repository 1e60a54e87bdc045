package asciidoc

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

var (
	bullet  = regexp.MustCompile(`^\s*(\*{1,6}|-)\s+(?:\[[ xX*]\]\s+)?(\S.*)$`)
	ordered = regexp.MustCompile(`^\s*(\.{1,6}|\d+\.|[a-zA-Z]\.|<(?:\d+|\.)>)\s+(\S.*)$`)
	term    = regexp.MustCompile(`^\s*(\S.*?)(:{2,4}|;;)(?:\s+(\S.*))?$`)
)

// item reads an item of a list, and reports whether the next line is one.
func (r *reader) item() bool {
	line := r.lines[r.at]
	mark, label := "", "" // the label is a term
	switch m := bullet.FindStringSubmatch(line); {
	case m != nil:
		mark = m[1]
		r.lines[r.at] = m[2]
	default:
		if m = ordered.FindStringSubmatch(line); m != nil {
			mark = kindOf(m[1])
			r.lines[r.at] = m[2]
		} else if m = term.FindStringSubmatch(line); m != nil && !strings.Contains(m[1], "::") {
			mark, label = m[2], r.inline(m[1])+": "
			r.lines[r.at] = m[3]
		} else {
			return false
		}
	}
	if len(r.list) == 0 {
		r.first = r.at
	}
	depth := r.depth(mark)
	r.joined = false
	if r.lines[r.at] == "" { // the text of a term follows
		r.at++
		for r.at < len(r.lines)-1 && r.lines[r.at] == "" {
			r.at++
		}
	}
	text := r.itemText(depth)
	r.list = append(r.list, indent(depth)+r.sign(mark, depth)+label+text)
	return true
}

// itemText returns the text of an item, whose lines end where another item begins.
func (r *reader) itemText(depth int) string {
	var lines []string
	for start := r.at; r.at < len(r.lines); r.at++ {
		line := r.lines[r.at]
		if ends(line) || (r.at > start || depth < 0) && isItem(line) {
			break
		}
		lines = append(lines, strings.TrimSuffix(strings.TrimSpace(line), " +"))
	}
	return r.inline(strings.Join(lines, " "))
}

// isItem reports whether an item of a list begins with a line.
func isItem(line string) bool {
	return bullet.MatchString(line) || ordered.MatchString(line) || term.MatchString(line)
}

// kindOf returns the mark that the items of a numbered list share.
func kindOf(mark string) string {
	switch {
	case mark[0] == '<':
		return "<1>"
	case mark[0] == '.':
		return mark
	case mark[0] >= '0' && mark[0] <= '9':
		return "1."
	}
	return "a."
}

// depth returns how deep an item is in its list: a mark that is new begins a list in the
// item before.
func (r *reader) depth(mark string) int {
	i := slices.Index(r.marks, mark)
	if i < 0 {
		r.marks, r.numbers = append(r.marks, mark), append(r.numbers, 0)
		return len(r.marks) - 1
	}
	r.marks, r.numbers = r.marks[:i+1], r.numbers[:i+1]
	return i
}

func (r *reader) sign(mark string, depth int) string {
	if !strings.HasPrefix(mark, ".") && mark != "1." && mark != "a." && mark != "<1>" {
		return "- "
	}
	r.numbers[depth]++
	return strconv.Itoa(r.numbers[depth]) + ". "
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// endList adds the list that was read.
func (r *reader) endList() {
	if len(r.list) > 0 {
		r.add(knowledge.Block{Kind: knowledge.BlockList, Text: strings.Join(r.list, "\n")}, r.first)
	}
	r.list, r.marks, r.numbers, r.joined = nil, nil, nil, false
}
