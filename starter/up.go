package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/telemetry"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type upCmd struct {
	Data           string `placeholder:"DIR" help:"The data folder. Default: ./cairn-data."`
	Listen         string `placeholder:"ADDRESS" help:"The address of the API; port 0 selects a free port. Default: 127.0.0.1:8080."`
	TemporalListen string `placeholder:"ADDRESS" help:"The address of the Temporal server. Default: 127.0.0.1:7233."`
	UIListen       string `name:"ui-listen" placeholder:"ADDRESS" help:"The address of Temporal's web UI. Default: 127.0.0.1:8233."`
	Config         string `type:"path" placeholder:"FILE" help:"A configuration file. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (upCmd) Help() string {
	return "The process runs a Temporal server with its web UI, the database, the index, the blob store, the offline model, the worker and the API. " +
		"With temporal.address in the configuration it uses that Temporal server instead. " +
		"Ctrl-C or SIGTERM stops it; unfinished work continues at the next start.\n\nExample:\n\n    cairn up --data /var/lib/cairn --listen 0.0.0.0:8080"
}

// Run starts everything and serves until ctx ends.
func (c upCmd) Run(ctx context.Context, a *app) error {
	cfg, log, err := configure(ctx, a, c.Config, map[string]string{
		"data": c.Data, "listen": c.Listen, "temporal.listen": c.TemporalListen, "temporal.ui_listen": c.UIListen,
	})
	if err != nil {
		return err
	}
	if cfg.Temporal.Embedded() && !hasTemporal {
		return errNoTemporal
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	release, err := lockFolder(cfg.Data)
	if err != nil {
		return err
	}
	defer release()
	defer tuneCollector()()
	p := newPlatform(cfg, log)
	err = p.start(ctx, p.upParts()...)
	if err != nil && ctx.Err() != nil { // stopped before it was ready
		log.InfoContext(ctx, "stopped while starting", "error", err)
		return p.close()
	}
	if err != nil {
		return errors.Join(err, p.close())
	}
	if err := p.ends.Write(cfg.Data); err != nil {
		return errors.Join(err, p.close())
	}
	fmt.Fprintf(a.stdout, "Cairn is ready.\n  API             %s\n  API reference   %s/docs\n  Temporal UI     %s\n  Admin key file  %s\n",
		p.ends.API, p.ends.API, p.ends.UI, p.ends.KeyFile)
	log.InfoContext(ctx, "ready", "version", versionName(), "api", p.ends.API)
	p.tellStale(ctx, a.stdout)
	p.tellUncompared(a.stdout)
	p.tellEmptyIndex(ctx, a.stdout)
	p.tellConfinement(a.stdout)
	select {
	case <-ctx.Done():
	case err = <-p.failed:
	}
	log.InfoContext(ctx, "stopping")
	fmt.Fprintln(a.stdout, "Stopping; unfinished work resumes at the next start.")
	return errors.Join(err, p.close())
}

// tellStale writes a line for each project whose documents were embedded with another
// model than the one that is configured by now.
func (p *platform) tellStale(ctx context.Context, w io.Writer) {
	stale, err := p.store.StaleProjects(ctx)
	if err != nil {
		p.log.WarnContext(ctx, "stale embeddings are not counted", "error", err)
		return
	}
	for _, s := range stale {
		fmt.Fprintf(w, "  Stale           %s of project %s/%s: embedded with %s, and %s is configured now. Embed them again: cairn documents reingest --all --stale --project %s%s\n",
			terminal.Count(s.Documents, "document"), s.Workspace, s.Project, knowledge.DescribeGeneration(s.Serving), knowledge.DescribeGeneration(s.Wanted), s.Project, inWorkspace(s.Workspace))
	}
}

// emptyIndexCheck bounds the check of the index at the start.
const emptyIndexCheck = 10 * time.Second

// missingInIndex returns a document that is published and of which the index has nothing:
// its file was lost, or vector.url was changed. Searches then find nothing.
func (p *platform) missingInIndex(ctx context.Context) (ref knowledge.VersionRef, missing bool, err error) {
	ref, ok, err := p.store.AnyPublished(ctx)
	if err != nil || !ok {
		return ref, false, err
	}
	entries, err := p.index.Count(ctx, ref.Workspace, ref.Document)
	if err != nil {
		return ref, false, fmt.Errorf("count the index entries of document %s: %w", ref.Document, err)
	}
	return ref, len(entries) == 0, nil
}

// tellEmptyIndex writes a line if the index lacks a document that is published.
func (p *platform) tellEmptyIndex(ctx context.Context, w io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, emptyIndexCheck)
	defer cancel()
	ref, missing, err := p.missingInIndex(ctx)
	switch {
	case err != nil:
		p.log.WarnContext(ctx, "the index is not compared with the published documents", "error", err)
	case missing:
		fmt.Fprintf(w, "  Index           has no passage of document %s, which is published. If the index was lost or vector.url has changed, fill it: cairn rebuild-index%s\n",
			ref.Document, inWorkspace(ref.Workspace))
	}
}

// inWorkspace returns the flag that names a workspace, "" for the default one.
func inWorkspace(workspace string) string {
	if workspace == "default" {
		return ""
	}
	return " --workspace " + workspace
}

// configure loads the configuration of a server process, with those flags that are not
// "" over it, and makes its logger.
func configure(ctx context.Context, a *app, file string, flags map[string]string) (config.Config, *slog.Logger, error) {
	overrides := map[string]any{}
	for key, value := range flags {
		if value != "" {
			overrides[key] = value
		}
	}
	cfg, err := config.Load(config.Options{File: file, Environ: os.Environ(), Overrides: overrides})
	if err != nil {
		return cfg, nil, usageError{err.Error()}
	}
	log, err := telemetry.NewLogger(a.stderr, cfg.Log.Level)
	if err != nil {
		return cfg, nil, usageError{err.Error()}
	}
	for _, warning := range cfg.Warnings {
		log.WarnContext(ctx, warning)
	}
	return cfg, log, nil
}

// parseCmd is the child process that parses untrusted files.
type parseCmd struct{}

// Run answers requests on standard input until it ends.
func (parseCmd) Run(ctx context.Context) error {
	return extract.Serve(ctx, os.Stdin, os.Stdout)
}
