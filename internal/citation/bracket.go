package citation

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBracket bounds what stands between the brackets of a mark, in bytes.
const maxBracket = 120

// brackets are the pairs in which models write numbers of passages. In round ones the number
// needs a word before it.
var brackets = map[rune]string{'[': "]", '【': "】", '［': "］", '〔': "〕", '(': ")"}

// openers are the keys of brackets.
const openers = "[【［〔("

// sourceWords are the words before the number of a passage, in lower case. Longer words
// stand before their beginnings.
var sourceWords = []string{
	"sources", "source", "src", "references", "reference", "refs", "ref", "citations", "citation", "cite",
	"documents", "document", "docs", "doc", "passages", "passage", "chunk", "context",
	"quellen", "quelle", "fuentes", "fuente", "fontes", "fonte", "fonti", "bron", "来源", "來源", "出典", "資料", "资料",
}

const (
	between = `(?:\s*(?:[,;、，&]|and|und|et)\s*|\s*[-–—]\s*)`
	page    = `\s*[,;:]\s*(?:pp?|pages?|s|seiten?|§§?|sect?(?:ion)?|lines?|l)\.?\s*\d+(?:\s*[-–]\s*\d+)?`
)

var (
	sourceWord = `(?:` + strings.Join(sourceWords, "|") + `)`
	numbers    = `\d{1,6}(?:` + between + `(?:` + sourceWord + `[\s_:.#-]*)?\d{1,6})*`
	// inBracket has the groups word, numbers, and what a † begins.
	inBracket = regexp.MustCompile(`(?i)^\s*[\^#]?\s*(` + sourceWord + `[\s_:.#-]*)?(` + numbers + `(?::\d+)?)(?:` + page + `|\s*(†.*))?\s*$`)
	// inNamed is a mark with a word before its number and a title behind it.
	inNamed     = regexp.MustCompile(`(?i)^\s*(` + sourceWord + `[\s_:.#-]*)(` + numbers + `)\s*[,;:|–-]\s*\S.*$`)
	bracketLead = regexp.MustCompile(`(?i)^\s*[\^#]?\s*(?:` + sourceWord + `[\s_:.#-]*)?(?:\d|$)`)
	wordLead    = regexp.MustCompile(`^\s*\^?\s*([^\s\d_:.#\[\]-]*)$`)
	numberRange = regexp.MustCompile(`(\d+)(?:\s*[-–—]\s*(\d+))?`)
	indexUse    = regexp.MustCompile(`^(?:\s?[-+*/%]?=|\.[a-z_])`)
)

// openerOf returns the closing bracket and the size of the bracket at the beginning of text, ""
// if none stands there.
func openerOf(text string) (closer string, size int) {
	r, size := utf8.DecodeRuneInString(text)
	return brackets[r], size
}

// bracket reads [1, 2] and its kin, and leaves everything else in brackets alone: a year,
// an index of code, a link, its definition, and what is quoted.
func (r *Rewriter) bracket(v view) mark {
	closer, open := openerOf(v.text)
	inside := v.text[open:min(len(v.text), open+maxBracket)]
	end := strings.IndexAny(inside, closer+"\n[")
	if end < 0 || !strings.HasPrefix(inside[end:], closer) {
		if end < 0 && !v.final && len(inside) < maxBracket && mayBeMark(inside) {
			return mark{wait: true}
		}
		return r.notMark()
	}
	length := open + end + len(closer)
	behind := v.text[length:]
	cited, sure := r.bracketRanks(inside[:end], closer == ")")
	switch {
	case len(cited) == 0 && !sure:
		return r.notMark()
	case len(behind) < maxWord && strings.IndexFunc(behind, unicode.IsSpace) < 0 && !v.final,
		len(behind) < len(" +=") && !v.final && r.name() != "":
		return mark{wait: true}
	case strings.HasPrefix(behind, "(") && closer != ")", strings.HasPrefix(behind, ":") && r.blank,
		r.isIndex(behind), r.quoted.has(r.written, v.text[:length], behind):
		return r.notMark()
	}
	return mark{length: length, citations: r.citeAll(cited)}
}

// mayBeMark reports whether inside, which stands behind an opening bracket, can be the
// beginning of a mark.
func mayBeMark(inside string) bool {
	if bracketLead.MatchString(inside) {
		return true
	}
	m := wordLead.FindStringSubmatch(inside)
	return m != nil && slices.ContainsFunc(sourceWords, func(word string) bool { return hasPrefix(word, m[1]) })
}

// maxListed is the largest number beside a rank that is taken for a rank which there is not.
const maxListed = 99

// bracketRanks returns the ranks that stand between brackets. Without any, or with a number
// beside them that can be no rank ([0, 1], [1, 100]), it is no mark, except in the forms that
// nothing else has (sure): [source_9] and 【9†name】.
func (r *Rewriter) bracketRanks(inside string, round bool) (cited []int, sure bool) {
	m := inBracket.FindStringSubmatch(inside)
	if m == nil {
		m = append(inNamed.FindStringSubmatch(inside), "")
	}
	if len(m) == 1 || round && m[1] == "" || round && m[3] != "" {
		return nil, false
	}
	sure = hasPrefix(m[1], "source_") || m[3] != ""
	for _, rank := range ranksOf(m[2]) {
		if _, known := r.byRank[rank]; known {
			cited = append(cited, rank)
		} else if !sure && (rank < 1 || rank > maxListed) {
			return nil, false
		}
	}
	if strings.Contains(m[2], ":") {
		cited = nil // a number of somebody else's list
	}
	return cited, sure
}

// maxRange bounds how many passages a range names.
const maxRange = 20

// ranksOf returns the numbers of a list, and of a range all in it. A number that is too large
// for a rank is -1.
func ranksOf(list string) []int {
	var out []int
	for _, m := range numberRange.FindAllStringSubmatch(list, -1) {
		first, err := strconv.Atoi(m[1])
		last := first
		if err == nil && m[2] != "" {
			last, err = strconv.Atoi(m[2])
		}
		if err != nil || last < first || last-first >= maxRange {
			out = append(out, -1)
			continue
		}
		for rank := first; rank <= last; rank++ {
			out = append(out, rank)
		}
	}
	return out
}

// name returns the name to which the next bracket is joined, as in arr[1], "" without one.
func (r *Rewriter) name() string {
	if r.spaced {
		return ""
	}
	return joinedName.FindString(r.written)
}

var joinedName = regexp.MustCompile(`[\pL\pN_$.]*[\pL_$][\pL\pN_$.]*$`)

// isIndex reports whether a bracket is an index of code: it is joined to a name of code, to a
// name that had a bracket before which was no mark, or something is done with the whole.
func (r *Rewriter) isIndex(behind string) bool {
	name := r.name()
	return name != "" && (r.indexed[name] || strings.ContainsAny(name, "_$") || indexUse.MatchString(behind))
}

// notMark notes that the bracket here is none of ours.
func (r *Rewriter) notMark() mark {
	if name := r.name(); name != "" {
		r.indexed[name] = true
	}
	return mark{}
}
