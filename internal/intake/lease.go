package intake

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// smallUpload is the largest upload without a lease, which would cost it a commit. Its
	// bytes and its version are written within milliseconds of each other, and the daily
	// walk finds what a crash leaves between the two.
	smallUpload = 64 << 10
	renewEvery  = store.UploadLease / 4
)

// lease stores that the original of a version is being uploaded, before its bytes are
// stored. If this process dies before AddVersion, a sweep deletes them. The lease is
// renewed until the request ends.
func (in *Intake) lease(ctx context.Context, nv *store.NewVersion) error {
	if err := in.deps.Store.BeginUpload(ctx, store.Upload{SourceKey: nv.SourceKey, Document: nv.DocumentID}); err != nil {
		return fmt.Errorf("store a file: %w", err)
	}
	nv.Leased = true
	go in.renew(ctx, nv.SourceKey)
	return nil
}

// renew renews the lease of an upload until ctx or the upload ends.
func (in *Intake) renew(ctx context.Context, key string) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		err := in.deps.Store.RenewUpload(ctx, key)
		switch {
		case knowledge.IsCode(err, knowledge.CodeNotFound):
			return
		case err != nil && ctx.Err() == nil: // the next try may come in time
			in.deps.Log.WarnContext(ctx, "renew the lease of an upload", "error", err)
		}
	}
}
