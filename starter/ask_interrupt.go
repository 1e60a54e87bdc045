package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// cancelPatience is how long an interrupted command tries to cancel the run that it
// started. A second interruption ends the process at once.
const cancelPatience = 5 * time.Second

// cancelStarted cancels the run of a command that was interrupted, and writes what became
// of it.
func cancelStarted(ctx context.Context, a *app, c *client.Client, run string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelPatience)
	defer cancel()
	if err := c.CancelRun(ctx, run); err != nil {
		fmt.Fprintf(a.stderr, "The run could not be cancelled (%s). To try again: cairn runs cancel %s\n", terminal.Clean(err.Error()), run)
		return
	}
	fmt.Fprintf(a.stderr, "Cancelled the run %s.\n", run)
}
