package main

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/server"
)

type apiCmd struct {
	Data   string `placeholder:"DIR" help:"The folder for temporary files, and for stores that are files. Default: ./cairn-data."`
	Listen string `placeholder:"ADDRESS" help:"The address of the API; port 0 selects a free port. Default: 127.0.0.1:8080."`
	Config string `type:"path" placeholder:"FILE" help:"The configuration file of the cluster. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (apiCmd) Help() string {
	return "A cluster is any number of cairn api and cairn worker processes that use the same Temporal server (temporal.address) and " +
		"the same stores. Run cairn migrate first. An API server has no state of its own and may be killed at any moment; its clients " +
		"continue at another one.\n\nExample:\n\n    cairn api --config cluster.yaml --listen 0.0.0.0:8080"
}

// Run serves until ctx ends.
func (c apiCmd) Run(ctx context.Context, a *app) error {
	cfg, o, err := configure(ctx, a, c.Config, map[string]string{"data": c.Data, "listen": c.Listen})
	if err != nil {
		return err
	}
	o.Ready = func(r server.Ready) {
		fmt.Fprintf(a.stdout, "Cairn's API is ready.\n  API        %s\n  Documents  %s/docs\n  Temporal   %s\n", r.Endpoints.API, r.Endpoints.API, cfg.Temporal.Address)
		printNotices(a.stdout, r)
	}
	return server.API(ctx, cfg, o)
}

type migrateCmd struct {
	Data   string `placeholder:"DIR" help:"The folder for the keys of the instance, and for the stores that are files. Default: ./cairn-data."`
	Config string `type:"path" placeholder:"FILE" help:"The configuration file of the cluster. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (migrateCmd) Help() string {
	return "The command creates or updates what the processes of a cluster share: the tables of the database, the Temporal namespace with its search " +
		"attributes and schedules, the default workspace and project, and the keys of the instance. The first run writes the keys to " +
		"admin.key and secret.key in the data folder unless the configuration has them (admin_key, secret_key), and prints the admin key. " +
		"Run it before each new version; running it again changes nothing. cairn up does not need it.\n\n" +
		"Example:\n\n    cairn migrate --config cluster.yaml"
}

// Run migrates.
func (c migrateCmd) Run(ctx context.Context, a *app) error {
	cfg, o, err := configure(ctx, a, c.Config, map[string]string{"data": c.Data})
	if err != nil {
		return err
	}
	made, err := server.Migrate(ctx, cfg, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "The stores and the namespace %s at %s are ready for this version of Cairn.\n", cfg.Temporal.Namespace, cfg.Temporal.Address)
	if made.AdminKey != "" {
		fmt.Fprintf(a.stdout, "The admin key is in %s and is not shown again:\n  %s\n", made.KeyFile, made.AdminKey)
	}
	return nil
}
