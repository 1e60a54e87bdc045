package blobtest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Secret is a text that the answers of a Fault hold and that no message may repeat.
const Secret = "secret words"

// Fault is a fault of a service.
type Fault struct {
	Answer http.HandlerFunc // to each request
	Says   string           // a part of the message for users
}

// operations are the requests of a store.
var operations = map[string]func(context.Context, *blob.Store) error{
	"put": func(ctx context.Context, s *blob.Store) error { _, err := s.Put(ctx, "w/k", []byte("x")); return err },
	"put_large": func(ctx context.Context, s *blob.Store) error {
		_, err := s.PutReader(ctx, "w/k", bytes.NewReader(make([]byte, 9<<20)))
		return err
	},
	"get":           func(ctx context.Context, s *blob.Store) error { _, err := s.Get(ctx, "w/k"); return err },
	"exists":        func(ctx context.Context, s *blob.Store) error { _, err := s.Exists(ctx, "w/k"); return err },
	"delete":        func(ctx context.Context, s *blob.Store) error { return s.Delete(ctx, "w/k") },
	"delete_prefix": func(ctx context.Context, s *blob.Store) error { _, err := s.DeletePrefix(ctx, "w/", nil); return err },
	"ping":          func(ctx context.Context, s *blob.Store) error { return s.Ping(ctx) },
}

// Faults checks that the faults of a kind of service, and of any connection, are
// errors that can be retried and that show users nothing of the service's words. open
// opens the store behind an endpoint.
func Faults(t *testing.T, open func(t *testing.T, endpoint string) *blob.Store, faults map[string]Fault) {
	t.Helper()
	var requests sync.WaitGroup // each is repeated for seconds
	for name, fault := range faults {
		s := open(t, serve(t, fault.Answer))
		for operation, do := range operations {
			requests.Go(func() {
				if err := do(t.Context(), s); !isFault(err, fault.Says) {
					t.Errorf("%s, %s: got %v", name, operation, err)
				}
			})
		}
	}
	requests.Wait()
	for name, check := range map[string]func(*testing.T, func(*testing.T, string) *blob.Store){
		"hangs_up": hangsUp, "nobody_listens": nobodyListens, "half_an_object": halfAnObject, "one_failure_is_repeated_at_once": oneFailure,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open)
		})
	}
}

func hangsUp(t *testing.T, open func(*testing.T, string) *blob.Store) {
	s := open(t, serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	WantFault(t, operations["put"](t.Context(), s), "tried again")
}

func nobodyListens(t *testing.T, open func(*testing.T, string) *blob.Store) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	WantFault(t, operations["put"](t.Context(), open(t, closed.URL)), "tried again")
}

func halfAnObject(t *testing.T, open func(*testing.T, string) *blob.Store) {
	s := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half")) // then the handler ends, and the server closes the connection
	}))
	WantFault(t, operations["get"](t.Context(), s), "tried again")
}

func oneFailure(t *testing.T, open func(*testing.T, string) *blob.Store) {
	var requests atomic.Int64
	s := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Length", "4")
		_, _ = w.Write([]byte("good"))
	}))
	if got, err := s.Get(t.Context(), "w/k"); err != nil || string(got) != "good" {
		t.Errorf("got %q, %v", got, err)
	}
}

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

// WantFault fails the test if err is not the error of a service's fault.
func WantFault(t *testing.T, err error, says string) {
	t.Helper()
	if !isFault(err, says) {
		t.Errorf("got %v, want an unavailable store that says %q", err, says)
	}
}

func isFault(err error, says string) bool {
	e, ok := errors.AsType[*knowledge.Error](err)
	return ok && e.Code == knowledge.CodeUnavailable && e.Retryable && strings.Contains(e.Message, says) &&
		!strings.Contains(e.Message, Secret) && !errors.Is(err, blob.ErrNotFound)
}
