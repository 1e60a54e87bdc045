package runfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
)

// The attachments of a conversation that code gets: the newest ones that fit.
const (
	maxAttached      = 20
	maxAttachedBytes = 50 << 20
)

// Documents is the part of the database that knows what is attached to conversations.
type Documents interface {
	// Attached returns the ids of the newest published documents of the principal's
	// conversation.
	Attached(ctx context.Context, p knowledge.Principal, projects []string) ([]string, error)
	// Document returns a document that the principal may read.
	Document(ctx context.Context, p knowledge.Principal, id string) (knowledge.Document, error)
	// VersionFor returns a version of such a document.
	VersionFor(ctx context.Context, p knowledge.Principal, id string, version int) (store.Version, error)
}

// Attachments reads the originals of what is attached to conversations.
type Attachments struct {
	Documents Documents
	Blobs     Reader
}

// Files returns the attachments of the question's conversation by their names, with the
// permission that its principal has now.
func (a Attachments) Files(ctx context.Context, c tool.Call) (map[string][]byte, error) {
	p := c.Request.Principal.Reader()
	ids, err := a.Documents.Attached(ctx, p, c.Request.Projects)
	if err != nil {
		return nil, err
	}
	for _, id := range c.Request.Attachments {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	files, total := map[string][]byte{}, int64(0)
	for _, id := range ids {
		if len(files) == maxAttached {
			break
		}
		name, content, err := a.original(ctx, p, id, maxAttachedBytes-total)
		switch {
		case knowledge.IsCode(err, knowledge.CodeNotFound) || errors.Is(err, blob.ErrNotFound):
			continue // it is being removed
		case err != nil:
			return nil, fmt.Errorf("read attachment %s: %w", id, err)
		case content == nil: // it does not fit
			continue
		}
		total += int64(len(content))
		files[free(files, name)] = content
	}
	return files, nil
}

// original returns the original of a document; no content, if it has more than limit
// bytes.
func (a Attachments) original(ctx context.Context, p knowledge.Principal, id string, limit int64) (string, []byte, error) {
	d, err := a.Documents.Document(ctx, p, id)
	if err != nil {
		return "", nil, err
	}
	v, err := a.Documents.VersionFor(ctx, p, id, d.PublishedVersion)
	if err != nil || v.SourceKey == "" || v.Enrichment.Privacy.Redacts() { // the original has what was redacted
		return "", nil, err
	}
	reader, size, err := a.Blobs.Open(ctx, v.SourceKey)
	if err != nil {
		return "", nil, err
	}
	defer reader.Close()
	if size > limit {
		return "", nil, nil
	}
	content, err := io.ReadAll(reader)
	return fileName(d.Name), append([]byte{}, content...), err
}

// fileName returns the name of a file for a document's name.
func fileName(name string) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r == '/' || r < ' ' {
			return '_'
		}
		return r
	}, name), " ")
	for len(name) > maxName {
		name = clean(name)
	}
	if name == "" || name == "." || name == ".." {
		return "file"
	}
	return name
}

// free returns a name that none of the files has.
func free(files map[string][]byte, name string) string {
	extension := path.Ext(name)
	stem := strings.TrimSuffix(name, extension)
	for n := 2; ; n++ {
		if _, taken := files[name]; !taken {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", stem, n, extension)
	}
}
