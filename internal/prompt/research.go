package prompt

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The system prompts of deep research.
var (
	//go:embed research/plan.md
	planPrompt string
	//go:embed research/notes.md
	notesPrompt string
	//go:embed research/outline.md
	outlinePrompt string
	//go:embed research/section.md
	sectionPrompt string
)

// maxNotes bounds the notes in one prompt, in bytes.
const maxNotes = 120_000

// Note is a note of a research as models read it.
type Note struct {
	Number int // 1 = first, over the whole research
	Text   string
	Ranks  []int // of the passages that it rests on; none = they are not shown
}

// Research is what the prompts of a research are made of.
type Research struct {
	Question string
	Date     time.Time
	History  []knowledge.Message // of the conversation
	Messages []string            // of the person who asked, while the research ran
	Asked    []string            // the sub-questions so far
	Notes    []Note
	Open     []string     // what the notes leave open, each with its sub-question
	Attached []Attachment // to the question
}

// Plan returns the prompts that ask for at most count further sub-questions.
func (r Research) Plan(count int) (system, user string) {
	var open strings.Builder
	for _, text := range r.Open {
		open.WriteString(tag("open", text))
	}
	return r.fill(planPrompt, count, nil), r.attached() + r.words() + open.String()
}

// TakeNotes returns the prompts that ask for notes on a sub-question.
func (r Research) TakeNotes(question string, passages []citation.Context) (system, user string) {
	return r.fill(notesPrompt, 0, passages), r.words() + tag("sub_question", question)
}

// Outline returns the prompts that ask for an outline with at most count sections.
func (r Research) Outline(count int) (system, user string) {
	return r.fill(outlinePrompt, count, nil), r.words()
}

// Section returns the prompts that ask for the text of a section. headings are the headings of
// the whole report.
func (r Research) Section(heading string, headings []string, passages []citation.Context) (system, user string) {
	var outline strings.Builder
	for _, h := range headings {
		outline.WriteString("- " + h + "\n")
	}
	return r.fill(sectionPrompt, 0, passages), r.words() + tag("outline", strings.TrimSpace(outline.String())) + tag("section", heading)
}

func (r Research) fill(template string, count int, passages []citation.Context) string {
	return strings.NewReplacer(
		contextVariable, Sources(passages), dateVariable, r.Date.Format("Monday, 2 January 2006"), "${count}", strconv.Itoa(count),
	).Replace(template)
}

// attached returns the part of a user message that names the attached files.
func (r Research) attached() string {
	var b strings.Builder
	for _, f := range r.Attached {
		text := f.Name + "\n(its text is among the documents that are searched)"
		if f.Failure != "" {
			text = f.Name + "\n(not available: " + f.Failure + ")"
		}
		b.WriteString(tag("attached_file", text))
	}
	return b.String()
}

// words returns the part of a user message that the prompts share.
func (r Research) words() string {
	var b strings.Builder
	for _, m := range r.History {
		b.WriteString(tag("earlier_"+m.Role, m.Content))
	}
	b.WriteString(tag("question", r.Question))
	for _, m := range r.Messages {
		b.WriteString(tag("message", m))
	}
	for _, q := range r.Asked {
		b.WriteString(tag("researched", q))
	}
	for _, n := range r.Notes {
		if b.Len() > maxNotes {
			break
		}
		sources := ""
		if len(n.Ranks) > 0 {
			sources = fmt.Sprintf(" sources=\"%s\"", strings.Trim(strings.ReplaceAll(fmt.Sprint(n.Ranks), " ", ", "), "[]"))
		}
		fmt.Fprintf(&b, "<note number=\"%d\"%s>%s</note>\n", n.Number, sources, closed(n.Text))
	}
	return b.String()
}

// tag returns a text between tags, which it cannot close.
func tag(name, text string) string {
	return "<" + name + ">\n" + closed(text) + "\n</" + name + ">\n"
}

// closed keeps a text from closing the tags around it.
func closed(text string) string { return strings.ReplaceAll(fence(text), "</", "<\u200a/") }
