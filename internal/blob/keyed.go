package blob

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/envelope"
)

// OriginalKeys keeps the keys of originals.
type OriginalKeys interface {
	// OriginalKey returns the sealed key of an original, "" if it has none.
	OriginalKey(ctx context.Context, original string) (sealed string, err error)
	// AddOriginalKey stores the sealed key of an original. If the original has one, it changes
	// nothing. It returns the one that is stored.
	AddOriginalKey(ctx context.Context, original, sealed string) (stored string, err error)
	// OriginalsWithKeys returns the originals under prefix that have a key.
	OriginalsWithKeys(ctx context.Context, prefix string) ([]string, error)
	// DropOriginalKeys deletes the keys of originals. It is idempotent.
	DropOriginalKeys(ctx context.Context, originals []string) error
}

// Box seals keys for a context.
type Box interface {
	Seal(plain, context string) (string, error)
	Open(sealed, context string) (string, error)
}

// Keyed is a Store in which an original can be encrypted under a key of its own, with what
// shows its text. The keys are kept elsewhere. A key goes before the bytes of its original, so
// copies of them open no more. Blobs that Keyed encrypts are encrypted by the Store once more
// if that has keys. The Store inside reads and copies them without their own keys.
type Keyed struct {
	*Store
	keys OriginalKeys
	box  Box
}

// WithKeys returns the store with keys of originals, which box seals.
func (s *Store) WithKeys(keys OriginalKeys, box Box) *Keyed { return &Keyed{s, keys, box} }

// keyedMagic begins a blob that is encrypted under the key of an original. The key of the
// original and a line break follow, and then what package envelope writes.
const keyedMagic = "\x00cairn original\n"

// original returns the original under whose key a blob is encrypted, and leaves head behind its
// name. It returns "" for another blob, of which it reads nothing.
func original(head *bufio.Reader) (string, error) {
	if start, _ := head.Peek(len(keyedMagic)); string(start) != keyedMagic { // the next read returns the error
		return "", nil
	}
	if _, err := head.Discard(len(keyedMagic)); err != nil {
		return "", err
	}
	name, err := head.ReadString('\n')
	return strings.TrimSuffix(name, "\n"), err
}

// Get is Store.Get.
func (k *Keyed) Get(ctx context.Context, key string) ([]byte, error) { return readAll(ctx, k, key) }

// GetJSON is Store.GetJSON.
func (k *Keyed) GetJSON(ctx context.Context, key string, v any) error {
	return readJSON(ctx, k, key, v)
}

// Open is Store.Open. A blob whose key was deleted is ErrNotFound.
func (k *Keyed) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	stored, size, err := k.Store.Open(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	plain, size, err := k.open(ctx, key, stored, size)
	if err != nil {
		_ = stored.Close() // it was only read
		return nil, 0, mapError("read", key, err)
	}
	return readCloser{plain, stored}, size, nil
}

func (k *Keyed) open(ctx context.Context, key string, stored io.Reader, size int64) (io.Reader, int64, error) {
	head := bufio.NewReader(stored)
	of, err := original(head)
	if err != nil || of == "" {
		return head, size, err
	}
	sealed, err := k.keys.OriginalKey(ctx, of)
	if err != nil {
		return nil, 0, err
	}
	if sealed == "" {
		return nil, 0, ErrNotFound
	}
	ring, err := k.ring(of, sealed)
	if err != nil {
		return nil, 0, err
	}
	stream, err := ring.ReadStream(head, key)
	if err == nil {
		size, err = stream.Size(size - int64(len(keyedMagic)+len(of)+1))
	}
	if err != nil {
		return nil, 0, err
	}
	plain, err := stream.Open(ctx, head)
	return plain, size, err
}

// ring returns the ring of the key of an original.
func (k *Keyed) ring(of, sealed string) (*envelope.Ring, error) {
	key, err := k.box.Open(sealed, keyContext(of))
	if err != nil {
		return nil, fmt.Errorf("open the key of an original: %w", err)
	}
	return envelope.Of([]byte(key)), nil
}

func keyContext(of string) string { return "original " + of }

// openAt returns the bytes under key from an offset on, and reads those before it.
func (k *Keyed) openAt(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	r, _, err := k.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, r, offset); err != nil {
		_ = r.Close() // it was only read
		return nil, err
	}
	return r, nil
}

func (k *Keyed) hasKey(ctx context.Context, key string) (bool, error) {
	sealed, err := k.keys.OriginalKey(ctx, key)
	return sealed != "", err
}

// OpenContent is Store.OpenContent of an original, which may be encrypted under its own key
// while it is read.
func (k *Keyed) OpenContent(ctx context.Context, key string) (*Content, error) {
	sealed, err := k.hasKey(ctx, key)
	if err != nil {
		return nil, mapError("read", key, err)
	}
	if !sealed {
		c, err := k.Store.OpenContent(ctx, key)
		if err == nil {
			c.keyed = k
		}
		return c, err
	}
	r, size, err := k.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	return &Content{ctx: ctx, store: k.Store, keyed: k, key: key, size: size, r: r}, nil
}

// Link is Store.Link. An original with a key of its own has no address from which a client could
// read it.
func (k *Keyed) Link(ctx context.Context, key string, d Download) (string, error) {
	if sealed, err := k.hasKey(ctx, key); sealed || err != nil {
		return "", mapError("link", key, err)
	}
	return k.Store.Link(ctx, key, d)
}

// SealOriginal encrypts an original under a key of its own, with all that belongs to it and all
// that stands under prefixes, which end in "/". Once it returned nil, the plain bytes stand in
// no file of a folder. It can be called again, and nobody else may write these blobs meanwhile.
func (k *Keyed) SealOriginal(ctx context.Context, of string, prefixes ...string) error {
	key := make([]byte, envelope.KeyBytes)
	_, _ = rand.Read(key) // Read never returns an error
	sealed, err := k.box.Seal(string(key), keyContext(of))
	if err == nil {
		sealed, err = k.keys.AddOriginalKey(ctx, of, sealed)
	}
	if err != nil {
		return mapError("make a key for", of, err)
	}
	ring, err := k.ring(of, sealed)
	if err != nil {
		return mapError("encrypt", of, err)
	}
	for _, prefix := range append(prefixes, UploadFolder(of)) {
		var keys []string
		for object, err := range k.List(ctx, prefix) {
			if err != nil {
				return err
			}
			keys = append(keys, object.Key)
		}
		for _, key := range keys {
			if err := k.seal(ctx, ring, of, key); err != nil {
				return mapError("encrypt", key, err)
			}
		}
	}
	if k.folder == nil {
		return nil
	}
	return mapError("encrypt", of, k.folder.small.forget(ctx))
}

func (k *Keyed) seal(ctx context.Context, ring *envelope.Ring, of, key string) error {
	stored, _, err := k.Store.Open(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer stored.Close()
	plain := bufio.NewReader(stored)
	if before, err := original(plain); err != nil || before != "" {
		return err
	}
	sealed, err := ring.SealReader(plain, key)
	if err != nil {
		return err
	}
	_, err = k.PutReader(ctx, key, io.MultiReader(bytes.NewReader([]byte(keyedMagic+of+"\n")), sealed))
	return err
}

// Delete is Store.Delete. The key of an original goes first.
func (k *Keyed) Delete(ctx context.Context, key string) error {
	if strings.HasSuffix(key, "/"+originalName) {
		if err := k.dropKeys(ctx, UploadFolder(key), nil); err != nil {
			return mapError("delete", key, err)
		}
	}
	return k.Store.Delete(ctx, key)
}

// DeletePrefix is Store.DeletePrefix. The keys of originals that are not kept go first.
func (k *Keyed) DeletePrefix(ctx context.Context, prefix string, keep func(key string, modified time.Time) bool) (int, error) {
	if err := k.dropKeys(ctx, prefix, keep); err != nil {
		return 0, mapError("delete", prefix, err)
	}
	return k.Store.DeletePrefix(ctx, prefix, keep)
}

func (k *Keyed) dropKeys(ctx context.Context, prefix string, keep func(key string, modified time.Time) bool) error {
	found, err := k.keys.OriginalsWithKeys(ctx, prefix)
	if err != nil {
		return err
	}
	if keep != nil {
		found = slices.DeleteFunc(found, func(original string) bool { return keep(original, time.Time{}) })
	}
	if len(found) == 0 {
		return nil
	}
	return k.keys.DropOriginalKeys(ctx, found)
}
