package server

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/activities/ingestion"
	blobs "github.com/cairn-rag/cairn/internal/blob/connect"
	"github.com/cairn-rag/cairn/internal/store"
)

// openStores opens the stores, and creates or migrates what is missing or older.
func (p *platform) openStores(ctx context.Context) error {
	if p.cfg.Database.Postgres() {
		if err := store.Migrate(ctx, p.cfg.Database.URL); err != nil {
			return fmt.Errorf("open the database: %w", err)
		}
	}
	return p.storesWith(ctx, store.Config{})
}

// joinStores opens stores that another process has prepared.
func (p *platform) joinStores(ctx context.Context) error {
	return p.storesWith(ctx, store.Config{Joined: true})
}

// openBlobs opens the store of blobs.
func (p *platform) openBlobs(ctx context.Context) (err error) {
	cfg := blobs.Config{URL: p.cfg.Blob.URL, Shared: p.members.shared, Logger: p.log}
	if p.cfg.Blob.Credentials != "" {
		cfg.Credentials = []byte(p.cfg.Blob.Credentials)
	}
	if p.blobs, err = blobs.Open(ctx, cfg); err != nil {
		return fmt.Errorf("open the blob store: %w", err)
	}
	p.blobs.Encrypt(p.ring)
	p.onClose(p.blobs.Close)
	return nil
}

func (p *platform) storesWith(ctx context.Context, cfg store.Config) (err error) {
	if err := p.openBlobs(ctx); err != nil {
		return err
	}
	cfg.URL, cfg.Logger, cfg.Woken = p.cfg.Database.URL, p.log, p.woken
	cfg.Generation = instanceEmbeddings(p.cfg.Models.Embedding).Generation()
	if p.store, err = store.Open(ctx, cfg); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	p.onClose(p.store.Close)
	p.originals = p.blobs.WithKeys(p.store, p.secrets)
	if p.index, err = openIndex(ctx, p.cfg.Vector, p.log); err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	p.onClose(p.index.Close)
	p.attributes = &ingestion.Attributes{Store: p.store, Index: p.index}
	return nil
}
