package sourcetest

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Service is a kind of service whose faults are tested.
type Service struct {
	// Open connects to a bucket behind an endpoint.
	Open func(t *testing.T, endpoint string) source.Source
	// ListingType and Listing are an answer of the service that lists objects.
	ListingType, Listing string
}

// Faults checks that a service's faults become the errors of a source.
func Faults(t *testing.T, s Service) {
	t.Helper()
	s.statuses(t)
	for name, check := range map[string]func(*testing.T){
		"half_a_listing":                  s.halfListing,
		"half_an_object":                  s.halfObject,
		"one_failure_is_repeated_at_once": s.oneFailure,
		"nobody_listens":                  s.nobodyListens,
		"a_redirect_to_a_private_address": s.privateRedirect,
		"a_private_endpoint":              s.privateEndpoint,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t)
		})
	}
}

// faultyObject is the object that the faults concern.
var faultyObject = source.Object{Key: "a.txt"}

// statuses checks the errors of the statuses with which a service answers.
func (s Service) statuses(t *testing.T) {
	for name, c := range map[string]struct {
		status    int
		code      knowledge.Code
		retryable bool
	}{
		"refused":     {http.StatusForbidden, knowledge.CodeForbidden, false},
		"unknown":     {http.StatusUnauthorized, knowledge.CodeForbidden, false},
		"missing":     {http.StatusNotFound, knowledge.CodeNotFound, false},
		"throttled":   {http.StatusTooManyRequests, knowledge.CodeRateLimited, true},
		"unavailable": {http.StatusServiceUnavailable, knowledge.CodeUnavailable, true},
		"broken":      {http.StatusInternalServerError, knowledge.CodeUnavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) })
			open := s.Open(t, server)
			_, err := open.List(t.Context(), "")
			Want(t, err, c.code, c.retryable)
			_, _, err = open.Open(t.Context(), faultyObject, "")
			Want(t, err, c.code, c.retryable)
		})
	}
}

func (s Service) halfObject(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half")) // then the handler ends, and the server closes the connection
	})
	r, _, err := s.Open(t, server).Open(t.Context(), faultyObject, "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = readAll(r)
	Want(t, err, knowledge.CodeUnavailable, true)
}

func (s Service) oneFailure(t *testing.T) {
	var requests atomic.Int64
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		s.list(w, len(s.Listing))
	})
	if page, err := s.Open(t, server).List(t.Context(), ""); err != nil || len(page.Objects) == 0 {
		t.Errorf("got %+v, %v", page, err)
	}
}

func (s Service) nobodyListens(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	_, err := s.Open(t, closed.URL).List(t.Context(), "")
	Want(t, err, knowledge.CodeUnavailable, true)
}

func (s Service) privateRedirect(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://10.0.0.1/latest/meta-data/", http.StatusTemporaryRedirect)
	})
	_, err := s.Open(t, server).List(t.Context(), "")
	Want(t, err, knowledge.CodeInvalid, false)
}

func (s Service) privateEndpoint(t *testing.T) {
	_, err := s.Open(t, "http://10.0.0.1:9000").List(t.Context(), "")
	Want(t, err, knowledge.CodeInvalid, false)
}

// halfListing cuts a listing in three ways: by the connection, inside the
// document, and with an end that names no token for the rest.
func (s Service) halfListing(t *testing.T) {
	for _, complete := range []bool{true, false} {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if complete {
				s.list(w, len(s.Listing)/2)
				return
			}
			w.Header().Set("Content-Length", strconv.Itoa(len(s.Listing)))
			s.list(w, len(s.Listing)/2)
		})
		_, err := s.Open(t, server).List(t.Context(), "")
		Want(t, err, knowledge.CodeUnavailable, true)
	}
}

func (s Service) list(w http.ResponseWriter, bytes int) {
	w.Header().Set("Content-Type", s.ListingType)
	_, _ = w.Write([]byte(s.Listing[:bytes]))
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	server.Config.ReadHeaderTimeout = 10 * time.Second
	return server.URL
}
