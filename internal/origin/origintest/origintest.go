// Package origintest has systems to import from, for tests: Open WebUI, Dify and RAGFlow as
// their documentation describes them, with pages, throttling, keys that expire, files that
// are gone and listings that break off.
package origintest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Key is the key that a system accepts, and AppKey that of the app of Dify.
const (
	Key    = "key-of-the-system"
	AppKey = "key-of-the-app"
)

// Options is what a system has.
type Options struct {
	PageSize    int // 0 = 2
	Collections []Collection
	Talks       []Talk
	// Throttle refuses every so many requests with 429, 0 = none.
	Throttle int
	// HoldAfter is the number of downloads behind which every other one waits for Release,
	// 0 = none waits.
	HoldAfter int
	// Old answers as versions of the system did that list without pages.
	Old bool
}

// Collection is a knowledge base or a dataset.
type Collection struct {
	ID, Name string
	Tags     []string
	Files    []File
	Breaks   bool // its listing fails behind the first page
}

// File is a document.
type File struct {
	ID, Name, Text string
	Version        int
	Metadata       map[string]any
	Gone           bool     // the original is gone
	Parts          []string // the text that the system made of it
	BreaksOnce     bool     // its first download breaks off
}

// Talk is a conversation: questions and answers in turn.
type Talk struct {
	ID, Title, User string
	Texts           []string
	Sources         []string // of the answers
}

// System is a system that answers HTTP. It is safe for concurrent use.
type System struct {
	URL string

	options Options
	server  *httptest.Server
	release chan struct{}

	mu        sync.Mutex
	requests  int
	throttled int
	expired   bool
	downloads map[string]int
}

func newSystem(o Options, refuse http.HandlerFunc, routes func(s *System, mux *http.ServeMux)) *System {
	if o.PageSize == 0 {
		o.PageSize = 2
	}
	o.Collections = slices.Clone(o.Collections)
	for i := range o.Collections {
		o.Collections[i].Files = slices.Clone(o.Collections[i].Files)
	}
	s := &System{options: o, release: make(chan struct{}), downloads: map[string]int{}}
	mux := http.NewServeMux()
	routes(s, mux)
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.throttles():
			w.Header().Set("Retry-After", "0.01")
			w.WriteHeader(http.StatusTooManyRequests)
		case s.refuses(r):
			refuse(w, r)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	s.URL = s.server.URL
	return s
}

func (s *System) throttles() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	slow := s.options.Throttle > 0 && s.requests%s.options.Throttle == 0
	if slow {
		s.throttled++
	}
	return slow
}

func (s *System) refuses(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get("Authorization")
	if strings.HasPrefix(r.URL.Path, "/files/") { // signed addresses
		return false
	}
	return s.expired || key != "Bearer "+Key && key != "Bearer "+AppKey
}

// Close ends the system.
func (s *System) Close() {
	s.Release()
	s.server.Close()
}

// Release lets the downloads continue that wait.
func (s *System) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.release:
	default:
		close(s.release)
	}
}

// Expire makes the system refuse its keys.
func (s *System) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expired = true
}

// Downloads returns how often the original of a file was read to its end.
func (s *System) Downloads(file string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.downloads[file]
}

// Throttled returns how many requests were refused because there were too many.
func (s *System) Throttled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.throttled
}

// Change sets the text of a file, and raises its version.
func (s *System) Change(file, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.options.Collections {
		for i := range c.Files {
			if c.Files[i].ID == file {
				c.Files[i].Text = text
				c.Files[i].Version++
			}
		}
	}
}

// collection returns a collection, nil = there is none.
func (s *System) collection(id string) *Collection {
	for i := range s.options.Collections {
		if s.options.Collections[i].ID == id {
			return &s.options.Collections[i]
		}
	}
	return nil
}

// file returns a file, nil = there is none.
func (s *System) file(id string) *File {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.options.Collections {
		for _, f := range c.Files {
			if f.ID == id {
				return &f
			}
		}
	}
	return nil
}

// download sends the original of a file.
func (s *System) download(w http.ResponseWriter, r *http.Request, f *File) {
	s.mu.Lock()
	begun := 0
	for _, n := range s.downloads {
		begun += n
	}
	wait := s.options.HoldAfter > 0 && begun >= s.options.HoldAfter
	breaks := f.BreaksOnce && s.downloads["broken "+f.ID] == 0
	if breaks {
		s.downloads["broken "+f.ID]++
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("Content-Length", strconv.Itoa(len(f.Text)))
	half := len(f.Text) / 2
	_, _ = w.Write([]byte(f.Text[:half])) // a client that is gone is seen below
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
	if breaks {
		panic(http.ErrAbortHandler)
	}
	if wait {
		select {
		case <-s.release:
		case <-r.Context().Done():
			return
		}
	}
	if _, err := w.Write([]byte(f.Text[half:])); err == nil {
		s.mu.Lock()
		s.downloads[f.ID]++
		s.mu.Unlock()
	}
}

// page returns a page of a list, by the number of the page from 1, and the number of items.
func page[T any](list []T, number string, size int) []T {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		n = 1
	}
	return list[min(len(list), (n-1)*size):min(len(list), n*size)]
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone fails the test
}

type object map[string]any

// broken reports whether a listing fails here.
func (c *Collection) broken(number string) bool { return c.Breaks && number != "" && number != "1" }
