package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// victim is a server that the witness kills and starts again.
type victim interface {
	// Kill ends the server with SIGKILL and returns when it has ended.
	Kill() error
	// Start starts the server on the same folder and addresses and returns when
	// it is ready.
	Start(ctx context.Context) error
}

// witness prints an answer, kills the server in the middle of it and remembers
// what the claims of the demo need.
type witness struct {
	out       *terminal.Answer
	aside     io.Writer // for what is not the answer's
	server    victim
	killAfter int // code points of the answer

	events      int64 // how many came
	eventsAfter int64 // of them after the restart
	killedAt    int   // code points that had come, 0 = not killed
	ready       time.Duration
	resets      int // after the kill
	restarted   chan error
	back        bool
}

// watch prints the events of a question's run to its end.
func (w *witness) watch(ctx context.Context, events iter.Seq2[client.Event, error]) (client.Answer, error) {
	var answer client.Answer
	if err := w.read(ctx, events, &answer); err != nil {
		// The restart, if one is under way, must not outlive the demo; its
		// error is the better explanation.
		return answer, errors.Join(w.settle(), err)
	}
	return answer, w.settle()
}

func (w *witness) read(ctx context.Context, events iter.Seq2[client.Event, error], answer *client.Answer) error {
	n := narrator{app: &app{stderr: w.aside}, answer: w.out, quiet: true}
	_, err := n.follow(func(yield func(client.Event, error) bool) {
		for e, err := range events {
			if err == nil {
				err = w.see(ctx, e)
			}
			if err == nil && e.Name == client.EventCompleted {
				err = e.Decode(answer)
			}
			if !yield(e, err) {
				return
			}
			if err == nil && w.killedAt == 0 && runes(w.out.Text()) >= w.killAfter {
				if err := w.strike(ctx); err != nil {
					yield(client.Event{}, err)
					return
				}
			}
		}
	})
	return err
}

// see checks an event's place in the log.
func (w *witness) see(ctx context.Context, e client.Event) error {
	if e.ID != w.events+1 {
		return fmt.Errorf("event %d came after event %d", e.ID, w.events)
	}
	w.events++
	if w.killedAt == 0 {
		return nil
	}
	if e.Name == client.EventReset {
		w.resets++
	}
	select {
	case err := <-w.restarted:
		w.back, w.restarted = true, nil
		if err != nil {
			return err
		}
		fmt.Fprintf(w.aside, "[back after %.1f s]", w.ready.Seconds())
	default:
	}
	if w.back {
		w.eventsAfter++
	}
	return ctx.Err()
}

// strike kills the server and has it started again, while the reader goes on.
func (w *witness) strike(ctx context.Context) error {
	w.killedAt = runes(w.out.Text())
	if err := w.server.Kill(); err != nil {
		return err
	}
	fmt.Fprint(w.aside, "[SIGKILL]") // in mid line, where it happened
	w.restarted = make(chan error, 1)
	begin := time.Now()
	go func(done chan<- error) {
		err := w.server.Start(ctx)
		w.ready = time.Since(begin)
		done <- err
	}(w.restarted)
	return nil
}

// settle waits for the restart, if one is under way.
func (w *witness) settle() error {
	if w.restarted == nil {
		return nil
	}
	err := <-w.restarted
	w.restarted = nil
	return err
}

// verdict reports what did not happen as the demo claims.
func (w *witness) verdict(answer client.Answer) error {
	placed := false
	for _, s := range answer.Sources {
		placed = placed || s.UsedInResponse && s.Page > 0 && len(s.Boxes) > 0
	}
	switch {
	case w.killedAt == 0:
		return errors.New("the answer ended before the server could be killed in the middle of it")
	case w.eventsAfter < 2 || runes(w.out.Text()) <= w.killedAt:
		return errors.New("the answer had ended when the server was killed")
	case w.resets > 0:
		return errors.New("the answer started over after the restart instead of going on")
	case w.out.Text() != answer.Text:
		return errors.New("the text put together from the events is not the answer")
	case !placed:
		return errors.New("no source of the answer has a page and a box")
	}
	return nil
}

func runes(text string) int { return utf8.RuneCountInString(text) }
