package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/service"
)

// tools is the folder of .ci/stand-ins.
const tools = "bin/tools"

// withServices starts PostgreSQL, which syncs each commit, and what start adds.
func (b *bench) withServices(ctx context.Context, m *modeltest.Server, start func(*deployment, context.Context, *bench) error) (*deployment, error) {
	d := &deployment{env: modelEnv(m), processes: map[int]string{}}
	var err error
	if d.postgres, err = service.Postgres("max_connections=400", "shared_buffers=256MB"); err != nil {
		return nil, err
	}
	if err := d.boot(ctx, d.postgres, "PostgreSQL"); err != nil {
		return nil, errors.Join(err, d.close())
	}
	err = d.postgres.CreateDatabase(ctx, "cairn")
	if err == nil {
		d.env = append(d.env, "CAIRN_DATABASE__URL="+d.postgres.PostgresURL("cairn"))
		err = start(d, ctx, b)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// boot starts a process with a name.
func (d *deployment) boot(ctx context.Context, p *service.Process, name string) error {
	d.closers = append(d.closers, p.Close)
	if err := p.Start(ctx); err != nil {
		return err
	}
	d.processes[p.PID()] = name
	return nil
}

func (d *deployment) startWithPostgres(ctx context.Context, b *bench) error {
	s, _, err := b.serve(ctx, d.env...)
	if err != nil {
		return err
	}
	d.closers = append(d.closers, s.remove)
	d.apis, d.processes[s.PID()] = []remote{s.remote()}, "Cairn"
	return nil
}

// roles returns a start of the other services, of an index, and of n APIs and n workers.
func roles(n int, index func(*deployment, context.Context) error) func(*deployment, context.Context, *bench) error {
	return func(d *deployment, ctx context.Context, b *bench) error {
		key, err := d.startServices(ctx)
		if err != nil {
			return err
		}
		if err := index(d, ctx); err != nil {
			return err
		}
		program, err := b.program()
		if err != nil {
			return err
		}
		if err := d.migrate(ctx, program); err != nil {
			return err
		}
		for range n {
			if _, err := d.startRole(ctx, program, "worker"); err != nil {
				return err
			}
			api, err := d.startRole(ctx, program, "api")
			if err != nil {
				return err
			}
			d.apis = append(d.apis, remote{url: "http://" + api.Address, key: key})
		}
		return nil
	}
}

// startServices starts Temporal and the bucket, and returns the admin key.
func (d *deployment) startServices(ctx context.Context) (key string, err error) {
	temporal, err := service.Temporal(tools, d.postgres)
	if err != nil {
		return "", err
	}
	if err := d.boot(ctx, temporal, "Temporal"); err != nil {
		return "", err
	}
	objects, err := service.NewBucket(ctx)
	if err != nil {
		return "", err
	}
	d.closers = append(d.closers, objects.Kill)
	key = "an-admin-key-" + rand.Text()
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never returns an error
	d.env = append(append(d.env, objects.Env()...),
		"CAIRN_TEMPORAL__ADDRESS="+temporal.Address, "CAIRN_LOG__LEVEL=warn",
		"CAIRN_ADMIN_KEY="+key, "CAIRN_SECRET_KEY="+base64.StdEncoding.EncodeToString(secret))
	return key, nil
}

func (d *deployment) startMilvus(ctx context.Context) error {
	milvus, err := service.Milvus(tools)
	if err != nil {
		return err
	}
	d.env = append(d.env, "CAIRN_VECTOR__URL="+milvus.MilvusURL())
	return d.boot(ctx, milvus, "Milvus")
}

// useIndexFile lets all processes share an index in a file.
func (d *deployment) useIndexFile(context.Context) error {
	folder, err := os.MkdirTemp("", "cairn-bench-")
	if err != nil {
		return err
	}
	d.closers = append(d.closers, func() error { return os.RemoveAll(folder) })
	d.env = append(d.env, "CAIRN_VECTOR__URL=sqlite://"+filepath.Join(folder, "index.db"))
	return nil
}

func (d *deployment) migrate(ctx context.Context, program string) (err error) {
	folder, err := os.MkdirTemp("", "cairn-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	migrate := exec.CommandContext(ctx, program, "migrate", "--data", folder)
	migrate.Env = append(childserver.Environment(migrate.Environ()), d.env...)
	if said, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("cairn migrate: %w: %s", err, said)
	}
	return nil
}

// startRole starts a role and returns when it is ready.
func (d *deployment) startRole(ctx context.Context, program, role string) (*service.Process, error) {
	p, err := service.Cairn(program, role, d.env)
	if err != nil {
		return nil, err
	}
	if err := d.boot(ctx, p, "Cairn"); err != nil {
		return nil, err
	}
	c, err := client.New(client.Config{URL: "http://" + p.Address})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for err = c.Ready(ctx); err != nil; err = c.Ready(ctx) {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %s", err, p.LastLines(20))
		case <-time.After(20 * time.Millisecond):
		}
	}
	return p, nil
}
