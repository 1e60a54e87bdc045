package step

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/blob"
)

// Stored returns the JSON under key, or makes and stores it. The provider has charged for
// a value that was made, so a cancel does not discard it.
func Stored[T any](ctx context.Context, blobs Blobs, key string, make func() (T, error)) (T, error) {
	var v T
	err := blobs.GetJSON(ctx, key, &v)
	if err == nil {
		return v, nil
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return v, fmt.Errorf("read %s: %w", key, err)
	}
	if v, err = make(); err != nil {
		return v, err
	}
	if _, err := blobs.PutJSON(context.WithoutCancel(ctx), key, v); err != nil {
		return v, fmt.Errorf("store %s: %w", key, err)
	}
	return v, nil
}
