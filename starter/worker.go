package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/server"
)

type workerCmd struct {
	Data         string   `placeholder:"DIR" help:"In a cluster, the folder for temporary files; else the data folder of the server. Default: ./cairn-data."`
	Queues       []string `placeholder:"QUEUE" help:"The task queues to work on: query, ingest, fetch, parse, embed, transcribe, write, bulk (small objects of imports), bulk-large (large objects of imports), webhook. Default: all of them, or bulk and bulk-large without a cluster."`
	HealthListen string   `placeholder:"ADDRESS" help:"In a cluster, the address of /healthz, /readyz and /metrics; port 0 selects a free port. Default: none."`
	Config       string   `type:"path" placeholder:"FILE" help:"The configuration file of the server or cluster. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (workerCmd) Help() string {
	return "With temporal.address in the configuration, the process is a worker of a cluster: any number of cairn api and cairn worker processes that " +
		"use the same Temporal server and the same stores. Run cairn migrate first.\n\n" +
		"Without it, the process shares the work of imports with a server (cairn up) on this machine. It needs the data folder and " +
		"the configuration of the server, and reconnects when the server restarts.\n\n" +
		"A worker may be killed at any moment: the other processes take over its work within seconds.\n\n" +
		"Example:\n\n    cairn worker --config cluster.yaml --queues query,ingest --health-listen 0.0.0.0:8081\n    cairn worker --data /var/lib/cairn"
}

// Run works until ctx ends.
func (c workerCmd) Run(ctx context.Context, a *app) error {
	cfg, o, err := configure(ctx, a, c.Config, map[string]string{"data": c.Data, "health_listen": c.HealthListen})
	if err != nil {
		return err
	}
	o.Ready = func(r server.Ready) {
		fmt.Fprintf(a.stdout, "Cairn's worker is ready.\n  Temporal   %s\n  Queues     %s\n", cfg.Temporal.Address, strings.Join(r.Queues, ", "))
		if r.Endpoints.API != "" {
			fmt.Fprintf(a.stdout, "  Health     %s/readyz\n", r.Endpoints.API)
		}
	}
	if cfg.Temporal.Embedded() { // it works for a server
		o.Ready = func(r server.Ready) {
			fmt.Fprintf(a.stdout, "Cairn's worker is ready.\n  Server     %s\n  Queues     %s\n", r.Endpoints.API, strings.Join(r.Queues, ", "))
		}
		o.Stopping = func() { fmt.Fprintln(a.stdout, "Stopping; other processes do what is left.") }
	}
	return server.Work(ctx, cfg, c.Queues, o)
}
