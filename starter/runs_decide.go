package main

import (
	"context"
	"fmt"
)

// callFlags name a tool call that waits for a person.
type callFlags struct {
	clientFlags
	Run  string `arg:"" help:"The run's id, or the beginning of it."`
	Call string `arg:"" help:"The call's id, from its toolCall event."`
}

type runsApproveCmd struct{ callFlags }

// Help returns the command's details and an example.
func (runsApproveCmd) Help() string {
	return "Calls of the tools in the project's tools.approval need approval.\n\nExample:\n\n" +
		"    cairn runs approve 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11 call_1_1"
}

// Run approves a tool call.
func (s runsApproveCmd) Run(ctx context.Context, a *app) error { return s.decide(ctx, a, true, "") }

type runsRefuseCmd struct {
	callFlags
	Reason string `help:"The reason for the model."`
}

// Help returns the command's details and an example.
func (runsRefuseCmd) Help() string {
	return "The run continues, and the model reads the reason.\n\nExample:\n\n" +
		"    cairn runs refuse 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11 call_1_1 --reason 'the customer was called already'"
}

// Run refuses a tool call.
func (s runsRefuseCmd) Run(ctx context.Context, a *app) error {
	return s.decide(ctx, a, false, s.Reason)
}

// decide sends the decision and reports it.
func (f callFlags) decide(ctx context.Context, a *app, approve bool, reason string) error {
	c, err := f.connectRun(ctx, &f.Run)
	if err != nil {
		return err
	}
	if err := c.DecideCall(ctx, f.Run, f.Call, approve, reason); err != nil {
		return err
	}
	decision := "refused"
	if approve {
		decision = "approved"
	}
	if f.forPrograms() {
		return f.write(a, map[string]string{"run": f.Run, "call": f.Call, "decision": decision})
	}
	_, err = fmt.Fprintln(a.stdout, decision, "call", f.Call, "of run", f.Run)
	return err
}
