package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-rag/cairn/internal/backup"
	"github.com/cairn-rag/cairn/internal/config"
)

// Backup copies the instance of a data folder into dir, beside a running server or without
// one. The instance keeps all its stores in files of this machine.
func Backup(ctx context.Context, cfg config.Config, dir, version string) (backup.Result, error) {
	if err := requireFiles(cfg); err != nil {
		return backup.Result{}, err
	}
	stores := backup.Stores{
		Database: urlPath(cfg.Database.URL), Index: urlPath(cfg.Vector.URL), Blobs: urlPath(cfg.Blob.URL),
		Temporal: filepath.Join(cfg.Data, backup.TemporalName),
		AdminKey: filepath.Join(cfg.Data, backup.AdminKeyName), SecretKey: filepath.Join(cfg.Data, backup.SecretKeyName),
	}
	if err := requireDatabase(cfg); err != nil {
		return backup.Result{}, err
	}
	if err := outside(dir, cfg.Data, stores.Blobs); err != nil {
		return backup.Result{}, err
	}
	release, err := claimStores(cfg.Data, &stores)
	if err != nil {
		return backup.Result{}, err
	}
	defer release()
	return backup.Make(ctx, stores, dir, version)
}

// claimStores takes the lock of the data folder if no server has it. Otherwise the stores
// are in use, as they are beside a worker that has outlived its server.
func claimStores(data string, s *backup.Stores) (release func(), err error) {
	release, err = lockFolder(data)
	if err != nil {
		s.InUse = true
		return func() {}, nil
	}
	m, unlist, err := openMembers(data)
	if err != nil {
		release()
		return nil, err
	}
	defer unlist()
	alive, err := sweepMembers(filepath.Join(data, membersFolder))
	if err == nil {
		err = m.close()
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("list the workers: %w", err)
	}
	s.InUse = alive > 0
	return release, nil
}

// Restore verifies the backup in dir and writes it into the data folder, which is empty or
// does not exist.
func Restore(ctx context.Context, cfg config.Config, dir string) (backup.Result, error) {
	if err := requireFiles(cfg); err != nil {
		return backup.Result{}, err
	}
	for _, store := range []struct{ key, url, name string }{
		{"database.url", cfg.Database.URL, backup.DatabaseName}, {"vector.url", cfg.Vector.URL, backup.IndexName}, {"blob.url", cfg.Blob.URL, backup.BlobsName},
	} {
		if urlPath(store.url) != filepath.Join(cfg.Data, store.name) {
			return backup.Result{}, ConfigError{fmt.Sprintf("%s is not in the data folder %s: cairn restore writes all stores there; "+
				"leave the setting out, restore, and move %s before the first start", store.key, cfg.Data, store.name)}
		}
	}
	if err := outside(cfg.Data, dir); err != nil {
		return backup.Result{}, err
	}
	verified, err := backup.Verify(ctx, dir) // before the folder is made
	if err != nil {
		return backup.Result{}, err
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return backup.Result{}, fmt.Errorf("make the data folder: %w", err)
	}
	if err := backup.Empty(cfg.Data, lockName); err != nil {
		return backup.Result{}, err
	}
	release, err := lockFolder(cfg.Data)
	if err != nil {
		return backup.Result{}, err
	}
	defer release()
	return verified.Restore(ctx, cfg.Data, lockName)
}

// requireFiles refuses an instance with a store that is a service.
func requireFiles(cfg config.Config) error {
	services := map[string]bool{
		"database.url": cfg.Database.Postgres(), "vector.url": cfg.Vector.Milvus(), "blob.url": cfg.Blob.Bucket(), "temporal.address": !cfg.Temporal.Embedded(),
	}
	for _, key := range []string{"database.url", "vector.url", "blob.url", "temporal.address"} {
		if services[key] {
			return ConfigError{key + " names a service: cairn backup and cairn restore copy an instance whose stores are files of this machine. " +
				"Back the service up with its own tools (docs/runbook.md), or move the instance with cairn export"}
		}
	}
	return nil
}

// requireDatabase refuses a data folder without the database that is a file in it.
func requireDatabase(cfg config.Config) error {
	if cfg.Database.Postgres() {
		return nil
	}
	if _, err := os.Stat(urlPath(cfg.Database.URL)); err != nil {
		return ConfigError{fmt.Sprintf("there is no instance in the data folder %s: name its folder with --data", cfg.Data)}
	}
	return nil
}

// outside refuses a folder that is one of others or below it.
func outside(dir string, others ...string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("name the folder: %w", err)
	}
	for _, other := range others {
		if within, err := filepath.Rel(other, path); err == nil && within != ".." && !strings.HasPrefix(within, ".."+string(filepath.Separator)) {
			return ConfigError{fmt.Sprintf("%s is in %s: choose a folder outside of it", dir, other)}
		}
	}
	return nil
}
