package modeltest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
)

// Count is how often the same thing was asked for, and how often the whole
// answer was handed to a connection that was still open. Answered follows the
// answer's last byte by a moment; Wait for it.
type Count struct{ Asked, Answered int }

// Totals are sums over all requests.
type Totals struct {
	Chats      Count
	Embeddings Count
	Tokens     int // sent, of all chats
	Texts      int // in all batches that were asked for
}

// BatchKey is the key of a batch of texts in Embeddings.
func BatchKey(texts []string) string {
	h := sha256.New()
	for _, text := range texts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		h.Write(size[:])
		h.Write([]byte(text))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Embeddings gives the count of each batch, by BatchKey.
func (s *Server) Embeddings() map[string]Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.batches)
}

// Chats gives the count of each chat request, by the hash of its body: a call
// that is repeated word by word has the same key.
func (s *Server) Chats() map[string]Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.chats)
}

// Totals gives the sums.
func (s *Server) Totals() Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.totals
}

// Wait returns when the totals satisfy reached, or with ctx's error.
func (s *Server) Wait(ctx context.Context, reached func(Totals) bool) error {
	for {
		s.mu.Lock()
		done, changed := reached(s.totals), s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

// update changes the counts and wakes whoever waits for them.
func (s *Server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

func bump(counts map[string]Count, key string, total *Count, asked, answered int) {
	c := counts[key]
	c.Asked += asked
	c.Answered += answered
	counts[key] = c
	total.Asked += asked
	total.Answered += answered
}
