package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/telemetry"
)

// How the process trades memory for processor time: the collector runs seldom
// until the heap comes near the limit, which is soft. The variables GOGC and
// GOMEMLIMIT override these.
const (
	gcPercent   = 200
	memoryLimit = 300 << 20
)

type upCmd struct {
	Data           string `placeholder:"DIR" help:"The folder where everything is kept. Default: ./cairn-data."`
	Listen         string `placeholder:"ADDRESS" help:"Where the API listens; port 0 takes a free one. Default: 127.0.0.1:8080."`
	TemporalListen string `placeholder:"ADDRESS" help:"Where the Temporal server listens. Default: 127.0.0.1:7233."`
	UIListen       string `name:"ui-listen" placeholder:"ADDRESS" help:"Where the operator's pages are. Default: 127.0.0.1:8233."`
	Config         string `type:"path" placeholder:"FILE" help:"A configuration file. Default: the one that CAIRN_CONFIG names."`
}

// Help is the command's example.
func (upCmd) Help() string {
	return "Everything in one process: Temporal server and its pages, database, index, blobs, the offline model, worker and API. " +
		"Ctrl-C or SIGTERM stops it; what was under way goes on at the next start.\n\nExample:\n\n    cairn up --data /var/lib/cairn --listen 0.0.0.0:8080"
}

// Run starts everything and serves until ctx ends.
func (c upCmd) Run(ctx context.Context, a *app) error {
	overrides := map[string]any{}
	for key, value := range map[string]string{
		"data": c.Data, "listen": c.Listen, "temporal.listen": c.TemporalListen, "temporal.ui_listen": c.UIListen,
	} {
		if value != "" {
			overrides[key] = value
		}
	}
	cfg, err := config.Load(config.Options{File: c.Config, Environ: os.Environ(), Overrides: overrides})
	if err != nil {
		return usageError{err.Error()}
	}
	log, err := telemetry.NewLogger(a.stderr, cfg.Log.Level)
	if err != nil {
		return usageError{err.Error()}
	}
	for _, warning := range cfg.Warnings {
		log.WarnContext(ctx, warning)
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	release, err := lockFolder(cfg.Data)
	if err != nil {
		return err
	}
	defer release()
	if os.Getenv("GOGC") == "" {
		// The server and the stores make much garbage and keep little.
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	p, err := newPlatform(ctx, cfg, log)
	if err != nil && ctx.Err() != nil { // it was stopped before it was ready
		log.InfoContext(ctx, "stopped while starting", "error", err)
		return p.close()
	}
	if err != nil {
		return errors.Join(err, p.close())
	}
	if err := p.ends.Write(cfg.Data); err != nil {
		return errors.Join(err, p.close())
	}
	fmt.Fprintf(a.stdout, "Cairn is ready.\n  API        %s\n  Documents  %s/docs\n  Operator   %s\n  Admin key  %s\n",
		p.ends.API, p.ends.API, p.ends.UI, p.ends.KeyFile)
	select {
	case <-ctx.Done():
	case err = <-p.failed:
	}
	fmt.Fprintln(a.stdout, "Stopping; what is under way goes on at the next start.")
	return errors.Join(err, p.close())
}

// parseCmd is the child process that reads untrusted files.
type parseCmd struct{}

// Run reads requests from the standard input until it ends.
func (parseCmd) Run(ctx context.Context) error {
	return extract.Serve(ctx, os.Stdin, os.Stdout)
}
