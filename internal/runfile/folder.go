package runfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/tool"
)

// FolderBlobs is the part of a blob store that holds the working folders of runs.
type FolderBlobs interface {
	Blobs
	// Get returns the bytes under key.
	Get(ctx context.Context, key string) ([]byte, error)
	// List returns the blobs under prefix, which ends in "/", in no particular order.
	List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error]
}

// Folder implements tool.Folder: each call leaves a list of what it has changed, and the
// next turn's calls apply these lists in order. The calls of a turn run at the same time
// and do not see one another's files.
type Folder struct{ blobs FolderBlobs }

// NewFolder returns the working folders in blobs.
func NewFolder(blobs FolderBlobs) *Folder { return &Folder{blobs} }

// change is what a call has changed in the working folder.
type change struct {
	Turn    int               `json:"turn"`
	Written map[string]string `json:"written"` // by path: the blob of the content
	Removed []string          `json:"removed,omitempty"`
}

// Save implements tool.Folder.
func (f *Folder) Save(ctx context.Context, c tool.Call, written map[string][]byte, removed []string) error {
	changed := change{Turn: c.Turn, Written: map[string]string{}, Removed: removed}
	for name, content := range written {
		hash := sha256.Sum256(content)
		key := c.FileKey(hex.EncodeToString(hash[:]))
		if _, err := f.blobs.Put(ctx, key, content); err != nil {
			return fmt.Errorf("store a file of the working folder: %w", err)
		}
		changed.Written[name] = key
	}
	if _, err := f.blobs.PutJSON(ctx, c.FolderKey(c.Turn, c.Number), changed); err != nil {
		return fmt.Errorf("store the changes of the working folder: %w", err)
	}
	return nil
}

// Before implements tool.Folder.
func (f *Folder) Before(ctx context.Context, c tool.Call) (map[string][]byte, error) {
	keys, err := f.changes(ctx, c.RunRef)
	if err != nil {
		return nil, err
	}
	last := map[string]string{} // by path: the blob; "" = removed
	for _, key := range keys {
		var changed change
		if err := f.blobs.GetJSON(ctx, key, &changed); err != nil {
			return nil, fmt.Errorf("read the changes of the working folder: %w", err)
		}
		if changed.Turn >= c.Turn {
			break
		}
		for _, name := range changed.Removed {
			last[name] = ""
		}
		for name, key := range changed.Written {
			last[name] = key
		}
	}
	files := map[string][]byte{}
	for name, key := range last {
		if key == "" {
			files[name] = nil
			continue
		}
		content, err := f.blobs.Get(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("read a file of the working folder: %w", err)
		}
		files[name] = append([]byte{}, content...) // not nil, which means removed
	}
	return files, nil
}

// changes returns the keys of the changes that calls of a run have made, in order.
func (f *Folder) changes(ctx context.Context, run knowledge.RunRef) ([]string, error) {
	var keys []string
	for object, err := range f.blobs.List(ctx, run.FoldersPrefix()) {
		if err != nil {
			return nil, fmt.Errorf("list the changes of the working folder: %w", err)
		}
		keys = append(keys, object.Key)
	}
	slices.Sort(keys)
	return keys, nil
}
