package citation

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"
)

// Context is a passage that a model is given. It holds a document's words, so it
// is never stored. A page of the web has an address and a title in place of a chunk and a
// document.
type Context struct {
	Rank         int // 1 = first; the model names the passage by it
	ChunkID      string
	DocumentID   string
	DocumentName string
	URL          string
	Title        string
	Text         string
	Score        float64
}

// Rewriter rewrites marks to citations while a model's words stream through it:
//
//	<source_3>  <source_1, source_2>  [3]  [1, 2]  [1-3]  [ 3 ]  [^3]  [source_3]  [Source 3: title]
//	<cite>3</cite>  <ref>3</ref>  word.<sup>3</sup>  <source id="3">  [#3]
//	(Source 3)  【3】  【3†title】  <citation id="CHUNK">[3]</citation>
//
// all become `<citation id="CHUNK">[3]</citation>`, one for each passage, or for a page
// of the web `<web_citation url="URL" title="TITLE">[3]</web_citation>`. Words
// between the tags of one stay, and it follows them. A tag of a passage that is
// not among the contexts is removed, with the space before it, and so are [source_9] and
// 【9†title】: what is cited in the output was in the contexts. Everything else in brackets stays
// as it is if it names no passage ([2021], [0, 1]), in code and where it is an
// index (arr[0], arr[1]), where it is a link (`[1](…)`), where it defines one (`[1]: …` at the
// start of a line), and where it is quoted from a passage.
//
// Text that could become a mark is held back, at most maxHeld bytes of it. Each
// decision rests on the maxHeld bytes from its place on and on what came before
// them, so that the output does not depend on how the input is cut. Not safe for
// concurrent use.
type Rewriter struct {
	byRank  map[int]string // citations
	tags    bool           // only marks that begin with < are citations
	byID    map[string]int // by chunk id or address
	used    map[int]bool
	around  int // rank of the citation that the words stand in, until they cite it; 0 = none
	quoted  quoted
	indexed map[string]bool // names with a bracket that was no mark

	pending string
	closed  bool   // no more input
	code    code   // that we are in
	blank   bool   // there is only white space since the line began
	opening string // end of the output, if it could be the beginning of a tag
	written string // the end of the output, at least a word of it
	spaced  bool   // a space that is not written yet stands before the mark
}

// maxHeld bounds what is held back, in bytes. A citation with a UUID has 70.
const maxHeld = 240

// NewRewriter makes a rewriter for the passages of one answer.
func NewRewriter(contexts []Context) *Rewriter {
	r := &Rewriter{byRank: map[int]string{}, byID: map[string]int{}, used: map[int]bool{}, quoted: newQuoted(contexts), indexed: map[string]bool{}, blank: true}
	for _, c := range contexts {
		r.byRank[c.Rank] = c.citation()
		r.byID[cmp.Or(c.ChunkID, c.URL)] = c.Rank
	}
	return r
}

// NewMarker returns a Rewriter that writes each citation as `<source_3>`, which Resolve
// turns into citations when the answer is complete.
func NewMarker(contexts []Context) *Rewriter {
	r := NewRewriter(contexts)
	for _, c := range contexts {
		r.byRank[c.Rank] = fmt.Sprintf("<source_%d>", c.Rank)
	}
	return r
}

// NewTagRewriter returns a Rewriter for an answer in JSON, whose brackets are its own: of the marks
// only <source_3> and <citation> become citations.
func NewTagRewriter(contexts []Context) *Rewriter {
	r := NewRewriter(contexts)
	r.tags = true
	return r
}

// Resolve returns the output of a marker with its marks as citations.
func Resolve(text string, contexts []Context) string {
	pairs := make([]string, 0, 2*len(contexts))
	for _, c := range contexts {
		pairs = append(pairs, fmt.Sprintf("<source_%d>", c.Rank), c.citation())
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// citation returns the citation of a passage.
func (c Context) citation() string {
	if c.URL != "" {
		return fmt.Sprintf(`<web_citation url="%s" title="%s">[%d]</web_citation>`, html.EscapeString(c.URL), html.EscapeString(c.Title), c.Rank)
	}
	return fmt.Sprintf(`<citation id="%s">[%d]</citation>`, c.ChunkID, c.Rank)
}

// Write adds words and returns those that are certain by now.
func (r *Rewriter) Write(text string) string {
	r.pending += text
	return r.advance()
}

// Close returns what was held back.
func (r *Rewriter) Close() string {
	r.closed = true
	return r.advance()
}

// Used returns the ranks that were cited, ascending.
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
		text, n := r.step(view{text: r.pending[:min(len(r.pending), maxHeld)], final: r.closed || len(r.pending) >= maxHeld})
		if n == 0 {
			break // it could become a mark: wait
		}
		r.note(text)
		out.WriteString(text)
		r.pending = r.pending[n:]
	}
	return out.String()
}

// view is what is seen of the input from one place on. If it is final, no more
// of it will be.
type view struct {
	text  string
	final bool
}

// from is the view from n bytes further on.
func (v view) from(n int) view { return view{text: v.text[n:], final: v.final} }

// step returns what to write for the beginning of the input and how many bytes of
// it that stands for, 0 to wait for more.
func (r *Rewriter) step(v view) (text string, n int) {
	switch v.text[0] {
	case '\n':
		r.code.endLine()
		return "\n", 1
	case '`', '~':
		return r.fence(v)
	case ' ':
		if len(v.text) == 1 {
			if v.final {
				return " ", 1
			}
			return "", 0
		}
		r.spaced = true
		m := r.mark(v.from(1))
		r.spaced = false
		switch {
		case m.wait:
			return "", 0
		case m.length == 0:
			return " ", 1
		case m.words:
			return " ", 1 + m.length
		case m.citations == "": // the space goes with the mark
			return r.removed(), 1 + m.length
		}
		return " " + m.citations, 1 + m.length
	}
	if strings.IndexAny(v.text, "<"+openers) == 0 {
		return r.bracketed(v)
	}
	if n = strings.IndexAny(v.text, "\n`~ <"+openers); n < 0 {
		n = r.wholeRunes(v.text)
	}
	return v.text[:n], n
}

// bracketed is step where a bracket stands at the beginning.
func (r *Rewriter) bracketed(v view) (text string, n int) {
	m := r.mark(v)
	switch {
	case m.wait:
		return "", 0
	case m.length == 0:
		_, n = utf8.DecodeRuneInString(v.text)
		return v.text[:n], n
	case m.citations == "":
		return r.removed(), m.length
	}
	return m.citations, m.length
}

// wholeRunes returns the length of text without the beginning of a code point at its end,
// which may become a bracket.
func (r *Rewriter) wholeRunes(text string) int {
	for n := len(text) - 1; n >= max(0, len(text)-utf8.UTFMax) && !r.closed; n-- {
		if utf8.RuneStart(text[n]) {
			if !utf8.FullRuneInString(text[n:]) {
				return n
			}
			break
		}
	}
	return len(text)
}

// removed stands for a mark that is removed: nothing, unless the words before
// and behind it would become a tag.
func (r *Rewriter) removed() string {
	if r.opening != "" {
		return " "
	}
	return ""
}

// note takes in what is written.
func (r *Rewriter) note(text string) {
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		r.blank = strings.Trim(text[i+1:], " \t>") == ""
	} else if strings.Trim(text, " \t>") != "" {
		r.blank = false
	}
	r.written += text
	r.written = r.written[max(0, len(r.written)-2*maxWord):]
	r.opening += text
	i := strings.LastIndexByte(r.opening, '<')
	if i < 0 {
		r.opening = ""
		return
	}
	r.opening = r.opening[i:]
	if !beginsTag(r.opening) && (len(r.opening) > maxHeld || !sourcePart.MatchString(r.opening)) {
		r.opening = ""
	}
}

// fence handles marks that open and close code.
func (r *Rewriter) fence(v view) (text string, n int) {
	n = len(v.text) - len(strings.TrimLeft(v.text, v.text[:1]))
	if n == len(v.text) && !v.final {
		return "", 0 // there may be more of them
	}
	r.code.take(v.text[0], n, r.blank)
	return v.text[:n], n
}

// citeAll returns the citations of a list of ranks, each once.
func (r *Rewriter) citeAll(ranks []int) string {
	var out strings.Builder
	for i, rank := range ranks {
		if _, ok := r.byRank[rank]; ok && !slices.Contains(ranks[:i], rank) {
			out.WriteString(r.cite(rank))
		}
	}
	return out.String()
}

func (r *Rewriter) cite(rank int) string {
	r.used[rank] = true
	if r.around == rank {
		r.around = 0
	}
	return r.byRank[rank]
}
