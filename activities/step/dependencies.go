package step

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/model"
)

// All that is declared here is safe for concurrent use, and every method may be
// called again after an error or a crash. Errors that a retry can help are not
// marked: errors.go decides which are final.

// Blobs is the blob store as activities use it. A write replaces what is under
// its key, and is durable when it returns; a reader sees the old bytes or the new
// ones. A missing blob is blob.ErrNotFound, and a full disk blob.ErrNoSpace.
type Blobs interface {
	// Put stores data under key.
	Put(ctx context.Context, key string, data []byte) (blob.Ref, error)
	// PutReader stores what r has left under key. An error of r is returned, and
	// then the bytes that were under key stay.
	PutReader(ctx context.Context, key string, r io.Reader) (blob.Ref, error)
	// PutJSON stores v as JSON under key.
	PutJSON(ctx context.Context, key string, v any) (blob.Ref, error)
	// PutAll stores blobs, several at the same time, and one with After when those
	// before it are stored. After an error some may be stored.
	PutAll(ctx context.Context, items ...blob.Item) error
	// Get returns the bytes under key.
	Get(ctx context.Context, key string) ([]byte, error)
	// GetJSON decodes the JSON under key into v.
	GetJSON(ctx context.Context, key string, v any) error
	// Open returns a reader of what is under key, which the caller closes, and the
	// number of bytes. The reader is not affected by later writes.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// Exists reports whether there is a blob under key.
	Exists(ctx context.Context, key string) (bool, error)
	// List returns the blobs under prefix, which ends in "/", in no particular order.
	List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error]
	// Delete deletes a blob. It is idempotent: a missing one is no error.
	Delete(ctx context.Context, key string) error
	// DeletePrefix deletes the blobs under prefix, which ends in "/", except those
	// for which keep returns true, and returns their number. A nil keep keeps none.
	// Deleting nothing is no error.
	DeletePrefix(ctx context.Context, prefix string, keep func(key string, modified time.Time) bool) (int, error)
}

// Chat calls a chat model. The provider charges for each call, and a second call may
// have another answer.
type Chat interface {
	// Chat yields the deltas of the next message; the last one has Done. An error
	// ends the sequence: a *model.Error, or the cause of ctx.
	Chat(ctx context.Context, r model.ChatRequest) iter.Seq2[model.Delta, error]
	// Endpoint returns the endpoint with its model.
	Endpoint() model.Endpoint
}
