// Package envelopetest has data keys in memory, for tests of what is encrypted.
package envelopetest

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/envelope"
	"github.com/cairn-rag/cairn/internal/secret"
)

// Keys implements envelope.Keys.
type Keys struct {
	mu   sync.Mutex
	kept []envelope.Key
}

// DataKeys implements envelope.Keys.
func (k *Keys) DataKeys(context.Context) ([]envelope.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.kept), nil
}

// ReplaceDataKeys implements envelope.Keys.
func (k *Keys) ReplaceDataKeys(_ context.Context, before, now []envelope.Key) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Equal(k.kept, before) {
		return false, nil
	}
	k.kept = slices.Clone(now)
	return true, nil
}

// KeyFile writes a file with new master keys, as many as are asked for, and returns its path.
func KeyFile(t testing.TB, keys int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	var text []byte
	for range keys {
		text = append(base64.StdEncoding.AppendEncode(text, secret.NewKey()), '\n')
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Load returns a ring of keys with the master key of a file, "" = without one.
func Load(t testing.TB, keys envelope.Keys, path string) (*envelope.Ring, error) {
	t.Helper()
	r := &envelope.Ring{}
	return r, r.Load(t.Context(), keys, func(context.Context) (envelope.Master, error) {
		if path == "" {
			return nil, nil
		}
		return envelope.ReadKeyFile(path)
	})
}

// New returns a ring with a new data key.
func New(t testing.TB) *envelope.Ring {
	t.Helper()
	r, err := Load(t, &Keys{}, KeyFile(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
