package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
)

const (
	tailClients   = 32
	tailQuestions = 160
)

// tail measures the slowest of 160 questions by 32 clients in each of several
// rounds: with nothing beside the server, and beside processes that burn every
// processor.
func tail(ctx context.Context, b *bench) (figures []figure, err error) {
	q, err := b.withDocuments(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	if _, _, err := q.ask(ctx, tailClients, 2*tailClients); err != nil { // to warm up
		return nil, err
	}
	fmt.Fprintln(b.out, "| machine | round | first token p50 ms | end p50 ms | end p95 ms | slowest ms | slowest / p50 | questions/s |")
	fmt.Fprintln(b.out, "|---|---|---|---|---|---|---|---|")
	quiet, err := b.tailRound(ctx, q, "quiet")
	if err != nil {
		return nil, err
	}
	stop, err := burn()
	if err != nil {
		return nil, err
	}
	defer stop()
	busy, err := b.tailRound(ctx, q, "busy")
	fmt.Fprintln(b.out)
	return append(quiet, busy...), err
}

// tailRound measures the rounds on a machine in one state.
func (b *bench) tailRound(ctx context.Context, q *questioned, machine string) ([]figure, error) {
	slowest, worst := 0.0, 0.0
	var medians []float64
	for round := range b.tailRounds {
		t, took, err := q.ask(ctx, tailClients, tailQuestions)
		if err != nil {
			return nil, err
		}
		p50, last := t.end.quantile(.5), t.end.quantile(1)
		fmt.Fprintf(b.out, "| %s | %d | %.0f | %.0f | %.0f | %.0f | %.1f | %.0f |\n", machine, round+1,
			t.token.quantile(.5), p50, t.end.quantile(.95), last, last/p50, tailQuestions/took.Seconds())
		medians = append(medians, p50)
		slowest, worst = max(slowest, last), max(worst, last/p50)
	}
	return []figure{
		lower("end p50 ms, "+machine, median(medians)),
		lower("slowest ms, "+machine, slowest),
		lower("slowest / p50 of the worst round, "+machine, worst).aim(2.5),
	}, nil
}

// burn starts a process for each processor that only computes, until stop is
// called or the bench has ended.
func burn() (stop func(), err error) {
	var processes []*exec.Cmd
	stop = func() {
		for _, p := range processes {
			_ = p.Process.Kill()
			_ = p.Wait() // it was killed
		}
	}
	for range runtime.NumCPU() {
		p := exec.Command("sh", "-c", `while kill -0 $PPID; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done`)
		if err := p.Start(); err != nil {
			stop()
			return nil, fmt.Errorf("start a process that burns a processor: %w", err)
		}
		processes = append(processes, p)
	}
	return stop, nil
}
