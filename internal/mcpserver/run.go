package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-rag/cairn/internal/client"
)

// start begins a run and yields its events.
type start func(context.Context, *client.Client) iter.Seq2[client.Event, error]

// follow starts a run for the call of a tool and returns the data of its last event. It
// reports the run's progress, if the caller asked for it. A call that is cancelled cancels
// its run.
func (t tools) follow(ctx context.Context, r *mcp.CallToolRequest, user string, begin start) (json.RawMessage, error) {
	connected, err := t.connect(ctx, r)
	if err != nil {
		return nil, err
	}
	ctx, leave := t.untilStopping(ctx)
	defer leave()
	run := ""
	c := connected.For(user, func(id string) { run = id })
	p := progress{request: r}
	var last client.Event
	for e, err := range begin(ctx, c) {
		switch {
		case ctx.Err() != nil && errors.Is(context.Cause(ctx), errStopping):
			return nil, errStopping
		case ctx.Err() != nil:
			cancelRun(ctx, c, run)
			return nil, ctx.Err()
		case err != nil:
			return nil, err
		}
		p.show(ctx, e)
		last = e
	}
	return outcome(last)
}

// outcome returns what a run ended with.
func outcome(last client.Event) (json.RawMessage, error) {
	switch last.Name {
	case client.EventCompleted, client.EventToolEnd:
		return last.Data, nil
	case client.EventError:
		var failure client.Failure
		if err := last.Decode(&failure); err != nil {
			return nil, err
		}
		return nil, failure
	}
	return nil, errors.New("the run ended without a last event")
}

// cancelRun asks the run of a cancelled call to stop. One that cannot be reached
// continues to its end: nobody is there to be told.
func cancelRun(ctx context.Context, c *client.Client, run string) {
	if run == "" {
		return
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), cancelPatience)
	defer done()
	_ = c.CancelRun(ctx, run)
}

// progress reports the events of a run as progress of a call.
type progress struct {
	request *mcp.CallToolRequest
	words   int // characters of the answer so far
}

// show reports one event. A report that is not delivered is no reason to fail.
func (p *progress) show(ctx context.Context, e client.Event) {
	token := p.request.Params.GetProgressToken()
	message := p.message(e)
	if token == nil || message == "" {
		return
	}
	_ = p.request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(e.ID), Message: message})
}

// message describes an event in a few words, "" for one that does not concern a reader.
func (p *progress) message(e client.Event) string {
	var data struct {
		RunID                string // runStarted
		Name, Status, Reason string // toolCall, messageReset
		Summary, Phase       string
		Content              string // tool_partial_update
		Chunk                struct{ Data string }
		Model, Next          string // modelFailed
		Event                string // toolEvent
		Data                 json.RawMessage
	}
	if json.Unmarshal(e.Data, &data) != nil {
		return ""
	}
	switch e.Name {
	case client.EventStarted:
		return "run " + data.RunID + " started"
	case client.EventToolCall:
		return strings.TrimSuffix(fmt.Sprintf("%s %s: %s", data.Name, data.Status, data.Summary), ": ")
	case client.EventReset:
		p.words = 0
		return "the answer begins again: " + data.Reason
	case client.EventToolUpdate:
		return phase(data.Phase, data.Status)
	case client.EventToolEvent:
		if data.Event == client.EventToolUpdate { // of a search of the web
			return p.message(client.Event{Name: data.Event, Data: data.Data})
		}
	case client.EventModelFailed:
		return strings.TrimSuffix(data.Model+" failed, asking "+data.Next, ", asking ")
	case client.EventChunk, client.EventToolPartial:
		p.words += utf8.RuneCountInString(data.Chunk.Data + data.Content)
		return fmt.Sprintf("writing the answer: %d characters", p.words)
	}
	return ""
}

// phase returns a phase of a tool in words, "" = an update without one.
func phase(name, status string) string {
	if name == "" {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", " ")) + " " + status
}
