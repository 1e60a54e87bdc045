package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// FindKey returns a key that the principal lists, as KeyByHash returns it. valid is false
// for a key that was revoked or has expired, or that may do nothing because of a key that
// made it; then the key is returned as it is stored.
func (s *keyStore) FindKey(ctx context.Context, p knowledge.Principal, id string) (k Key, valid bool, err error) {
	if err := requireWorkspace(p); err != nil {
		return Key{}, false, err
	}
	var row keyRow
	q := within(s.reader.NewSelect().Model(&row), "k", p).Where("k.id = ?", id)
	if !p.Instance() {
		q = q.Where("k.instance = FALSE")
	}
	there, err := found(q.Scan(ctx))
	switch {
	case err != nil:
		return Key{}, false, fmt.Errorf("read key %s: %w", id, failure(err))
	case !there:
		return Key{}, false, knowledge.NotFound("key", id)
	}
	k, err = s.validKey(ctx, "k.id = ?", id)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		k, err = row.key()
		return k, false, err
	}
	return k, err == nil, err
}
