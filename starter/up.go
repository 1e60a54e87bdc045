package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/server"
	"github.com/cairn-rag/cairn/internal/telemetry"
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
	cfg, o, err := configure(ctx, a, c.Config, map[string]string{
		"data": c.Data, "listen": c.Listen, "temporal.listen": c.TemporalListen, "temporal.ui_listen": c.UIListen,
	})
	if err != nil {
		return err
	}
	o.Ready = func(r server.Ready) {
		ends := r.Endpoints
		fmt.Fprintf(a.stdout, "Cairn is ready.\n  API             %s\n  API reference   %s/docs\n  Console         %s  (signs one browser in, within 15 minutes)\n  Temporal UI     %s\n  Admin key file  %s\n",
			ends.API, ends.API, r.SignIn, ends.UI, ends.KeyFile)
		o.Log.InfoContext(ctx, "ready", "version", versionName(), "api", ends.API)
		printNotices(a.stdout, r)
	}
	o.Stopping = func() {
		o.Log.InfoContext(ctx, "stopping")
		fmt.Fprintln(a.stdout, "Stopping; unfinished work resumes at the next start.")
	}
	return server.Up(ctx, cfg, o)
}

// printNotices prints the notices below the addresses of a server.
func printNotices(out io.Writer, r server.Ready) {
	for n := range r.Notices {
		fmt.Fprintf(out, "  %-15s %s\n", n.Subject, n.Text)
	}
}

// configure loads the configuration of a server process, with those flags that are not
// "" over it, and makes its logger.
func configure(ctx context.Context, a *app, file string, flags map[string]string) (config.Config, server.Options, error) {
	overrides := map[string]any{}
	for key, value := range flags {
		if value != "" {
			overrides[key] = value
		}
	}
	cfg, err := config.Load(config.Options{File: file, Environ: os.Environ(), Overrides: overrides})
	if err != nil {
		return cfg, server.Options{}, usageError{err.Error()}
	}
	log, err := telemetry.NewLogger(a.stderr, cfg.Log.Level)
	if err != nil {
		return cfg, server.Options{}, usageError{err.Error()}
	}
	for _, warning := range cfg.Warnings {
		log.WarnContext(ctx, warning)
	}
	return cfg, server.Options{Version: versionName(), Log: log, Environ: os.Environ()}, nil
}

// parseCmd is the child process that parses untrusted files.
type parseCmd struct{}

// Run answers requests on standard input until it ends.
func (parseCmd) Run(ctx context.Context) error {
	return server.Parse(ctx, os.Stdin, os.Stdout)
}

// browseCmd is the first program in the network of the browser.
type browseCmd struct {
	Args []string `arg:"" passthrough:""`
}

// Run becomes the browser.
func (c browseCmd) Run() error { return server.Browse(c.Args) }
