package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

func documentFailure(e knowledge.DocumentError) error {
	text := objectFailure(e)
	if e.Retryable {
		text += " (cairn documents retry may help)"
	}
	return errors.New(text)
}

// documentWait returns which attempt of a step failed, when the next one is, and why. It
// is the first one while the pace of the provider holds the step back.
func documentWait(w knowledge.Waiting) string {
	next := nextTry(time.Until(w.NextAt), w.NextAt)
	if w.Attempt == 0 {
		return fmt.Sprintf("first attempt of %d %s: %s", w.Of, next, w.Message)
	}
	return fmt.Sprintf("attempt %d of %d, next %s: %s", w.Attempt, w.Of, next, w.Message)
}

// waitingCause is documentWait for a column of a table, with the cause first.
func waitingCause(w knowledge.Waiting) string {
	next := nextTry(time.Until(w.NextAt), w.NextAt)
	if w.Attempt == 0 {
		return fmt.Sprintf("%s: %s (first attempt of %d %s)", w.Code, w.Message, w.Of, next)
	}
	return fmt.Sprintf("%s: %s (attempt %d of %d, next %s)", w.Code, w.Message, w.Attempt, w.Of, next)
}

// importWait returns how many documents of an import wait, since when, until when and why.
func importWait(w knowledge.ImportWaiting) string {
	return fmt.Sprintf("%s, since %s, next try %s: %s", terminal.Count(int(w.Documents), "document"), terminal.Time(w.Since), nextTry(time.Until(w.NextAt), w.NextAt), w.Message)
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
