package localmodel

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/model/protocol"
	"github.com/cairn-rag/cairn/internal/phrase"
)

// The names of the tools with which a research is planned, noted and outlined.
const (
	planTool    = "plan_research"
	notesTool   = "take_notes"
	outlineTool = "outline_report"
)

const (
	mostParts     = 4 // of a question
	sectionLength = 8 // sentences of a section of a report
)

var (
	askedQuestion = regexp.MustCompile(`(?s)<question>\n(.*?)\n</question>`)
	steering      = regexp.MustCompile(`(?s)<message>\n(.*?)\n</message>`)
	researched    = regexp.MustCompile(`(?s)<researched>\n(.*?)\n</researched>`)
	subQuestion   = regexp.MustCompile(`(?s)<sub_question>\n(.*?)\n</sub_question>`)
	noteTag       = regexp.MustCompile(`(?s)<note number="(\d+)"[^>]*>(.*?)</note>`)
	sectionTag    = regexp.MustCompile(`(?s)<section>\n(.*?)\n</section>`)
	partsOf       = regexp.MustCompile(`[?;\n]+\s*|,? and (?:also )?`)
)

// planResearch returns the arguments of planTool: the question, its parts, and the
// messages, those left out that were researched already.
func planResearch(message string) string {
	type planned struct {
		Question string   `json:"question"`
		Queries  []string `json:"queries"`
	}
	plan := struct {
		Questions []planned `json:"questions"`
	}{[]planned{}}
	done := map[string]bool{}
	for _, found := range researched.FindAllStringSubmatch(message, -1) {
		done[found[1]] = true
	}
	add := func(text string) {
		if text = strings.Join(strings.Fields(text), " "); text != "" && !done[text] {
			plan.Questions, done[text] = append(plan.Questions, planned{text, []string{}}), true
		}
	}
	for _, found := range append(askedQuestion.FindAllStringSubmatch(message, 1), steering.FindAllStringSubmatch(message, -1)...) {
		add(found[1])
		parts := partsOf.Split(strings.TrimRight(found[1], "? \n"), mostParts)
		for _, part := range parts {
			if len(parts) > 1 && len(strings.Fields(part)) > 2 {
				add(part + "?")
			}
		}
	}
	return encode(plan)
}

// takeNotes returns the arguments of notesTool: the sentences of the passages that answer
// the sub-question.
func (m *Model) takeNotes(messages []protocol.Message) string {
	type note struct {
		Text    string `json:"text"`
		Sources []int  `json:"sources"`
	}
	taken := struct {
		Notes   []note `json:"notes"`
		Missing string `json:"missing"`
	}{[]note{}, ""}
	q := questionOf(lastMessage(messages), subQuestion)
	q.length = sectionLength
	r := m.read(q, findSources(messages))
	if !r.relevant() {
		taken.Missing = phrase.For(q.text).NoAnswer
		return encode(taken)
	}
	for _, i := range r.choose() {
		c := r.candidates[i]
		taken.Notes = append(taken.Notes, note{c.text, []int{r.sources[c.source].number}})
	}
	return encode(taken)
}

// outlineReport returns the arguments of outlineTool: one section with all notes.
func outlineReport(message string) string {
	type section struct {
		Heading string `json:"heading"`
		Notes   []int  `json:"notes"`
	}
	outline := struct {
		Title    string    `json:"title"`
		Sections []section `json:"sections"`
	}{strings.TrimSpace(readTag(message, askedQuestion)), []section{}}
	all := section{Heading: "Findings", Notes: []int{}}
	for _, found := range noteTag.FindAllStringSubmatch(message, -1) {
		number := 0
		if _, err := fmt.Sscan(found[1], &number); err == nil {
			all.Notes = append(all.Notes, number)
		}
	}
	if len(all.Notes) > 0 {
		outline.Sections = append(outline.Sections, all)
	}
	return encode(outline)
}

// writeSection returns the text of a section: for each of its notes, the sentence of the
// passages from which it was taken. ok is false if the message asks for no section.
func (m *Model) writeSection(messages []protocol.Message) (text string, ok bool) {
	message := lastMessage(messages)
	if !sectionTag.MatchString(message) {
		return "", false
	}
	sources := findSources(messages)
	var section *reading
	var chosen []int
	for _, found := range noteTag.FindAllStringSubmatch(message, -1) {
		r := m.readWords(readQuestion([]protocol.Message{{Role: "user", Content: protocol.Content(found[2])}}), sources)
		i, ok := r.sameAs()
		if !ok {
			continue
		}
		if section == nil {
			section = r
		}
		section.candidates[i] = r.candidates[i] // a row with the cells that this note names
		if len(chosen) < sectionLength && !section.repeats(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	if section == nil {
		return phrase.For(questionOf(message, askedQuestion).text).NoAnswer, true
	}
	return section.render(chosen), true
}

// noteCoverage is the share of the words of a note that the sentence has from which it was taken.
const noteCoverage = 0.5

// sameAs returns the candidate that has most of the words of the question, which is a note.
func (r *reading) sameAs() (best int, ok bool) {
	most := 0.0
	for i := range r.candidates {
		if c := &r.candidates[i]; r.share(c.has) > most || r.share(c.has) == most && c.score > r.candidates[best].score {
			best, most = i, r.share(c.has)
		}
	}
	return best, most > 0 && most >= noteCoverage*r.totalWeight()
}

// questionOf returns the question in a tag of a message.
func questionOf(message string, tag *regexp.Regexp) question {
	return readQuestion([]protocol.Message{{Role: "user", Content: protocol.Content(readTag(message, tag))}})
}

func readTag(message string, tag *regexp.Regexp) string {
	if found := tag.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return message
}

func lastMessage(messages []protocol.Message) string {
	return string(messages[len(messages)-1].Content)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}" // texts, numbers and lists always marshal
	}
	return string(b)
}
