package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type askCmd struct {
	clientFlags
	Question     []string `arg:"" help:"The question, in one or more words; - reads it from standard input."`
	Project      string   `short:"p" default:"default" help:"The project to ask."`
	Document     []string `placeholder:"ID" sep:"none" help:"Ask this document only, by its id; may be repeated."`
	Conversation string   `placeholder:"ID" help:"Go on with this conversation."`
	DeepResearch bool     `help:"Answer with a report after many searches, which takes minutes."`
	Web          bool     `help:"Let the model search the web too, where the server can."`
}

// Help is the command's example.
func (askCmd) Help() string {
	return "The answer goes on through a restart of the server, for up to a minute.\n\nExample:\n\n" +
		"    cairn ask \"How often must an HX-4 be calibrated?\" --project default\n    cairn ask how many days of leave are there\n    cairn ask - < question.txt\n" +
		"    cairn ask \"What do the incidents of this year have in common?\" --deep-research > report.md"
}

// Run asks and prints the answer as it comes, then its sources.
func (q askCmd) Run(ctx context.Context, a *app) error {
	c, err := q.connect()
	if err != nil {
		return err
	}
	text, err := q.text(a.stdin)
	if err != nil {
		return err
	}
	question := client.Question{Text: text, Project: q.Project, ConversationID: q.Conversation, Documents: q.Document, DeepResearch: q.DeepResearch}
	if q.Web {
		question.Override = map[string]any{"tools": map[string]any{knowledge.ToolWebSearch: map[string]any{}}}
	}
	return showAnswer(ctx, a, c.Ask(ctx, question), q.JSON)
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
		return "", wrongUse("standard input has more than %d bytes: a question is shorter", maxQuestion)
	case !utf8.ValidString(text):
		return "", wrongUse("the question on standard input is not UTF-8")
	}
	return text, nil
}

// showAnswer prints the run of a question: the answer as it streams and its
// sources, or the finished answer as JSON.
func showAnswer(ctx context.Context, a *app, events iter.Seq2[client.Event, error], asJSON bool) error {
	n := narrator{app: a, quiet: asJSON}
	if !asJSON {
		n.answer = terminal.NewAnswer(a.stdout)
	}
	last, err := n.follow(events)
	if n.answer != nil {
		err = errors.Join(err, n.answer.Close())
	}
	if ctx.Err() != nil && n.run != "" {
		fmt.Fprintf(a.stderr, "The run goes on: cairn runs watch %s\n", n.run)
	}
	switch {
	case err != nil:
		return err
	case asJSON:
		return terminal.JSON(a.stdout, last.Data)
	}
	var answer client.Answer
	if err := last.Decode(&answer); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout) // a failure shows with the next line
	return terminal.Sources(a.stdout, answer.Sources)
}

// narrator writes the events of a run as they come: the words of an answer to
// stdout, everything else to stderr.
type narrator struct {
	app    *app
	answer *terminal.Answer // nil = the words are not shown
	quiet  bool             // nothing but the words
	run    string
	last   knowledge.Stage
	report reportProgress // of a research
}

// follow reads a run's events to the last one, which it returns. A run that
// failed is an error.
func (n *narrator) follow(events iter.Seq2[client.Event, error]) (client.Event, error) {
	defer n.unmark()
	var last client.Event
	for e, err := range events {
		if err != nil {
			return last, err
		}
		if err := n.tell(e); err != nil {
			return e, err
		}
		last = e
	}
	if !last.Terminal() {
		return last, errNoEvents
	}
	return last, nil
}

// errNoEvents is a run that had ended before the first of its events that were
// asked for.
var errNoEvents = errors.New("the run has ended, and there is nothing after the event that was named")

// end follows a run that ends with an object, and returns it.
func (n *narrator) end(ctx context.Context, c *client.Client, run string) (client.Ended, error) {
	var end client.Ended
	last, err := n.follow(c.Events(ctx, run, 0))
	if err != nil {
		return end, err
	}
	return end, last.Decode(&end)
}

func (n *narrator) tell(e client.Event) error {
	n.unmark()
	switch e.Name {
	case client.EventStarted:
		var started client.Started
		err := e.Decode(&started)
		n.run = started.RunID
		return err
	case client.EventChunk:
		var chunk client.TextChunk
		err := e.Decode(&chunk)
		if n.answer != nil {
			n.answer.Add(chunk.Chunk.Data)
		}
		return err
	case client.EventReset:
		var reset client.Reset
		err := e.Decode(&reset)
		if n.answer != nil {
			n.answer.Reset(reset.Reason)
		}
		return err
	case client.EventToolPartial:
		var words struct{ Content string }
		err := e.Decode(&words)
		if n.answer != nil {
			n.answer.Add(words.Content)
		}
		return err
	case client.EventToolUpdate:
		return n.phase(e)
	case client.EventToolCall:
		return n.toolCall(e)
	case client.EventResearch:
		return n.research(e)
	case client.EventModelFailed:
		return n.modelFailed(e)
	case client.EventDocument:
		return n.document(e)
	case client.EventImport:
		var i client.Import
		if err := e.Decode(&i); err != nil {
			return err
		}
		n.say("%s", importNumbers(i))
	case client.EventEnded:
		return runOutcome(e)
	case client.EventError:
		var failure client.Failure
		if err := e.Decode(&failure); err != nil {
			return err
		}
		return failure
	}
	return nil
}

// phase shows a phase of a tool's own run. The answer begins again when its phase starts
// a second time.
func (n *narrator) phase(e client.Event) error {
	var update struct{ Phase, Status string }
	if err := e.Decode(&update); err != nil {
		return err
	}
	if n.answer != nil && update.Phase == "COMPILING_RESULTS" && update.Status == "started" {
		n.answer.Reset("retry")
	}
	n.say("%s %s", strings.ToLower(strings.ReplaceAll(update.Phase, "_", " ")), update.Status)
	return nil
}

func (n *narrator) toolCall(e client.Event) error {
	var call struct {
		Name, Status, Summary string
		Seconds               float64
	}
	if err := e.Decode(&call); err != nil {
		return err
	}
	if call.Status != "started" {
		n.say("%s: %s", call.Name, firstOf(call.Summary, call.Status))
	}
	return nil
}

func (n *narrator) document(e client.Event) error {
	var d client.Document
	if err := e.Decode(&d); err != nil {
		return err
	}
	if d.Stage != n.last {
		n.last = d.Stage
		n.say("%s: %s", d.Name, d.Stage)
	}
	if d.Waiting != nil {
		n.say("%s waits: %s", d.Name, documentWait(*d.Waiting))
	}
	return nil
}

func (n *narrator) say(format string, args ...any) {
	if !n.quiet {
		// Progress that cannot be written is no reason to stop the work.
		fmt.Fprintln(n.app.stderr, terminal.Clean(fmt.Sprintf(format, args...)))
	}
}

// runOutcome returns nil for a runEnded with the status completed, and otherwise
// its error.
func runOutcome(e client.Event) error {
	var ended client.Ended
	if err := e.Decode(&ended); err != nil {
		return err
	}
	if ended.Error != nil {
		return documentFailure(*ended.Error)
	}
	if ended.Status != "completed" {
		return fmt.Errorf("the run ended as %s", ended.Status)
	}
	return nil
}

func documentFailure(e knowledge.DocumentError) error {
	text := fmt.Sprintf("%s at %s: %s", e.Code, e.Stage, e.Message)
	if e.Retryable {
		text += " (cairn documents retry may help)"
	}
	return errors.New(text)
}

// documentWait returns which attempt of a step failed, when the next one is, and why.
func documentWait(w knowledge.Waiting) string {
	return fmt.Sprintf("attempt %d of %d, next %s: %s", w.Attempt, w.Of, nextTry(time.Until(w.NextAt), w.NextAt), w.Message)
}

// nextTry returns the time until the next try, and for a long one also its hour.
func nextTry(left time.Duration, at time.Time) string {
	switch {
	case left < time.Second:
		return "now"
	case left < 2*time.Minute:
		return fmt.Sprintf("in %.0f s", left.Seconds())
	default:
		return fmt.Sprintf("in %s, at %s", terminal.Duration(left), terminal.Time(at))
	}
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
