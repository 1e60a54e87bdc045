package modeltest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
)

// Count counts identical requests, and the answers that were written completely
// while the client was still connected. Answered is updated shortly after the
// answer's last byte; use Wait.
type Count struct{ Asked, Answered int }

// Totals are sums over all requests.
type Totals struct {
	Chats      Count
	Left       int // chats whose client disconnected before the end
	Embeddings Count

	Transcriptions Count
	Reranks        Count
	Reranked       int // texts in all rerank requests
	Tokens         int // sent in all chats
	Texts          int // in all requested batches
}

// BatchKey returns the key of a batch of texts in Embeddings.
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

// Embeddings returns the counts of batches, by BatchKey.
func (s *Server) Embeddings() map[string]Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.batches)
}

// Chats returns the counts of chat requests, by the hash of their body.
func (s *Server) Chats() map[string]Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.chats)
}

// Totals returns the sums over all requests.
func (s *Server) Totals() Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.totals
}

// Wait blocks until the totals satisfy reached. It returns the cause of ctx if
// ctx ends first.
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

// update changes the counts and wakes the callers of Wait.
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
