package citation

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mark is what stands at a place of the input: length bytes that are to be
// written as citations (none: removed), or no mark if length is 0. With wait
// more must be seen. With words it is a tag before words that stay.
type mark struct {
	citations string
	length    int
	wait      bool
	words     bool
}

const (
	openTag     = "<citation"
	closeTag    = "</citation"
	openWebTag  = "<web_citation"
	closeWebTag = "</web_citation"
	sourceTag   = "<source_"
	sourceClose = "</source_"
)

var (
	sourceMark = regexp.MustCompile(`(?i)^</?source_(\d+(?:\s*,\s*(?:source_)?\d+)*)\s*/?>`)
	sourcePart = regexp.MustCompile(`(?i)^</?source_[\d,\s_source]*/?$`)
	tagID      = regexp.MustCompile(`(?i)\s(?:id|url)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/>]+))`)
	tagPart    = regexp.MustCompile(`(?is)^\s*(?:[a-z]+\s*(?:=.*)?)?$`)
	tagEnd     = regexp.MustCompile(`(?i)^</(?:web_)?citation\s*>`)
	tagEndPart = regexp.MustCompile(`(?i)^</(?:web_)?citation\s*$`)
	label      = regexp.MustCompile(`^\s*\[[\d,\s]*\]`)
	wholeLabel = regexp.MustCompile(`(?i)^\s*(?:\[(?:[\d,\s]|source_)*\])?\s*$`)
	labelPart  = regexp.MustCompile(`^\s*(?:\[[\d,\s]*)?$`)
	number     = regexp.MustCompile(`\d+`)
)

// mark reads what stands at the beginning of v.
func (r *Rewriter) mark(v view) mark {
	switch {
	case v.text == "":
		return mark{wait: !v.final}
	case !utf8.FullRuneInString(v.text) && !v.final:
		return mark{wait: true}
	case v.text[0] != '<':
		if closer, _ := openerOf(v.text); closer == "" || r.tags || r.code.open() {
			return mark{}
		}
		return r.bracket(v)
	case hasPrefix(v.text, sourceTag), hasPrefix(v.text, sourceClose):
		return r.source(v)
	case hasPrefix(v.text, openTag):
		return r.tag(v, openTag)
	case hasPrefix(v.text, openWebTag):
		return r.tag(v, openWebTag)
	case hasPrefix(v.text, closeTag):
		return r.end(v, closeTag)
	case hasPrefix(v.text, closeWebTag):
		return r.end(v, closeWebTag)
	case r.isShort(v.text):
		return r.short(v)
	}
	return mark{wait: !v.final && beginsTag(v.text)}
}

// source reads <source_1, source_2>. A closing </source_1> is removed.
func (r *Rewriter) source(v view) mark {
	m := sourceMark.FindStringSubmatch(v.text)
	switch {
	case m == nil:
		return mark{wait: !v.final && sourcePart.MatchString(v.text)}
	case v.text[1] == '/':
		return mark{length: len(m[0])}
	}
	return mark{length: len(m[0]), citations: r.citeAll(ranks(m[1]))}
}

// tag reads <citation id="…">…</citation>, or the same of a page with its url. Around words the citation stands at
// the end of them. If the end is far or another tag comes first, the opening tag
// alone stands for the citation.
func (r *Rewriter) tag(v view, name string) mark {
	behind := v.text[len(name):]
	if behind != "" && isNameByte(behind[0]) {
		return mark{} // a longer name
	}
	end := strings.IndexAny(behind, "<>")
	if end < 0 {
		switch {
		case !v.final:
			return mark{wait: true}
		case r.closed && tagPart.MatchString(behind):
			return mark{length: len(v.text)} // the answer was cut off in the middle of it
		}
		return mark{length: len(name)}
	}
	if behind[end] == '<' || strings.IndexAny(behind, " \t\r\n\f/>") != 0 {
		return mark{length: len(name)} // broken
	}
	open := len(name) + end + 1
	whole := r.content(v.from(open))
	if whole.wait {
		return whole
	}
	whole.length += open
	rank := r.byID[idOf(behind[:end])]
	switch {
	case whole.words:
		r.around = rank
	case rank > 0:
		whole.citations = r.cite(rank)
	}
	return whole
}

// content reads a label between the tags of a citation, its end included.
func (r *Rewriter) content(v view) mark {
	end := strings.IndexByte(v.text, '<')
	switch {
	case end < 0 && !v.final:
		return mark{wait: true}
	case end < 0 && r.closed && labelPart.MatchString(v.text):
		return mark{length: len(v.text)}
	case end >= 0:
		m := tagEnd.FindString(v.text[end:])
		switch {
		case m != "" && wholeLabel.MatchString(v.text[:end]):
			return mark{length: end + len(m)}
		case m != "":
			return mark{words: true}
		}
		if part := v.text[end:]; !v.final && (beginsTag(part) || tagEndPart.MatchString(part)) {
			return mark{wait: true}
		}
	}
	return mark{length: len(label.FindString(v.text))}
}

// end reads an end tag, which stands for the citation of the words before it, or
// ends nothing.
func (r *Rewriter) end(v view, name string) mark {
	if behind := v.text[len(name):]; behind != "" && isNameByte(behind[0]) {
		return mark{}
	}
	if m := tagEnd.FindString(v.text); m != "" {
		whole := mark{length: len(m)}
		if r.around > 0 {
			whole.citations = r.cite(r.around)
		}
		return whole
	}
	if !v.final && tagEndPart.MatchString(v.text) {
		return mark{wait: true}
	}
	return mark{length: len(name)}
}

// idOf returns the id among the attributes of a tag.
func idOf(attributes string) string {
	m := tagID.FindStringSubmatch(attributes)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1] + m[2] + m[3]) // one of them is not empty
}

func ranks(list string) []int {
	var out []int
	for _, digits := range number.FindAllString(list, -1) {
		// A number that does not fit is no rank of ours.
		if rank, err := strconv.Atoi(digits); err == nil {
			out = append(out, rank)
		}
	}
	return out
}

// knownTags are the beginnings of all tags that a Rewriter knows.
var knownTags = append([]string{openTag, closeTag, openWebTag, closeWebTag, sourceTag, sourceClose}, shortTags...)

// beginsTag reports whether s, which begins with '<', is the beginning of a tag
// that we know.
func beginsTag(s string) bool {
	for _, name := range knownTags {
		if len(s) <= len(name) && hasPrefix(name, s) {
			return true
		}
	}
	return false
}

// hasPrefix compares without regard to the case of ASCII letters.
func hasPrefix(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != lower(prefix[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// isNameByte reports whether b can continue the name of a tag.
func isNameByte(b byte) bool {
	return 'a' <= lower(b) && lower(b) <= 'z' || '0' <= b && b <= '9' || b == '-' || b == '_' || b == ':' || b == '.'
}
