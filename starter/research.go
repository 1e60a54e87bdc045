package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// researchUpdate is the data of a researchUpdate event.
type researchUpdate struct {
	Phase, Status, Text, Title, Reason     string
	Round, Question, Section, Found, Notes int
	Questions, Sections                    []string
	Documents                              []struct{ Name string }
	Pages                                  []struct{ URL string }
	Usage                                  *knowledge.Usage // so far; nil = the event does not say
}

// reportProgress is how far a research is.
type reportProgress struct {
	asked, read, sections int
	usage                 knowledge.Usage
	begun                 bool
	marked                bool // a terminal shows it in its last line
}

// research shows what a research plans, finds and writes: a line for each step that has
// ended, and on a terminal a last line that says what it does now.
func (n *narrator) research(e client.Event) error {
	var u researchUpdate
	if err := e.Decode(&u); err != nil {
		return err
	}
	if !n.report.begun {
		n.report.begun = true
		n.say("research %s; to steer it: cairn runs message %s \"…\"", n.run, n.run)
	}
	for _, text := range u.lines() {
		n.say("%s", text)
	}
	if now := n.report.step(u); now != "" {
		used := n.report.usage
		n.mark(fmt.Sprintf("… %s, %s, %s", now, count(used.ModelCalls, "model call"), count(used.PromptTokens+used.CompletionTokens, "token")))
	}
	return nil
}

// researchEnd shows that a research has ended, and how to read its report again.
func (n *narrator) researchEnd(run string) {
	if n.report.begun {
		used := n.report.usage
		n.say("research %s completed: %s, %s; its report again: cairn runs watch %s > report.md", run, count(used.ModelCalls, "model call"), count(used.PromptTokens+used.CompletionTokens, "token"), run)
	}
}

// modelFailed shows that a model failed, and which one is asked now.
func (n *narrator) modelFailed(e client.Event) error {
	var failed client.ModelFailed
	if err := e.Decode(&failed); err != nil {
		return err
	}
	switch {
	case failed.Next != "":
		n.say("%s failed (%s), asking %s", failed.Model, failed.Code, failed.Next)
	case !failed.RetryAt.IsZero():
		n.say("%s limits requests: next try %s", failed.Model, nextTry(time.Until(failed.RetryAt), failed.RetryAt))
	default:
		n.say("%s failed (%s)", failed.Model, failed.Code)
	}
	return nil
}

// lines returns what is told of a step that has ended.
func (u researchUpdate) lines() []string {
	about := fmt.Sprintf("%d.%d %s", u.Round, u.Question, u.Text)
	switch u.Phase + " " + u.Status {
	case "plan completed":
		if len(u.Questions) == 0 {
			return []string{fmt.Sprintf("round %d: nothing is left to ask", u.Round)}
		}
		return numbered(fmt.Sprintf("round %d asks", u.Round), fmt.Sprintf("%d.", u.Round), u.Questions)
	case "plan failed":
		return []string{fmt.Sprintf("round %d could not be planned: %s", u.Round, u.Reason)}
	case "search completed":
		return []string{fmt.Sprintf("%s: %s%s", about, count(u.Found, "passage"), listed(" of ", u.documents()))}
	case "web completed":
		return []string{fmt.Sprintf("%s: %s of the web%s", about, count(u.Found, "page"), listed(": ", u.pages()))}
	case "search failed", "web failed", "notes failed":
		return []string{fmt.Sprintf("%s: %s failed: %s", about, map[string]string{"search": "the search", "web": "the search of the web", "notes": "taking notes"}[u.Phase], u.Reason)}
	case "notes completed":
		return []string{fmt.Sprintf("%s: %s", about, count(u.Notes, "note"))}
	case "outline completed":
		if len(u.Sections) == 0 {
			return []string{"nothing was found to write about"}
		}
		return numbered("outline of “"+u.Title+"”", "", u.Sections)
	case "section skipped":
		return []string{fmt.Sprintf("section %d, %s, has only its notes: the budget is used up", u.Section, u.Text)}
	case "section failed":
		return []string{fmt.Sprintf("section %d, %s, has only its notes: %s", u.Section, u.Text, u.Reason)}
	case "message received":
		return []string{"message: " + u.Text}
	case "pause started":
		return []string{"paused"}
	case "pause completed":
		return []string{"resumed"}
	case "budget completed":
		return []string{"the budget of " + u.Reason + " is used up: the report is made of what was found"}
	}
	return nil
}

func (u researchUpdate) documents() (names []string) {
	for _, d := range u.Documents {
		names = append(names, d.Name)
	}
	return names
}

func (u researchUpdate) pages() (addresses []string) {
	for _, p := range u.Pages {
		addresses = append(addresses, p.URL)
	}
	return addresses
}

// step takes in an update, and returns what the research does now, "" = it does not say.
func (r *reportProgress) step(u researchUpdate) string {
	if u.Usage != nil {
		r.usage = *u.Usage
	}
	switch u.Phase + " " + u.Status {
	case "plan started":
		return fmt.Sprintf("plans round %d", u.Round)
	case "plan completed":
		r.asked, r.read = len(u.Questions), 0
	case "notes completed", "notes failed", "search failed":
		r.read++
	case "outline started":
		return "outlines the report"
	case "outline completed":
		r.sections = len(u.Sections)
		return ""
	case "section started":
		return fmt.Sprintf("writes section %d of %d, %s", u.Section, r.sections, u.Text)
	case "pause started":
		return "is paused"
	}
	if u.Question > 0 || u.Phase == "plan" {
		return fmt.Sprintf("reads for round %d, %d of %d questions done", u.Round, r.read, r.asked)
	}
	return ""
}

// mark shows a line at the end of the terminal, until unmark.
func (n *narrator) mark(text string) {
	if n.quiet || n.app.bar == nil {
		return
	}
	if n.answer != nil {
		n.answer.Pause()
	}
	n.report.marked = true
	_, _ = io.WriteString(n.app.bar, terminal.LastLine(n.app.bar, text)) // progress that cannot be written is no reason to stop the work
}

// unmark takes the line of mark away, before anything else is written.
func (n *narrator) unmark() {
	if n.report.marked {
		n.report.marked = false
		_, _ = io.WriteString(n.app.bar, "\r\x1b[K") // as above
	}
}

// numbered returns a title and a list below it.
func numbered(title, prefix string, list []string) []string {
	lines := []string{title}
	for i, item := range list {
		lines = append(lines, fmt.Sprintf("  %s%d %s", prefix, i+1, item))
	}
	return lines
}

// maxListed is how many sources a line names.
const maxListed = 4

// listed returns a list behind a word, each item once, "" = the list is empty.
func listed(before string, items []string) string {
	seen := []string{}
	for _, item := range items {
		if !slices.Contains(seen, item) {
			seen = append(seen, item)
		}
	}
	switch more := len(seen) - maxListed; {
	case len(seen) == 0:
		return ""
	case more > 0:
		return fmt.Sprintf("%s%s and %d more", before, strings.Join(seen[:maxListed], ", "), more)
	}
	return before + strings.Join(seen, ", ")
}

// count returns a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

type runsMessageCmd struct {
	clientFlags
	ID   string   `arg:"" help:"The run's id, or the beginning of it."`
	Text []string `arg:"" help:"The instruction, in one or more words: what to look for, or how to write the answer or the report."`
}

// Help returns the command's details and an example.
func (runsMessageCmd) Help() string {
	return "The next model call of a question considers the message; words that were written without it are dropped. A research considers it in its next plan and in the sections that are not yet written.\n\nExample:\n\n" +
		"    cairn runs message 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11 \"Leave out what is older than 2020\""
}

// Run sends a message to an answer or a research.
func (s runsMessageCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectRun(ctx, &s.ID)
	if err != nil {
		return err
	}
	if err := c.MessageRun(ctx, s.ID, strings.Join(s.Text, " ")); err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, map[string]string{"id": s.ID})
	}
	_, err = fmt.Fprintln(a.stdout, "sent to run", s.ID)
	return err
}
