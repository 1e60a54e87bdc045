package localmodel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/model/protocol"
	"github.com/cairn-rag/cairn/internal/phrase"
)

// Limits of a passage's score, relative to the best passage, from which on it
// is quoted too.
const (
	nearBest         = 0.5
	nearBestSame     = 0.8 // if it contains no term of the question that the best one lacks
	nearBestDetailed = 0.4 // the passages around the chosen ones lengthen the answer
)

// answer returns the text of the next message of a conversation.
func (m *Model) answer(messages []protocol.Message) string {
	if notes, asked := summarize(messages); asked {
		return notes
	}
	return reflection(messages) + m.quote(messages)
}

// asksReflection ends a system prompt that asks for an answer which begins with a
// Reflection block.
const asksReflection = "**Reflection:**\n*the paragraph*"

// reflection returns the Reflection block of an answer, "" if none is asked for.
func reflection(messages []protocol.Message) string {
	if !slices.ContainsFunc(messages, func(msg protocol.Message) bool {
		return msg.Role == "system" && strings.HasSuffix(strings.TrimSpace(string(msg.Content)), asksReflection)
	}) {
		return ""
	}
	asked := strings.Join(strings.Fields(removeCitationMarks(strings.ReplaceAll(readQuestion(messages).text, "*", ""))), " ")
	words := fmt.Sprintf(phrase.For(asked).Reflection, asked, strconv.Itoa(len(findSources(messages))))
	return "**Reflection:**\n*" + words + "*\n\n"
}

// quote answers a question with sentences of the passages that came with it.
func (m *Model) quote(messages []protocol.Message) string {
	if section, ok := m.writeSection(messages); ok {
		return section
	}
	q, sources := readQuestion(messages), findSources(messages)
	if len(sources) == 0 {
		if slices.ContainsFunc(messages, func(msg protocol.Message) bool { return msg.Role == "tool" }) {
			return refuse(q)
		}
		return phrase.For(q.text).NoPassages
	}
	r := m.read(q, sources)
	if !r.relevant() {
		return refuse(q)
	}
	text := r.frame(r.render(r.choose()))
	if r.evidence() < sureEvidence {
		text += " " + phrase.For(q.text).Uncertain
	}
	return text
}

// refuse returns the answer to a question that the passages do not answer: that, what was
// looked for, and what to do.
func refuse(q question) string {
	say := phrase.For(q.text)
	if len(q.subject) == 0 {
		return say.NoAnswer
	}
	return say.NoAnswer + " " + fmt.Sprintf(say.LookedFor, strings.Join(q.subject, ", "))
}

// frame returns an answer behind the words of the question's language that introduce
// sentences in another one.
func (r *reading) frame(answer string) string {
	asked, answered := phrase.Language(r.q.text), phrase.Language(answer)
	if asked == "" || answered == "" || asked == answered {
		return answer
	}
	return phrase.For(r.q.text).OtherLanguage + " " + answer
}

// choose returns the passages to quote, as indices of candidates: the best, and others that
// are near enough to it.
func (r *reading) choose() []int {
	order := make([]int, len(r.candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.candidates[b].score, r.candidates[a].score) })
	best := r.candidates[order[0]]
	var chosen []int
	for _, i := range order {
		if len(chosen) >= r.q.length || len(chosen) > 0 && r.candidates[i].score <= 0 {
			break
		}
		if r.nearEnough(best, r.candidates[i]) && !r.repeats(chosen, i) {
			chosen = append(chosen, r.withItems(i, r.q.length-len(chosen), chosen)...)
		}
	}
	if r.q.detailed {
		chosen = r.lengthen(chosen)
	}
	return chosen
}

// nearEnough reports whether a passage's score is near enough to the best one.
func (r *reading) nearEnough(best, c candidate) bool {
	switch {
	case r.meant && c.has&^best.has == 0:
		return c.score >= nearBestMeant*best.score
	case r.q.detailed:
		return c.score >= nearBestDetailed*best.score
	case r.q.length < listLength && c.has&^best.has == 0:
		return c.score >= nearBestSame*best.score
	default:
		return c.score >= nearBest*best.score
	}
}

// withItems returns candidate i and, if it introduces a list, the items that
// follow it, at most limit in all.
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

// lengthen extends a detailed answer with the passages around the chosen ones:
// first those after them, then the rest of their sources.
func (r *reading) lengthen(chosen []int) []int {
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

// repeats reports whether candidate i repeats a chosen one: the passages of
// neighbouring chunks overlap.
func (r *reading) repeats(chosen []int, i int) bool {
	text := r.candidates[i].text
	for _, j := range chosen {
		other := r.candidates[j].text
		if i == j || strings.Contains(other, text) || strings.Contains(text, other) || mostlyEqual(text, other) {
			return true
		}
	}
	return false
}

// mostlyEqual reports whether two texts have most of their words in common.
func mostlyEqual(a, b string) bool {
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

// render writes the chosen passages grouped by source, the best source first,
// in the order of each source. Each is followed by its citation.
func (r *reading) render(chosen []int) string {
	best := map[int]int{} // source -> position of its best passage
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
		if !endsLikeSentence(c.text) {
			b.WriteByte('.')
		}
		b.WriteString(" " + sourceMark + strconv.Itoa(r.sources[c.source].number) + ">")
	}
	return b.String()
}
