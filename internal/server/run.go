package server

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"

	"github.com/cairn-rag/cairn/internal/backup"
	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/config"
)

// Options are what the command gives to a process beside its configuration.
type Options struct {
	Version string // of this build
	Log     *slog.Logger
	// Environ is the environment. GOGC and GOMEMLIMIT in it override the settings of
	// the garbage collector.
	Environ []string

	// Ready is called when all parts have started. A worker beside a server calls it
	// again for each server that it joins.
	Ready func(Ready)
	// Stopping is called when the process begins to stop after Ready. Defaults to nothing.
	Stopping func()
}

func (o Options) stopping() {
	if o.Stopping != nil {
		o.Stopping()
	}
}

// Ready is a process whose parts have started.
type Ready struct {
	Endpoints childserver.Endpoints
	SignIn    string           // a link that signs a browser in once; "" = there is none
	Queues    []string         // of its worker
	Notices   iter.Seq[Notice] // found out while they are read
}

// Up runs every role in one process, until ctx ends or a part gives up. The Temporal
// server is in the process too, unless the configuration names another.
func Up(ctx context.Context, cfg config.Config, o Options) error {
	if cfg.Temporal.Embedded() {
		if err := RequireTemporal(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	release, err := lockFolder(cfg.Data)
	if err != nil {
		return err
	}
	defer release()
	if backup.Unfinished(cfg.Data) {
		return fmt.Errorf("a restore into the data folder %s has not ended: run cairn restore again", cfg.Data)
	}
	defer tuneCollector(o.Environ)()
	p := newPlatform(cfg, o)
	return p.run(ctx, o, p.upParts(), p.staleNotices, p.uncomparedNotices, p.emptyIndexNotices, p.confinementNotices)
}

// API serves the API of a cluster, until ctx ends or a part gives up.
func API(ctx context.Context, cfg config.Config, o Options) error {
	defer tuneCollector(o.Environ)()
	p := newPlatform(cfg, o)
	if err := p.requireCluster("cairn api"); err != nil {
		return err
	}
	return p.run(ctx, o, p.apiParts(), p.staleNotices, p.uncomparedNotices, p.emptyIndexNotices)
}

// Migrated is what Migrate has made.
type Migrated struct {
	AdminKey string // that was made by this call, "" = there was one
	KeyFile  string // of the admin key
}

// Migrate prepares the stores and the Temporal namespace of a cluster.
func Migrate(ctx context.Context, cfg config.Config, o Options) (Migrated, error) {
	p := newPlatform(cfg, o)
	p.keepAdminKey = true
	if err := p.requireCluster("cairn migrate"); err != nil {
		return Migrated{}, err
	}
	if err := errors.Join(p.start(ctx, p.migrateParts()...), p.close()); err != nil {
		return Migrated{}, err
	}
	return Migrated{AdminKey: p.drawnAdminKey, KeyFile: p.ends.KeyFile}, nil
}

// run starts parts, and blocks until ctx ends or a part gives up.
func (p *platform) run(ctx context.Context, o Options, parts []part, notices ...noticeSource) error {
	err := p.start(ctx, parts...)
	if err != nil && ctx.Err() != nil { // stopped before it was ready
		p.log.InfoContext(ctx, "stopped while starting", "error", err)
		return p.close()
	}
	if err != nil {
		return errors.Join(err, p.close())
	}
	o.Ready(p.ready(ctx, notices...))
	select {
	case <-ctx.Done():
	case err = <-p.failed:
	}
	o.stopping()
	return errors.Join(err, p.close())
}

func (p *platform) ready(ctx context.Context, notices ...noticeSource) Ready {
	return Ready{Endpoints: p.ends, SignIn: p.signIn, Queues: p.queues, Notices: noticesOf(ctx, notices)}
}
