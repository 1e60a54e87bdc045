package citation

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Context is a passage that a model was given.
type Context struct {
	Rank         int     `json:"rank"` // 1 = first; what the model names it by
	ChunkID      string  `json:"chunk_id"`
	DocumentID   string  `json:"document_id"`
	DocumentName string  `json:"document_name"`
	Text         string  `json:"text"`
	Score        float64 `json:"score"`
}

// Rewriter rewrites marks to citations while a model's words stream through it:
//
//	<source_3>  <source_1, source_2>  [3]  [1, 2]  [source_3]  <citation id="CHUNK">[3]</citation>
//
// all become `<citation id="CHUNK">[3]</citation>`, one for each passage. A mark
// of a passage that is not among the contexts is removed, with the space before
// it. Numbers in brackets stay as they are in code and where they are links. The
// output does not depend on how the input is cut. Not safe for concurrent use.
type Rewriter struct {
	byRank map[int]string // chunk ids
	byID   map[string]int
	used   map[int]bool

	pending string
	code    int  // backticks that opened the code we are in; 0 = none
	closed  bool // no more input
}

// maxHeld bounds what is held back while it could become a mark, in bytes.
const maxHeld = 240

var (
	sourceMark   = regexp.MustCompile(`^</?source_(\d{1,6}(?:\s*,\s*(?:source_)?\d{1,6})*)\s*/?>`)
	bracketMark  = regexp.MustCompile(`^\[((?:source_)?\d{1,6}(?:\s*,\s*(?:source_)?\d{1,6})*)\]`)
	citationMark = regexp.MustCompile(`^<citation\s+id="([^"<>]*)"\s*>[^<]*</citation>`)

	sourcePart   = regexp.MustCompile(`^</?source_[\d,\s_source]*/?$`)
	bracketPart  = regexp.MustCompile(`^\[[\d,\s_source]*\]?$`)
	citationPart = regexp.MustCompile(`^<citation\s[^<>]*(>[^<]*(<[^>]*)?)?$`)
	number       = regexp.MustCompile(`\d+`)
)

// NewRewriter makes a rewriter for the passages of one answer.
func NewRewriter(contexts []Context) *Rewriter {
	r := &Rewriter{byRank: map[int]string{}, byID: map[string]int{}, used: map[int]bool{}}
	for _, c := range contexts {
		r.byRank[c.Rank] = c.ChunkID
		r.byID[c.ChunkID] = c.Rank
	}
	return r
}

// Write takes words and gives those that are certain by now.
func (r *Rewriter) Write(text string) string {
	r.pending += text
	return r.advance()
}

// Close gives what was held back.
func (r *Rewriter) Close() string {
	r.closed = true
	return r.advance()
}

// Used gives the ranks that were cited, ascending.
func (r *Rewriter) Used() []int {
	ranks := make([]int, 0, len(r.used))
	for rank := range r.used {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	return ranks
}

// advance consumes pending as far as it is certain.
func (r *Rewriter) advance() string {
	var out strings.Builder
	for r.pending != "" {
		i := strings.IndexAny(r.pending, "<[`\n ")
		if i < 0 {
			out.WriteString(r.pending)
			r.pending = ""
			break
		}
		out.WriteString(r.pending[:i])
		r.pending = r.pending[i:]
		text, n := r.special()
		if n == 0 {
			break // it could become a mark: wait
		}
		out.WriteString(text)
		r.pending = r.pending[n:]
	}
	return out.String()
}

// special handles pending at a character that may begin something; it gives
// what to write and how much of pending that stands for, 0 to wait for more.
func (r *Rewriter) special() (text string, n int) {
	switch r.pending[0] {
	case '`':
		return r.ticks()
	case '\n':
		if r.code > 0 && r.code < 3 {
			r.code = 0 // code in a line ends with its line
		}
		return "\n", 1
	case ' ':
		return r.space()
	default:
		citations, n, wait := r.mark(r.pending)
		switch {
		case wait:
			return "", 0
		case n > 0:
			return citations, n
		}
		return r.pending[:1], 1
	}
}

// space looks whether a mark follows that is removed: then the space goes too.
func (r *Rewriter) space() (string, int) {
	rest := r.pending[1:]
	if rest == "" {
		if r.closed {
			return " ", 1
		}
		return "", 0
	}
	if rest[0] != '<' && rest[0] != '[' {
		return " ", 1
	}
	citations, n, wait := r.mark(rest)
	switch {
	case wait:
		return "", 0
	case n > 0 && citations == "":
		return "", n + 1
	case n > 0:
		return " " + citations, n + 1
	}
	return " ", 1
}

// ticks opens or closes code.
func (r *Rewriter) ticks() (string, int) {
	n := len(r.pending) - len(strings.TrimLeft(r.pending, "`"))
	if n == len(r.pending) && !r.closed && n < maxHeld {
		return "", 0 // there may be more of them
	}
	switch {
	case r.code == 0:
		r.code = n
	case n == r.code, r.code >= 3 && n >= 3:
		r.code = 0
	}
	return r.pending[:n], n
}

// mark reads a mark at the beginning of s.
func (r *Rewriter) mark(s string) (citations string, n int, wait bool) {
	if s[0] == '[' {
		return r.bracket(s)
	}
	if m := citationMark.FindStringSubmatch(s); m != nil {
		if rank, ok := r.byID[m[1]]; ok {
			citations = r.cite(rank)
		}
		return citations, len(m[0]), false
	}
	if m := sourceMark.FindStringSubmatch(s); m != nil {
		if !strings.HasPrefix(s, "</") {
			citations = r.citeAll(m[1])
		}
		return citations, len(m[0]), false
	}
	return "", 0, r.undecided(s, sourcePart, "<source_", "</source_") || r.undecided(s, citationPart, "<citation ")
}

func (r *Rewriter) bracket(s string) (citations string, n int, wait bool) {
	if r.code > 0 {
		return "", 0, false
	}
	m := bracketMark.FindStringSubmatch(s)
	if m == nil {
		return "", 0, r.undecided(s, bracketPart)
	}
	if len(m[0]) == len(s) {
		if !r.closed {
			return "", 0, true // what follows decides whether it is a link
		}
	} else if next := s[len(m[0])]; next == '(' || next == ':' || next == '[' && !bracketMark.MatchString(s[len(m[0]):]) && !r.undecided(s[len(m[0]):], bracketPart) {
		return "", 0, false
	} else if next == '[' && !bracketMark.MatchString(s[len(m[0]):]) {
		return "", 0, true
	}
	return r.citeAll(m[1]), len(m[0]), false
}

// undecided reports whether s, which is no mark, could become one.
func (r *Rewriter) undecided(s string, part *regexp.Regexp, openings ...string) bool {
	if r.closed || len(s) > maxHeld {
		return false
	}
	for _, o := range openings {
		if strings.HasPrefix(o, s) {
			return true
		}
	}
	return part.MatchString(s)
}

func (r *Rewriter) citeAll(list string) string {
	var out strings.Builder
	for _, digits := range number.FindAllString(list, -1) {
		// The pattern lets through numbers that fit.
		if rank, err := strconv.Atoi(digits); err == nil {
			if _, ok := r.byRank[rank]; ok {
				out.WriteString(r.cite(rank))
			}
		}
	}
	return out.String()
}

func (r *Rewriter) cite(rank int) string {
	r.used[rank] = true
	return fmt.Sprintf(`<citation id="%s">[%d]</citation>`, r.byRank[rank], rank)
}

var citationSpace = regexp.MustCompile(` ?<citation\s+id="[^"<>]*"\s*>[^<]*</citation>`)

// Strip removes citations, so that an answer can be shown to a model again.
func Strip(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return citationSpace.ReplaceAllString(text, "")
}
