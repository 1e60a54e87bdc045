package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/dispatch"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/namespace"
)

// This file has the parts of the roles of a cluster, which share an external Temporal
// server. Other processes are at work at the same time, so no part takes unfinished work
// for the work of a dead process: time-outs, leases and schedules repair it.

const (
	// clusterPatience bounds how long a role waits for a service or for cairn migrate.
	clusterPatience = time.Minute
	clusterCheck    = 500 * time.Millisecond
)

// requireCluster returns an error without the address of a Temporal server.
func (p *platform) requireCluster(role string) error {
	if p.cfg.Temporal.Embedded() {
		return ConfigError{role + " needs a Temporal server: set temporal.address to its host and port, or use cairn up, which has one in its process"}
	}
	return nil
}

// await calls try until it succeeds. A failure that waiting cannot repair ends it at
// once, any other one after clusterPatience.
func (p *platform) await(ctx context.Context, what string, try func(context.Context) error) error {
	deadline := time.Now().Add(clusterPatience)
	for told := false; ; told = true {
		err := try(ctx)
		if err == nil || knowledge.IsCode(err, knowledge.CodeConflict) || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		if !told {
			p.log.WarnContext(ctx, "waiting for "+what, "error", err)
		}
		select {
		case <-time.After(clusterCheck):
		case <-ctx.Done():
		}
	}
}

// awaitStores opens the stores when cairn migrate has prepared them.
func (p *platform) awaitStores(ctx context.Context) error {
	err := p.await(ctx, "the database, or for cairn migrate", func(ctx context.Context) error {
		started := len(p.closers)
		err := p.joinStores(ctx)
		for ; err != nil && len(p.closers) > started; p.closers = p.closers[:len(p.closers)-1] {
			err = errors.Join(err, p.closers[len(p.closers)-1]())
		}
		return err
	})
	if err != nil && !knowledge.IsCode(err, knowledge.CodeConflict) {
		return fmt.Errorf("%w; cairn migrate of this version of cairn prepares the stores, if its database.url is the same", err)
	}
	return err
}

// keepSecretKey records which key seals the secrets of users, so that no process works
// with another one.
func (p *platform) keepSecretKey(ctx context.Context) error {
	kept, err := p.store.Setting(ctx, "secret_key", p.secretKeyName)
	if err != nil {
		return fmt.Errorf("record the key for secrets: %w", err)
	}
	if kept != p.secretKeyName() {
		return ConfigError{"the key for secrets is not the key of this instance: give each process the same secret_key, or the file secret.key that cairn migrate wrote into its data folder"}
	}
	return nil
}

// secretKeyName identifies the key without telling it.
func (p *platform) secretKeyName() string {
	mac := hmac.New(sha256.New, p.secretKey)
	mac.Write([]byte("cairn secret key"))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// dialCluster connects to the configured Temporal server.
func (p *platform) dialCluster(ctx context.Context, role string) error {
	p.identity = role + "/" + rand.Text()
	t := p.cfg.Temporal
	target := namespace.Target{Address: t.Address, Name: t.Namespace, APIKey: t.APIKey}
	if t.TLS.On() {
		target.TLS = &namespace.TLS{CAFile: t.TLS.CAFile, CertFile: t.TLS.CertFile, KeyFile: t.TLS.KeyFile, ServerName: t.TLS.ServerName}
	}
	p.ends.Temporal, p.ends.UI = t.Address, t.UIURL
	if p.listener != nil {
		p.ends.Listeners = addresses(p.listener.Addr().String(), p.offline)
	}
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	quiet := slog.New(atLeast{p.log.Handler(), slog.LevelWarn})
	c, err := namespace.Dial(ctx, target, quiet, func(o *client.Options) { o.Identity = p.identity }, namespace.Encrypt(p.ring))
	if err != nil {
		return fmt.Errorf("%w; check temporal.address", err)
	}
	p.useTemporal(c)
	return nil
}

// registerNamespace connects to the Temporal server, and creates what is missing there:
// the namespace, its search attributes and the schedules of the sweeps.
func (p *platform) registerNamespace(ctx context.Context) error {
	if err := p.dialCluster(ctx, "cairn"); err != nil {
		return err
	}
	if err := namespace.Register(ctx, p.client, p.cfg.Temporal.Namespace, searchAttributes()); err != nil {
		return err
	}
	return dispatch.ScheduleSweeps(ctx, p.client)
}

// awaitNamespace returns a part that connects to the Temporal server when cairn migrate
// has prepared the namespace.
func (p *platform) awaitNamespace(role string) part {
	return func(ctx context.Context) error {
		if err := p.dialCluster(ctx, role); err != nil {
			return err
		}
		err := p.await(ctx, "the namespace, or for cairn migrate", func(ctx context.Context) error {
			return namespace.Check(ctx, p.client, p.cfg.Temporal.Namespace, searchAttributes())
		})
		if err != nil {
			return fmt.Errorf("%w; cairn migrate prepares the namespace", err)
		}
		return nil
	}
}

// listenHealth opens the listener of a worker's health, if it has one.
func (p *platform) listenHealth(context.Context) (err error) {
	if p.cfg.HealthListen == "" {
		return nil
	}
	if p.listener, err = net.Listen("tcp", p.cfg.HealthListen); err != nil {
		return fmt.Errorf("listen on %s: %w; stop what is there, or give another --health-listen", p.cfg.HealthListen, err)
	}
	p.onClose(func() error {
		p.listener.Close()
		return nil
	})
	p.ends.API = urlOf(p.listener)
	return nil
}

// serveHealth serves the health of a worker that runs.
func (p *platform) serveHealth(context.Context) error {
	if p.listener == nil {
		return nil
	}
	health := api.NewHealth(p.dependencies(), p.healthDetails(), p.metrics.Handler(), p.log)
	p.serve(p.listener, health.Handler(), func() {
		health.Stop()
		go p.worker.Stop() // its closer waits for it
	})
	return nil
}
