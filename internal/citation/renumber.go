package citation

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"strconv"
)

var finished = regexp.MustCompile(`<citation id="([^"]*)">\[\d+\]</citation>|<web_citation url="([^"]*)" title="[^"]*">\[\d+\]</web_citation>`)

// Renumber returns the text of an answer with its citations as marks (`<source_3>`) of
// another list of passages. rank returns the rank of a chunk id or address in that list, 0
// = it is not there, and then the citation is left out.
func Renumber(text string, rank func(id string) int) string {
	return finished.ReplaceAllStringFunc(text, func(citation string) string {
		m := finished.FindStringSubmatch(citation)
		if n := rank(cmp.Or(m[1], html.UnescapeString(m[2]))); n > 0 {
			return fmt.Sprintf("<source_%d>", n)
		}
		return ""
	})
}

var numbered = regexp.MustCompile(`(<(?:web_)?citation [^<>]*>\[)(\d+)(\]</)`)

// Number returns the text of an answer with other numbers in its citations: number returns
// the number of a rank, and is called for each citation in its order.
func Number(text string, number func(rank int) int) string {
	return numbered.ReplaceAllStringFunc(text, func(citation string) string {
		m := numbered.FindStringSubmatch(citation)
		rank, err := strconv.Atoi(m[2])
		if err != nil {
			return citation
		}
		return m[1] + strconv.Itoa(number(rank)) + m[3]
	})
}
