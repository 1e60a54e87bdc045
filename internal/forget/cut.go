package forget

import (
	"hash/maphash"
	"regexp"
	"strings"
	"unicode"
)

// Mark stands for what was cut.
const Mark = "[…]"

// phraseWords is the length of a phrase. Shorter ones are common to unrelated texts.
const phraseWords = 6

var (
	// citations are the citations at the end of a part of an answer, as package citation
	// writes them, with the punctuation behind them.
	citations = regexp.MustCompile(`(?:\s?<(?:web_)?citation\s[^<>]*>[^<]*</(?:web_)?citation>)+[.!?…,;:)\]»”"']*`)
	citedID   = regexp.MustCompile(`<citation\s+id="([^"]*)"`)
	marks     = regexp.MustCompile(regexp.QuoteMeta(Mark) + `(?:\s*` + regexp.QuoteMeta(Mark) + `)+`)
)

// cutCited cuts the parts of an answer that cite one of the chunks, and the part behind the
// last citation then. It returns what remains, and the parts that cite them.
func cutCited(answer string, chunks map[string]bool) (remains string, cut []string) {
	var kept strings.Builder
	begin := 0
	for _, place := range citations.FindAllStringIndex(answer, -1) {
		part := answer[begin:place[1]]
		if cites(answer[place[0]:place[1]], chunks) {
			cut = append(cut, answer[begin:place[0]])
			kept.WriteString(leadingSpace(part) + Mark)
		} else {
			kept.WriteString(part)
		}
		begin = place[1]
	}
	if len(cut) == 0 {
		return answer, nil
	}
	rest := answer[begin:]
	if strings.ContainsFunc(rest, isWord) && strings.TrimSpace(rest) != Mark {
		rest = leadingSpace(rest) + Mark
	}
	return marks.ReplaceAllString(kept.String()+rest, Mark), cut
}

func cites(citations string, chunks map[string]bool) bool {
	for _, m := range citedID.FindAllStringSubmatch(citations, -1) {
		if chunks[m[1]] {
			return true
		}
	}
	return false
}

func leadingSpace(s string) string {
	return s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsSpace))]
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// phrases are the hashes of the phrases of some texts.
type phrases map[uint64]struct{}

var seed = maphash.MakeSeed()

// add adds the phrases of a text. A text of fewer words than a phrase is one itself.
func (p phrases) add(text string) {
	list := wordsOf(text)
	if len(list) == 0 {
		return
	}
	for i := range max(1, len(list)-phraseWords+1) {
		p[hashOf(list[i:min(i+phraseWords, len(list))])] = struct{}{}
	}
}

// cut cuts the phrases out of a text. It reports whether there were any.
func (p phrases) cut(text string) (string, bool) {
	list := wordsOf(text)
	covered := make([]bool, len(list))
	any := false
	if len(list) < phraseWords && len(list) > 0 {
		if _, any = p[hashOf(list)]; any {
			return Mark, true
		}
	}
	for i := 0; i+phraseWords <= len(list); i++ {
		if _, there := p[hashOf(list[i:i+phraseWords])]; !there {
			continue
		}
		any = true
		for j := range phraseWords {
			covered[i+j] = true
		}
	}
	if !any {
		return text, false
	}
	var kept strings.Builder
	begin := 0
	for i := 0; i < len(list); i++ {
		if !covered[i] {
			continue
		}
		kept.WriteString(text[begin:list[i].begin] + Mark)
		for i+1 < len(list) && covered[i+1] {
			i++
		}
		begin = list[i].end
	}
	return kept.String() + text[begin:], true
}

// word is a word of a text and its place, in bytes. In scripts without spaces a character is
// a word.
type word struct {
	text       string
	begin, end int
}

// wordsOf returns the words of a text in lower case, without the citations between them.
func wordsOf(text string) (list []word) {
	tags := citations.FindAllStringIndex(text, -1)
	begin := -1
	end := func(at int) {
		if begin >= 0 {
			list = append(list, word{strings.ToLower(text[begin:at]), begin, at})
		}
		begin = -1
	}
	for i, r := range text {
		for len(tags) > 0 && i >= tags[0][1] {
			tags = tags[1:]
		}
		switch {
		case len(tags) > 0 && i >= tags[0][0], !isWord(r) && !unicode.IsMark(r):
			end(i)
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			end(i)
			begin = i
			end(i + len(string(r)))
		case begin < 0:
			begin = i
		}
	}
	end(len(text))
	return list
}

func hashOf(list []word) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, w := range list {
		h.WriteString(w.text)
		h.WriteByte(0)
	}
	return h.Sum64()
}
