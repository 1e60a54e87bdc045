package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// narrator writes the events of a run as they come: the words of an answer to
// stdout, everything else to stderr. Events come from one goroutine; an outage and the pages
// of a document may come from others.
type narrator struct {
	app     *app
	answer  *terminal.Answer // nil = the words are not shown
	quiet   bool             // nothing but the words
	run     string
	server  string // its address
	last    knowledge.Stage
	report  reportProgress // of a research
	thought thought
	tools   map[string]string // names of the tools that were called, by the ids of the calls

	mu sync.Mutex // held while something is shown
}

// newNarrator returns a narrator, which shows the words of an answer unless it is quiet.
func newNarrator(a *app, quiet bool) *narrator {
	n := &narrator{app: a, quiet: quiet}
	if !quiet {
		n.answer = terminal.NewAnswer(a.stdout)
	}
	return n
}

// follow reads a run's events to the last one, which it returns. A run that
// failed is an error.
func (n *narrator) follow(events iter.Seq2[client.Event, error]) (client.Event, error) {
	defer n.clear()
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
	last, err := n.follow(c.WithOutages(n.outage).Events(ctx, run, 0))
	if err != nil {
		return end, err
	}
	return end, last.Decode(&end)
}

func (n *narrator) tell(e client.Event) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unmark()
	if e.Name == client.EventReasoning {
		return n.think(e)
	}
	n.sayThought()
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
	case client.EventToolEvent:
		return n.toolEvent(e)
	case client.EventResearch:
		return n.research(e)
	case client.EventAttachment:
		return n.attachment(e)
	case client.EventModelFailed:
		return n.modelFailed(e)
	case client.EventMessage:
		return n.message(e)
	case client.EventSearch:
		return n.searchChoices(e)
	case client.EventDocument:
		return n.document(e)
	case client.EventImport:
		var i client.Import
		if err := e.Decode(&i); err != nil {
			return err
		}
		n.say("%s", importNumbers(i))
	case client.EventEvaluation:
		var p knowledge.EvaluationProgress
		if err := e.Decode(&p); err != nil {
			return err
		}
		n.say("%d of %d judged, %d failed", p.Judged, p.Total, p.Failed)
	case client.EventGeneration:
		var p knowledge.GenerationProgress
		if err := e.Decode(&p); err != nil {
			return err
		}
		n.say("%d of %d questions are kept, %d were written", p.Kept, p.Wanted, p.Written)
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

// searchChoices warns of a search whose passages were embedded with a model that the
// server cannot ask.
func (n *narrator) searchChoices(e client.Event) error {
	var chosen struct{ Failures map[string]string }
	if err := e.Decode(&chosen); err != nil {
		return err
	}
	if chosen.Failures["embeddings"] != "" {
		n.say("the embedding model of these documents cannot be asked, so only their words were searched; cairn doctor shows more")
	}
	return nil
}

// message shows a message that was sent to the answer.
func (n *narrator) message(e client.Event) error {
	var sent struct{ Text string }
	if err := e.Decode(&sent); err != nil {
		return err
	}
	n.say("message: %s", sent.Text)
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
	} else if d.Progress > 0 && d.Progress < 1 {
		n.markProgress(d)
	}
	return nil
}

// clear takes the line of the progress away.
func (n *narrator) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unmark()
}

func (n *narrator) markProgress(d client.Document) {
	n.mark(fmt.Sprintf("… %s: %s, %.0f %%", d.Name, d.Stage, 100*d.Progress))
}

// extracting reports whether the last event was of a document whose pages are read.
func (n *narrator) extracting() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last == knowledge.StageExtract
}

// pages shows how far a document is of which no event has come.
func (n *narrator) pages(d client.Document) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unmark()
	n.markProgress(d)
}

// outage writes that the server does not answer and is tried again; nil = it answers.
func (n *narrator) outage(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unmark()
	n.write(outageText(err))
}

// outageText describes an outage by its first error, and its end by nil.
func outageText(err error) string {
	if err == nil {
		return "connected again"
	}
	return "no connection, trying again for up to a minute: " + err.Error()
}

func (n *narrator) say(format string, args ...any) {
	if !n.quiet {
		n.write(fmt.Sprintf(format, args...))
	}
}

// write writes a line beside the answer. On a terminal it stands below what there is of it.
func (n *narrator) write(text string) {
	if n.answer != nil && terminal.Width(n.app.stderr) > 0 {
		n.answer.Pause()
	}
	// Progress that cannot be written is no reason to stop the work.
	fmt.Fprintln(n.app.stderr, terminal.Wrapped(n.app.stderr, terminal.Clean(text)))
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

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
