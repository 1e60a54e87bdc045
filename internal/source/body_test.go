package source_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// slow returns a byte after each pause, and ends with the error.
type slow struct {
	ctx    context.Context
	pauses []time.Duration
	err    error
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.pauses) == 0 {
		return 0, s.err
	}
	pause := s.pauses[0]
	s.pauses = s.pauses[1:]
	select {
	case <-time.After(pause):
		p[0] = 'x'
		return 1, nil
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

func (*slow) Close() error { return nil }

func TestBody(t *testing.T) {
	t.Parallel()
	read := func(t *testing.T, s *slow) (int, error) {
		ctx, cancel := context.WithCancel(t.Context())
		s.ctx = ctx
		body := source.NewBody(s, cancel)
		data, err := io.ReadAll(body)
		_ = body.Close() // it returns nil
		if ctx.Err() == nil {
			t.Error("the request goes on after Close")
		}
		return len(data), err
	}
	t.Run("a_slow_body_is_read", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			if n, err := read(t, &slow{pauses: []time.Duration{50 * time.Second, 50 * time.Second, 50 * time.Second}, err: io.EOF}); n != 3 || err != nil {
				t.Errorf("got %d bytes, %v", n, err)
			}
		})
	})
	t.Run("a_body_that_stalls_fails", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, err := read(t, &slow{pauses: []time.Duration{time.Second, time.Hour}, err: io.EOF})
			sourcetest.Want(t, err, knowledge.CodeUnavailable, true)
			if took := time.Since(start); took != 61*time.Second {
				t.Errorf("failed after %s", took)
			}
		})
	})
	t.Run("a_body_that_is_cut_fails", func(t *testing.T) {
		t.Parallel()
		_, err := read(t, &slow{err: io.ErrUnexpectedEOF})
		sourcetest.Want(t, err, knowledge.CodeUnavailable, true)
	})
	t.Run("a_caller_that_cancels_gets_its_own_error", func(t *testing.T) {
		t.Parallel()
		if _, err := read(t, &slow{err: context.Canceled}); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v", err)
		}
	})
}
