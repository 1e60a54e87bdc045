package citation

import (
	"regexp"
	"strings"
	"unicode"
)

// quoted knows the numbers in brackets that stand in the passages themselves:
// footnotes, indexes of code, paths. A model that quotes a passage with one does
// not cite. Each is known by the word before it, and by what is joined to its
// end, with which it must stand in the answer too.
type quoted struct{ behind, ahead map[string]bool }

// maxWord is how many bytes of a neighbouring word are compared.
const maxWord = 40

// numberInBrackets is what can be read as a mark, as far as it stands in passages.
var numberInBrackets = regexp.MustCompile(`(?i)[\[【［〔(]\s*\^?\s*(?:` + sourceWord + `[\s_:.#-]*)?` + numbers + `[^\[\]\n]{0,40}?[\]】］〕)]`)

func newQuoted(contexts []Context) quoted {
	q := quoted{behind: map[string]bool{}, ahead: map[string]bool{}}
	for _, c := range contexts {
		for _, at := range numberInBrackets.FindAllStringIndex(c.Text, -1) {
			mark := c.Text[at[0]:at[1]]
			if word := wordBefore(c.Text[:at[0]]); word != "" {
				q.behind[word+mark] = true
			}
			if word := joined(c.Text[at[1]:]); word != "" {
				q.ahead[mark+word] = true
			}
		}
	}
	return q
}

// has reports whether a mark stands in a passage as it does between before and
// after.
func (q quoted) has(before, mark, after string) bool {
	return q.behind[wordBefore(before)+mark] || q.ahead[mark+joined(after)]
}

// wordBefore returns the word at the end of a text, or else the signs there.
func wordBefore(text string) string {
	text = strings.TrimRightFunc(text[max(0, len(text)-2*maxWord):], unicode.IsSpace)
	word := text[len(strings.TrimRightFunc(text, inName)):]
	if word == "" {
		word = text[strings.LastIndexAny(text, " \t\n")+1:]
	}
	return word[max(0, len(word)-maxWord):]
}

// joined returns what of a name follows without a space, as in [1].id. Another
// bracket does not count: two citations stand side by side like that.
func joined(text string) string {
	name := text[:len(text)-len(strings.TrimLeftFunc(text, inName))]
	name = strings.TrimRight(name[:min(len(name), maxWord)], ".:[]")
	if strings.HasPrefix(name, "[") {
		return ""
	}
	return name
}

// inName reports whether r can stand in a name or a path of code.
func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.:[]", r)
}
