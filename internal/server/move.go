package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cairn-rag/cairn/internal/backup"
	blobs "github.com/cairn-rag/cairn/internal/blob/connect"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/instance"
	"github.com/cairn-rag/cairn/internal/store"
)

// Export writes the instance to a file, or to out if that is not nil. No process of the
// instance runs meanwhile.
func Export(ctx context.Context, cfg config.Config, file string, out io.Writer, o Options) (s instance.Summary, err error) {
	if err := requireDatabase(cfg); err != nil {
		return s, err
	}
	p, release, err := openToMove(ctx, cfg, o)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, p.close()); release() }()
	h := instance.Header{Cairn: o.Version, SecretKey: p.secretKeyName(), Begun: time.Now().UTC()}
	if h.Schema, err = store.SchemaVersion(); err != nil {
		return s, err
	}
	if h.Instance, err = p.instanceName(ctx); err != nil {
		return s, err
	}
	if out != nil {
		return instance.Export(ctx, p.store, p.blobs, h, out)
	}
	return instance.ExportFile(ctx, p.store, p.blobs, h, file)
}

// ImportInstance writes an exported instance into empty stores. No process uses them yet.
func ImportInstance(ctx context.Context, cfg config.Config, in io.Reader, o Options) (r instance.Result, err error) {
	if _, err := os.Stat(filepath.Join(cfg.Data, backup.SecretKeyName)); err != nil && cfg.SecretKey == "" {
		return r, ConfigError{fmt.Sprintf("there is no key for secrets: copy secret.key of the exported instance into the data folder %s, or set secret_key to its value", cfg.Data)}
	}
	if cfg.Database.Postgres() {
		if err := store.Migrate(ctx, cfg.Database.URL); err != nil {
			return r, fmt.Errorf("open the database: %w", err)
		}
	}
	p, release, err := openToMove(ctx, cfg, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.close()); release() }()
	to := instance.Target{Rows: p.store, Blobs: p.blobs, SecretKey: p.secretKeyName()}
	if to.Schema, err = store.SchemaVersion(); err != nil {
		return r, err
	}
	return instance.Import(ctx, in, to)
}

// openToMove opens the database, the blobs and the key of an instance that nobody uses.
func openToMove(ctx context.Context, cfg config.Config, o Options) (p *platform, release func(), err error) {
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the data folder: %w", err)
	}
	if release, err = lockFolder(cfg.Data); err != nil {
		return nil, nil, err
	}
	p = newPlatform(cfg, o)
	if err := p.start(ctx, p.startSecrets, p.openToMove); err != nil {
		err = errors.Join(err, p.close())
		release()
		return nil, nil, err
	}
	return p, release, nil
}

func (p *platform) openToMove(ctx context.Context) (err error) {
	c := blobs.Config{URL: p.cfg.Blob.URL, Logger: p.log}
	if p.cfg.Blob.Credentials != "" {
		c.Credentials = []byte(p.cfg.Blob.Credentials)
	}
	if p.blobs, err = blobs.Open(ctx, c); err != nil {
		return fmt.Errorf("open the blob store: %w", err)
	}
	p.blobs.Encrypt(p.ring)
	p.onClose(p.blobs.Close)
	p.store, err = store.Open(ctx, store.Config{URL: p.cfg.Database.URL, Logger: p.log, Generation: instanceEmbeddings(p.cfg.Models.Embedding).Generation()})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	p.onClose(p.store.Close)
	return p.loadKeys(ctx)
}
