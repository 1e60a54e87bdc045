package instance

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/store"
)

// compare reads the rows and lists the blobs of the target, and compares them with the
// export.
func (i *importing) compare(ctx context.Context, m *store.Move) error {
	got := map[string]TableSum{}
	for _, t := range m.Tables() {
		var err error
		if got[t.Name], err = eachRow(ctx, m, t, func([]byte) error { return nil }); err != nil {
			return err
		}
	}
	if list := differing(got, i.result.Tables); list != "" {
		return fmt.Errorf("the database has other rows than were exported: %s; nothing was committed", list)
	}
	n, size := 0, int64(0)
	for object, err := range i.Blobs.List(ctx, "") {
		if err != nil {
			return fmt.Errorf("read the blob store: %w", err)
		}
		if isOwn(object.Key) {
			continue
		}
		if _, ok := i.wrote[object.Key]; !ok {
			return fmt.Errorf("the blob store has %s, which was not exported: empty it and import again", object.Key)
		}
		bytes, err := i.sizeOf(ctx, object)
		if err != nil {
			return fmt.Errorf("read the blob store: %w", err)
		}
		n, size = n+1, size+bytes
	}
	if n != i.result.Blobs || size != i.result.BlobBytes {
		return fmt.Errorf("the blob store has %d blobs of %d bytes, and %d of %d were exported; nothing was committed", n, size, i.result.Blobs, i.result.BlobBytes)
	}
	return nil
}

// sizeOf returns the number of bytes that a blob has.
func (i *importing) sizeOf(ctx context.Context, o blob.Object) (int64, error) {
	if !i.Blobs.Encrypts() {
		return o.Bytes, nil
	}
	r, size, err := i.Blobs.Open(ctx, o.Key)
	if err != nil {
		return 0, err
	}
	return size, r.Close()
}

// openDocuments reads the originals of random documents from the target.
func (i *importing) openDocuments(ctx context.Context, m *store.Move) error {
	keys, err := m.Originals(ctx, opened)
	if err != nil {
		return err
	}
	for _, key := range keys {
		want, exported := i.wrote[key]
		if !exported { // an original that its instance has not kept
			continue
		}
		got, err := i.hashOf(ctx, key)
		if err != nil {
			return fmt.Errorf("open a document: %w", err)
		}
		if got != want {
			return fmt.Errorf("open a document: %s has other bytes than were exported", key)
		}
		i.result.Opened++
	}
	return nil
}
