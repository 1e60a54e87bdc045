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

// restartable is a server that the witness kills and restarts.
type restartable interface {
	// Kill ends the server with SIGKILL and returns when it has ended.
	Kill() error
	// Start starts the server on the same folder and addresses and returns when
	// it is ready.
	Start(ctx context.Context) error
}

// witness prints an answer, kills the server in the middle of it, and records
// the facts that the demo claims.
type witness struct {
	out       *terminal.Answer
	aside     io.Writer // for everything but the answer
	server    restartable
	killAfter int // code points of the answer

	events      int64 // events received
	eventsAfter int64 // events received after the restart
	killedAt    int   // code points received before the kill, 0 = not killed
	ready       time.Duration
	resets      int // messageReset events after the kill
	restarted   chan error
	back        bool
}

// watch prints the events of a question's run until it ends.
func (w *witness) watch(ctx context.Context, events iter.Seq2[client.Event, error]) (client.Answer, error) {
	var answer client.Answer
	if err := w.read(ctx, events, &answer); err != nil {
		// A restart in progress must not outlive the demo. Its error explains
		// more than err.
		return answer, errors.Join(w.awaitRestart(), err)
	}
	return answer, w.awaitRestart()
}

func (w *witness) read(ctx context.Context, events iter.Seq2[client.Event, error], answer *client.Answer) error {
	n := narrator{app: &app{stderr: w.aside}, answer: w.out, quiet: true}
	_, err := n.follow(func(yield func(client.Event, error) bool) {
		for e, err := range events {
			if err == nil {
				err = w.check(ctx, e)
			}
			if err == nil && e.Name == client.EventCompleted {
				err = e.Decode(answer)
			}
			if !yield(e, err) {
				return
			}
			if err == nil && w.killedAt == 0 && runes(w.out.Text()) >= w.killAfter {
				if err := w.killAndRestart(ctx); err != nil {
					yield(client.Event{}, err)
					return
				}
			}
		}
	})
	return err
}

// check counts an event. It returns an error unless the event follows the one
// before it.
func (w *witness) check(ctx context.Context, e client.Event) error {
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

// killAndRestart kills the server and restarts it in the background, while the
// reader continues.
func (w *witness) killAndRestart(ctx context.Context) error {
	w.killedAt = runes(w.out.Text())
	if err := w.server.Kill(); err != nil {
		return err
	}
	fmt.Fprint(w.aside, "[SIGKILL]") // at the place in the answer where it happened
	w.restarted = make(chan error, 1)
	begin := time.Now()
	go func(done chan<- error) {
		err := w.server.Start(ctx)
		w.ready = time.Since(begin)
		done <- err
	}(w.restarted)
	return nil
}

// awaitRestart waits for a restart in progress.
func (w *witness) awaitRestart() error {
	if w.restarted == nil {
		return nil
	}
	err := <-w.restarted
	w.restarted = nil
	return err
}

// verdict returns an error if one of the demo's claims does not hold.
func (w *witness) verdict(answer client.Answer) error {
	placed := false
	for _, s := range answer.Sources {
		placed = placed || s.UsedInResponse && s.Page > 0 && len(s.Boxes) > 0
	}
	switch {
	case w.killedAt == 0:
		return errors.New("the answer ended before the server could be killed")
	case w.eventsAfter < 2 || runes(w.out.Text()) <= w.killedAt:
		return errors.New("the answer had ended when the server was killed")
	case w.resets > 0:
		return errors.New("the answer started over after the restart instead of continuing")
	case w.out.Text() != answer.Text:
		return errors.New("the text assembled from the events is not the answer")
	case !placed:
		return errors.New("no source of the answer has a page and a box")
	}
	return nil
}

func runes(text string) int { return utf8.RuneCountInString(text) }
