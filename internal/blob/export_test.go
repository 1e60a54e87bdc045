package blob

import (
	"context"
	"net/url"
)

// OpenFolder is Open of a folder that syncs its folders with sync.
func OpenFolder(address string, sync func(folder string) error) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	return openFolder(context.Background(), u, sync)
}

// SetSmallBytes sets the size of the largest blob that is a row; -1 makes every
// blob a file.
func SetSmallBytes(s *Store, limit int) { s.folder.smallBytes = limit }

// SetBeforeCommit has f called with the keys of a commit, just before it. An error
// fails the commit.
func SetBeforeCommit(s *Store, f func(keys []string) error) {
	s.folder.small.beforeCommit = func(rows []row) error {
		var keys []string
		for _, r := range rows {
			keys = append(keys, r.key)
		}
		return f(keys)
	}
}

// Waiting returns the number of changes that no commit has taken.
func Waiting(s *Store) int {
	c := s.folder.small.committer
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// CachedBytes returns the number of bytes that the cache holds, and its bound.
func CachedBytes(s *Store) (bytes, limit int) {
	c := s.folder.small.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := 0
	for key, e := range c.rows {
		sum += len(key) + len(e.Value.(row).data)
	}
	if sum != c.bytes || len(c.rows) != c.order.Len() {
		panic("the cache counts wrongly")
	}
	return sum, c.limit
}
