package localmodel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// What the model says when it has nothing to quote.
const (
	noAnswer  = "The documents do not contain an answer to this question."
	noSources = "This is Cairn's offline model. It answers by quoting passages of documents, and none came with this question."
)

// How good a passage must be beside the best one to be quoted too.
const (
	nearBest         = 0.5
	nearBestSame     = 0.8 // where it has no term of the question that the best one lacks
	nearBestDetailed = 0.4 // what stands around the chosen passages fills the answer
)

// answer gives the text for a conversation.
func (m *Model) answer(messages []protocol.Message) string {
	sources := findSources(messages)
	if len(sources) == 0 {
		if slices.ContainsFunc(messages, func(msg protocol.Message) bool { return msg.Role == "tool" }) {
			return noAnswer
		}
		return noSources
	}
	r := m.read(readQuestion(messages), sources)
	if !r.relevant() {
		return noAnswer
	}
	return r.render(r.choose())
}

// choose gives the passages to quote, as indices of candidates.
func (r *reading) choose() []int {
	order := make([]int, len(r.candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.candidates[b].score, r.candidates[a].score) })
	best := r.candidates[order[0]]
	var chosen []int
	for _, i := range order {
		if len(chosen) >= r.q.length || r.candidates[i].score <= 0 {
			break
		}
		if r.near(best, r.candidates[i]) && !r.repeats(chosen, i) {
			chosen = append(chosen, r.withItems(i, r.q.length-len(chosen), chosen)...)
		}
	}
	if r.q.detailed {
		chosen = r.fill(chosen)
	}
	return chosen
}

// near reports whether a passage is good enough beside the best one.
func (r *reading) near(best, c candidate) bool {
	switch {
	case r.q.detailed:
		return c.score >= nearBestDetailed*best.score
	case r.q.length < listLength && c.has&^best.has == 0:
		return c.score >= nearBestSame*best.score
	default:
		return c.score >= nearBest*best.score
	}
}

// withItems gives candidate i and, if it introduces a list, the items that
// follow it, limit in all.
func (r *reading) withItems(i, limit int, chosen []int) []int {
	group := []int{i}
	if !strings.HasSuffix(r.candidates[i].text, ":") {
		return group
	}
	limit = max(limit, min(listLength, r.q.length+2))
	for j := i + 1; j < len(r.candidates) && len(group) < limit; j++ {
		c := r.candidates[j]
		if c.source != r.candidates[i].source || c.heading != r.candidates[i].heading {
			break
		}
		if !slices.Contains(chosen, j) {
			group = append(group, j)
		}
	}
	return group
}

// fill lengthens an answer that was asked for in detail with what stands around
// the chosen passages: first after them, then in the rest of their sources.
func (r *reading) fill(chosen []int) []int {
	add := func(i int) {
		if i >= 0 && i < len(r.candidates) && len(chosen) < r.q.length && !slices.Contains(chosen, i) && !r.repeats(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	for _, i := range slices.Clone(chosen) {
		if i+1 < len(r.candidates) && r.candidates[i+1].source == r.candidates[i].source {
			add(i + 1)
		}
	}
	for _, i := range slices.Clone(chosen) {
		for j, c := range r.candidates {
			if c.source == r.candidates[i].source && !c.fragment {
				add(j)
			}
		}
	}
	return chosen
}

// repeats reports whether candidate i says what a chosen one says: passages of
// neighbouring chunks overlap.
func (r *reading) repeats(chosen []int, i int) bool {
	text := r.candidates[i].text
	for _, j := range chosen {
		other := r.candidates[j].text
		if i == j || strings.Contains(other, text) || strings.Contains(text, other) || alike(text, other) {
			return true
		}
	}
	return false
}

// alike reports whether two texts share most of their words.
func alike(a, b string) bool {
	if len(a) > 2*len(b) || len(b) > 2*len(a) {
		return false
	}
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(a) {
		seen[word] = true
	}
	shared, total := 0, len(seen)
	counted := map[string]bool{}
	for word := range strings.FieldsSeq(b) {
		switch {
		case counted[word]:
		case seen[word]:
			shared++
		default:
			total++
		}
		counted[word] = true
	}
	return 4*shared > 3*total
}

// render writes the chosen passages: by source, the best source first, and
// inside a source as they stand there. Each is followed by its citation.
func (r *reading) render(chosen []int) string {
	best := map[int]int{} // source -> place of its best passage
	for place, i := range chosen {
		if _, ok := best[r.candidates[i].source]; !ok {
			best[r.candidates[i].source] = place
		}
	}
	slices.SortStableFunc(chosen, func(a, b int) int {
		x, y := r.candidates[a], r.candidates[b]
		return cmp.Or(best[x.source]-best[y.source], x.position-y.position)
	})
	var b strings.Builder
	for n, i := range chosen {
		c := r.candidates[i]
		switch {
		case n == 0:
		case r.q.detailed && r.candidates[chosen[n-1]].source != c.source:
			b.WriteString("\n\n")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(c.text)
		if !endsWell(c.text) {
			b.WriteByte('.')
		}
		b.WriteString(" " + sourceMark + strconv.Itoa(r.sources[c.source].number) + ">")
	}
	return b.String()
}
