package evaluate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Contradiction is two passages that say different numbers or dates of the same thing.
type Contradiction struct {
	Subject string    `json:"subject"` // the words that both share
	First   Statement `json:"first"`
	Second  Statement `json:"second"`
}

// Statement is a sentence or row of a passage, with the number or date that differs.
type Statement struct {
	ChunkID    string `json:"chunk_id"`
	DocumentID string `json:"document_id"`
	Text       string `json:"text"`
	Value      string `json:"value"`
}

// Limits of contradictions.
const (
	sameSubject   = 0.8 // share of common words from which on two statements are of the same thing
	leastSubject  = 3   // words of a statement that is compared
	longestClaim  = 400 // bytes of its text
	mostNumbersIn = 4   // of a statement; more are a list
)

// claim is a statement that may contradict another.
type claim struct {
	statement
	passage int
	key     string          // of a cell of a table: the names of its row and column, in lower case
	names   map[string]bool // words with capitals or digits: what the statement is about
	rarest  []string        // its terms, the rarest first
}

// Contradictions returns the contradictions between passages, at most limit (0 = all). It is
// precise rather than complete: two statements contradict each other only if they have nearly the
// same words, name the same things, and all their numbers and dates are equal but one, which has the
// same unit. A passage does not contradict itself, and a table whose rows share names
// contradicts nothing.
func Contradictions(passages []Passage, limit int) []Contradiction {
	claims := claimsOf(passages)
	list := []Contradiction{}
	seen := map[[2]string]bool{}
	for _, pair := range alike(claims, passages) {
		a, b := claims[pair[0]], claims[pair[1]]
		x, y, ok := a.contradicts(b)
		key := [2]string{a.text, b.text}
		// A document with the same words and several dates is a list by date.
		dated := passages[a.passage].DocumentID == passages[b.passage].DocumentID && (x.isTime() || y.isTime())
		if !ok || seen[key] || dated {
			continue
		}
		seen[key] = true
		list = append(list, Contradiction{
			Subject: sharedWords(a.text, b.text), First: a.shown(passages, x), Second: b.shown(passages, y),
		})
		if len(list) == limit {
			break
		}
	}
	return list
}

func (c claim) shown(passages []Passage, q quantity) Statement {
	p := passages[c.passage]
	return Statement{ChunkID: p.ChunkID, DocumentID: p.DocumentID, Text: c.text, Value: q.text}
}

// claimsOf returns the statements of passages that may contradict others.
func claimsOf(passages []Passage) []claim {
	var claims []claim
	for i, p := range passages {
		l := newLexicon(p.whole())
		for _, c := range claimTexts(p) {
			if len(c.text) > longestClaim {
				continue
			}
			c.statement = l.statement(c.text)
			if len(c.quantities) == 0 || len(c.quantities) > mostNumbersIn || c.words() < leastSubject {
				continue
			}
			c.passage, c.names = i, namesIn(c.text)
			claims = append(claims, c)
		}
	}
	return claims
}

// words returns how many terms of a statement have letters, its units included.
func (s statement) words() (count int) {
	for _, q := range s.quantities {
		if q.known {
			count++
		}
	}
	for term := range s.terms {
		if strings.ContainsFunc(term, unicode.IsLetter) {
			count++
		}
	}
	return count
}

// claimTexts returns the sentences of a passage, and of each table whose rows have names of their
// own "name, column: value" for each cell.
func claimTexts(p Passage) []claim {
	var claims []claim
	tables, headers := map[string][]line{}, []string{}
	for _, x := range linesOf(p.whole()) {
		switch {
		case !x.row:
			if last, _ := utf8.DecodeLastRuneInString(x.text); strings.ContainsRune(".!。", last) {
				claims = append(claims, claim{statement: statement{text: x.text}})
			}
			continue
		case tables[x.header] == nil:
			headers = append(headers, x.header)
		}
		tables[x.header] = append(tables[x.header], x)
	}
	for _, raw := range headers {
		header := cellsOf(raw)
		for _, row := range namedRows(header, tables[raw]) {
			for column := 1; column < len(header); column++ {
				name := row[0] + ", " + header[column]
				claims = append(claims, claim{statement: statement{text: name + ": " + row[column]}, key: strings.ToLower(name)})
			}
		}
	}
	return claims
}

// namesIn returns the words of a text that have a digit beside letters, or a capital inside a
// sentence. They are what a statement is about, so they must be the same.
func namesIn(text string) map[string]bool {
	names := map[string]bool{}
	for i, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:()|\"“”„", r) }) {
		word = strings.Trim(word, ".!?'’")
		first, _ := utf8.DecodeRuneInString(word)
		letters := strings.ContainsFunc(word, unicode.IsLetter)
		if letters && (strings.ContainsAny(word, "0123456789") && !isDigit(first) || unicode.IsUpper(first) && i > 0) {
			names[strings.ToLower(word)] = true
		}
	}
	for month := range months {
		delete(names, month)
	}
	return names
}

// alike returns the pairs of claims of different passages that share most words, in their order.
// Two of them share at least one of their rarest words, so only these are looked up.
func alike(claims []claim, passages []Passage) [][2]int {
	frequency := map[string]int{}
	for _, c := range claims {
		for term := range c.terms {
			frequency[term]++
		}
	}
	with := map[string][]int{}
	var pairs [][2]int
	for i := range claims {
		c := &claims[i]
		c.rarest = slices.SortedFunc(maps.Keys(c.terms), func(a, b string) int {
			return cmp.Or(cmp.Compare(frequency[a], frequency[b]), strings.Compare(a, b))
		})
		n := len(c.rarest)
		near := map[int]bool{}
		for _, term := range c.rarest[:n-int(math.Ceil(sameSubject*float64(n)))+1] {
			for _, other := range with[term] {
				near[other] = true
			}
			with[term] = append(with[term], i)
		}
		for _, other := range slices.Sorted(maps.Keys(near)) {
			if c.isAlike(&claims[other], passages) {
				pairs = append(pairs, [2]int{other, i})
			}
		}
	}
	return pairs
}

// isAlike reports whether two statements of different passages are of the same thing.
func (c *claim) isAlike(other *claim, passages []Passage) bool {
	if c.passage == other.passage || c.key != other.key {
		return false
	}
	if passages[c.passage].DocumentID != passages[other.passage].DocumentID {
		return overlap(c.terms, other.terms) >= sameSubject
	}
	return c.key == "" && maps.Equal(c.terms, other.terms)
}

// contradicts returns the quantities in which two statements differ.
func (c claim) contradicts(other claim) (x, y quantity, ok bool) {
	if c.negated != other.negated || len(c.quantities) != len(other.quantities) || !maps.Equal(c.names, other.names) ||
		differsInName(c.terms, other.terms) {
		return x, y, false
	}
	differing := 0
	for i, q := range c.quantities {
		if !q.same(other.quantities[i]) {
			differing++
			x, y = q, other.quantities[i]
		}
	}
	if len(c.quantities) > 1 && (x.isTime() || y.isTime()) {
		return x, y, false // the number of another year
	}
	return x, y, differing == 1 && x.comparable(y)
}

// isTime reports whether a quantity is a date or may be a year.
func (q quantity) isTime() bool {
	return len(q.dates) > 0 || !q.known && slices.ContainsFunc(q.raw, func(x float64) bool { return x >= 1500 && x < 2200 && x == math.Trunc(x) })
}

// sharedWords returns the words of a text that another text has too, as they are written.
func sharedWords(text, other string) string {
	in := map[string]bool{}
	for word := range wordsOf(other) {
		in[word] = true
	}
	var shared []string
	for word := range strings.FieldsSeq(text) {
		for plain := range wordsOf(word) {
			if in[plain] {
				shared = append(shared, strings.Trim(word, ".,;:"))
				break
			}
		}
	}
	return strings.Join(shared, " ")
}
