package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

type askCmd struct {
	clientFlags
	Question     []string `arg:"" help:"The question, in one or more words; - reads it from standard input."`
	Project      string   `short:"p" default:"default" help:"The project whose documents are searched."`
	Document     []string `placeholder:"ID" sep:"none" help:"Search only this document: its id, external id or name, or the beginning of its id; may be repeated."`
	Conversation string   `short:"c" placeholder:"ID" help:"Continue this conversation; its id is printed below each answer."`
	Attach       []string `placeholder:"FILE" sep:"none" help:"Attach this file to the question; may be repeated."`
	DeepResearch bool     `help:"Research the question in many searches and answer with a report; takes minutes."`
	Reasoning    bool     `help:"Show the reasoning of a model that thinks before it answers; without it, only that the model is thinking."`
	Web          bool     `help:"Let the model search the web too, if the server is configured for it."`
}

// Help is the command's example.
func (askCmd) Help() string {
	return "If the server restarts, the command reconnects for up to a minute and the answer continues. Ctrl-C cancels the question; a second Ctrl-C exits at once.\n\nExample:\n\n" +
		"    cairn ask \"How often must an HX-4 be calibrated?\" --project default\n    cairn ask how many days of holiday are there\n    cairn ask -c 7d3f2c1e-0a35-4a3e-a3bb-0d6a9a1f2c11 and when must they be announced?\n    cairn ask - < question.txt\n" +
		"    cairn ask \"What does this letter want?\" --attach letter.pdf\n" +
		"    cairn ask \"What do the incidents of this year have in common?\" --deep-research > report.md"
}

// Run asks and prints the answer as it comes, then its sources.
func (q askCmd) Run(ctx context.Context, a *app) error {
	c, err := q.connectProject(ctx, &q.Project)
	if err != nil {
		return err
	}
	text, err := q.text(a.stdin)
	if err != nil {
		return err
	}
	files, err := attachedFiles(q.Attach)
	if err != nil {
		return err
	}
	if q.Document, err = documentIDs(ctx, c, q.Document); err != nil {
		return err
	}
	question := client.Question{Text: text, Project: q.Project, ConversationID: q.Conversation, Documents: q.Document, DeepResearch: q.DeepResearch, Files: files}
	if q.Web {
		question.Override = map[string]any{"tools": map[string]any{knowledge.ToolWebSearch: map[string]any{}}}
	}
	var started string
	n := newNarrator(a, q.forPrograms())
	n.thought.shown = q.Reasoning
	n.server = strings.TrimRight(q.URL, "/")
	c = c.For("", func(run string) { started = run }).WithOutages(n.outage)
	err = n.showAnswer(c.Ask(ctx, question), answerView{output: q.outputFlags, project: q.Project, continued: q.Conversation != ""})
	if errors.Is(err, context.Canceled) && started != "" {
		cancelStarted(ctx, a, c, started)
	}
	return err
}

// maxQuestion bounds a question on standard input, in bytes. The server accepts fewer.
const maxQuestion = 1 << 20

// text returns the question. Its words may be arguments of their own, as a shell makes of
// a question without quotes.
func (q askCmd) text(stdin io.Reader) (string, error) {
	text := strings.Join(q.Question, " ")
	if text != "-" {
		return text, nil
	}
	data, err := io.ReadAll(io.LimitReader(stdin, maxQuestion+1))
	if err != nil {
		return "", fmt.Errorf("read the question from standard input: %w", err)
	}
	text = strings.TrimSpace(string(data))
	switch {
	case text == "":
		return "", wrongUse("standard input has no question")
	case len(data) > maxQuestion:
		return "", wrongUse("standard input has more than %d bytes, which is the limit of a question", maxQuestion)
	case !utf8.ValidString(text):
		return "", wrongUse("the question on standard input is not UTF-8")
	}
	return text, nil
}
