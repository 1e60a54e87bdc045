package server

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	blobs "github.com/cairn-rag/cairn/internal/blob/connect"
)

// startAudit opens what the audit needs, of a process that serves requests or sweeps.
func (p *platform) startAudit(ctx context.Context) (err error) {
	p.keeper = &audit.Keeper{
		Store: p.store, Signer: audit.NewSigner(p.secretKey), Days: p.cfg.Retention.Audit,
		Alone: p.cfg.Temporal.Embedded(), Began: time.Now(), Log: p.log,
	}
	p.keeper.Outside, err = p.openCheckpoints(ctx)
	return err
}

// recordAudit takes the rows of this process's requests. The only server of an instance with
// SQLite has a journal, so that readers do not wait for the one writer of the database; other
// processes commit to the database.
func (p *platform) recordAudit(ctx context.Context) error {
	alone := p.cfg.Temporal.Embedded()
	var sink audit.Sink = p.store
	if alone && !p.cfg.Database.Postgres() {
		done, err := p.store.AuditPosition(ctx)
		if err != nil {
			return fmt.Errorf("open the audit: %w", err)
		}
		journal, err := audit.OpenJournal(filepath.Join(p.cfg.Data, auditJournal), done)
		if err != nil {
			return err
		}
		p.onClose(journal.Close)
		p.keeper.Journal, sink = journal, journal
	}
	p.recorder = audit.NewRecorder(sink)
	p.keeper.Recorder = p.recorder
	p.background(func(ctx context.Context) { p.keeper.Run(ctx, alone) })
	return nil
}

// auditJournal is the file in the data folder with the rows that the database has not yet.
const auditJournal = "audit.journal"

// auditSweep is what the schedule of a cluster does about the audit.
func (p *platform) auditSweep() interface{ Once(context.Context) error } {
	if p.keeper == nil { // a worker beside cairn up, which does it itself
		return nil
	}
	return p.keeper
}

// openCheckpoints opens where checkpoints are kept outside of the database, nil = nowhere.
func (p *platform) openCheckpoints(ctx context.Context) (audit.Outside, error) {
	address := p.cfg.Audit.Checkpoints
	if address == "" {
		return nil, nil
	}
	if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
		return audit.Folder(filepath.FromSlash(u.Path)), nil
	}
	store, err := blobs.Open(ctx, blobs.Config{URL: address, Credentials: []byte(p.cfg.Audit.Credentials), Logger: p.log})
	if err != nil {
		return nil, fmt.Errorf("open audit.checkpoints: %w", err)
	}
	p.onClose(store.Close)
	return checkpointBucket{store}, nil
}

// checkpointBucket keeps checkpoints in a bucket.
type checkpointBucket struct{ blobs *blob.Store }

// Put implements audit.Outside.
func (b checkpointBucket) Put(ctx context.Context, c audit.Checkpoint) error {
	if _, err := b.blobs.PutJSON(ctx, audit.CheckpointKey(c), c); err != nil {
		return fmt.Errorf("store a checkpoint of the audit: %w", err)
	}
	return nil
}

// List implements audit.Outside.
func (b checkpointBucket) List(ctx context.Context, workspace string) ([]audit.Checkpoint, error) {
	var list []audit.Checkpoint
	for object, err := range b.blobs.List(ctx, audit.CheckpointPrefix(workspace)) {
		if err != nil {
			return nil, err
		}
		var c audit.Checkpoint
		if err := b.blobs.GetJSON(ctx, object.Key, &c); err != nil {
			return nil, fmt.Errorf("read the checkpoint %s: %w", object.Key, err)
		}
		list = append(list, c)
	}
	return list, nil
}
