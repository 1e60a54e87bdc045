package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type healthCmd struct {
	clientFlags
}

// Help returns the command's details and an example.
func (healthCmd) Help() string {
	return "The command requests /readyz of a server, or of a worker at its health_listen. The exit code is 0 if the process is ready, 1 if it is not, and 3 if nothing answers. " +
		"It is the health check of the containers, which have no curl.\n\nExample:\n\n    cairn health --url http://127.0.0.1:8081"
}

// Run reports the state of a process.
func (h healthCmd) Run(ctx context.Context, a *app) error {
	c, err := h.connect()
	if err != nil {
		return err
	}
	state, err := c.Readiness(ctx)
	if err != nil {
		return err
	}
	if err := h.print(a, state); err != nil {
		return err
	}
	if state.Status == "ready" {
		return nil
	}
	var down []string
	for _, d := range state.Dependencies {
		if d.Status != "up" {
			down = append(down, d.Name)
		}
	}
	if len(down) == 0 {
		return errors.New("the server is not ready: it is stopping")
	}
	return fmt.Errorf("the server is not ready: it does not reach %s; its log has the cause", strings.Join(down, ", "))
}

func (h healthCmd) print(a *app, state client.Readiness) error {
	if h.forPrograms() {
		return h.write(a, state)
	}
	pairs := []string{"status", state.Status}
	for _, d := range state.Dependencies {
		pairs = append(pairs, d.Name, d.Status)
	}
	if p := state.DiskProblem; p != nil {
		pairs = append(pairs, "disk", strings.ReplaceAll(p.Code, "_", "-")+": "+p.Message)
	}
	return terminal.Fields(a.stdout, pairs...)
}
