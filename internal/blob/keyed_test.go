package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/envelope/envelopetest"
	"github.com/cairn-rag/cairn/internal/secret"
)

// originalKeys implements blob.OriginalKeys in memory.
type originalKeys struct {
	mu   sync.Mutex
	kept map[string]string
}

func (k *originalKeys) OriginalKey(_ context.Context, original string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept[original], nil
}

func (k *originalKeys) AddOriginalKey(_ context.Context, original, sealed string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept[original] == "" {
		k.kept[original] = sealed
	}
	return k.kept[original], nil
}

func (k *originalKeys) OriginalsWithKeys(_ context.Context, prefix string) ([]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Keys(k.kept)), func(one string) bool { return !strings.HasPrefix(one, prefix) }), nil
}

func (k *originalKeys) DropOriginalKeys(_ context.Context, originals []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range originals {
		delete(k.kept, one)
	}
	return nil
}

func keyed(t *testing.T, s *blob.Store) *blob.Keyed {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return s.WithKeys(&originalKeys{kept: map[string]string{}}, box)
}

// The blobs of a document whose original has a key of its own.
const (
	ownFile = "w/p/d/upload-1/original"
	ownPage = "w/p/d/1/assets/page"
)

// seal stores the blobs of a document and encrypts them.
func seal(t *testing.T, k *blob.Keyed) (file []byte) {
	t.Helper()
	file = bytes.Repeat([]byte(marker(1)), 20_000)
	for key, data := range map[string][]byte{ownFile: file, ownPage: []byte(marker(2)), "w/p/d/1/layout": []byte("layout"), "w/p/e/upload-2/original": []byte("other")} {
		if _, err := k.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := k.SealOriginal(t.Context(), ownFile, "w/p/d/1/assets/"); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

func wantBlob(t *testing.T, get func(context.Context, string) ([]byte, error), key string, want []byte) {
	t.Helper()
	if got, err := get(t.Context(), key); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is %.60q with %d bytes, %v", key, got, len(got), err)
	}
}

func TestAnOriginalWithAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) *blob.Store{
		"folder":           func(t *testing.T) *blob.Store { return open(t, folderURL(t.TempDir())) },
		"encrypted folder": func(t *testing.T) *blob.Store { return open(t, folderURL(t.TempDir())).Encrypt(envelopetest.New(t)) },
		"bucket":           func(t *testing.T) *blob.Store { return open(t, "mem://") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := keyed(t, open(t))
			file := seal(t, k)
			wantBlob(t, k.Get, ownFile, file)
			wantBlob(t, k.Get, ownPage, []byte(marker(2)))
			wantBlob(t, k.Get, "w/p/d/1/layout", []byte("layout"))
			for _, key := range []string{ownFile, ownPage} {
				stored, err := k.Store.Get(t.Context(), key)
				if err != nil || bytes.Contains(stored, []byte("marker")) {
					t.Errorf("%s is stored as %.60q, %v", key, stored, err)
				}
				if _, err := k.Put(t.Context(), "copies/"+key, stored); err != nil { // as a backup keeps it
					t.Fatal(err)
				}
			}
			wantRange(t, k, file)

			kept := func(key string, _ time.Time) bool { return key == ownFile }
			if _, err := k.DeletePrefix(t.Context(), "w/p/d/", kept); err != nil {
				t.Fatal(err)
			}
			wantBlob(t, k.Get, ownFile, file)
			if _, err := k.DeletePrefix(t.Context(), "w/p/d/", nil); err != nil {
				t.Fatal(err)
			}
			stored, err := k.Store.Get(t.Context(), "copies/"+ownFile)
			if err == nil {
				_, err = k.Put(t.Context(), ownFile, stored)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := k.Get(t.Context(), ownFile); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("bytes that came back after the key was deleted: %.60q, %v", got, err)
			}
			wantBlob(t, k.Get, "w/p/e/upload-2/original", []byte("other"))
		})
	}
}

// wantRange reads the middle of an original, and another place after it.
func wantRange(t *testing.T, k *blob.Keyed, file []byte) {
	t.Helper()
	c, err := k.OpenContent(t.Context(), ownFile)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if c.Size() != int64(len(file)) {
		t.Errorf("the size is %d instead of %d", c.Size(), len(file))
	}
	for _, at := range []int64{100_003, 7} {
		part := make([]byte, 50)
		if _, err := c.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, part); err != nil || !bytes.Equal(part, file[at:at+50]) {
			t.Errorf("at %d it has %q, %v", at, part, err)
		}
	}
}

func TestAnOriginalIsEncryptedWhileItIsRead(t *testing.T) {
	t.Parallel()
	k := keyed(t, open(t, "mem://"))
	file := bytes.Repeat([]byte(marker(1)), 20_000)
	if _, err := k.Put(t.Context(), ownFile, file); err != nil {
		t.Fatal(err)
	}
	c, err := k.OpenContent(t.Context(), ownFile)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if seal(t, k); c.Size() != int64(len(file)) {
		t.Errorf("the size is %d", c.Size())
	}
	part := make([]byte, 50)
	if _, err := c.Seek(100_003, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, part); err != nil || !bytes.Equal(part, file[100_003:100_053]) {
		t.Errorf("it has %q, %v", part, err)
	}
}

func TestAKeyOfAnotherInstanceOpensNothing(t *testing.T) {
	t.Parallel()
	s := open(t, "mem://")
	first := keyed(t, s)
	file := seal(t, first)
	wantBlob(t, first.Get, ownFile, file)
	if got, err := keyed(t, s).Get(t.Context(), ownFile); err == nil {
		t.Errorf("without the key it is %.60q", got)
	}
}
