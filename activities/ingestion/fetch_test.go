package ingestion_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/browser"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/store"
)

// site starts a web server that counts its requests.
func site(t *testing.T, handler http.HandlerFunc) (address string, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// linked uploads a document whose original is at an address.
func (f *fixture) linked(address string) (ingestion.StepInput, string) {
	f.Helper()
	in := f.Upload("linked.txt", "", func(nv *store.NewVersion) { nv.SourceURL = address })
	v, err := f.Store.Version(f.Ctx, in.VersionRef)
	f.Must(err)
	return in, v.SourceKey
}

// brokenBlobs is a blob store that fails every write.
type brokenBlobs struct{ *blob.Keyed }

func (brokenBlobs) PutReader(context.Context, string, io.Reader) (blob.Ref, error) {
	return blob.Ref{}, errors.New("input/output error")
}

func TestFetchDocument(t *testing.T) {
	t.Parallel()

	t.Run("an original is fetched once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		address, requests := site(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the original") })
		in, key := f.linked(address)
		begun, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		f.Must(err)
		if !begun.Fetch {
			t.Errorf("begun %+v", begun)
		}
		for range 3 {
			f.Must(act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in}))
		}
		if data, err := f.Blobs.Get(f.Ctx, key); err != nil || string(data) != "the original" {
			t.Errorf("stored %q, %v", data, err)
		}
		if n := requests.Load(); n != 1 {
			t.Errorf("fetched %d times", n)
		}
		if v, err := f.Store.Version(f.Ctx, in.VersionRef); err != nil || v.Bytes != int64(len("the original")) {
			t.Errorf("%d bytes, %v", v.Bytes, err)
		}
	})

	t.Run("the media type that the address declares is stored with the version", func(t *testing.T) {
		t.Parallel()
		for _, tc := range []struct{ declared, answered, want string }{
			{"", "text/markdown", "text/markdown"},
			{"", "text/html; charset=ISO-8859-1", "text/html; charset=windows-1252"},
			{"text/csv", "text/plain", "text/csv"},
			{"", "text/plain; charset=" + strings.Repeat("x", 1<<10), "text/plain"},
			{"", "application/octet-stream", ""},
		} {
			f := newFixture(t)
			address, _ := site(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.answered)
				io.WriteString(w, "the original")
			})
			in := f.Upload("linked", "", func(nv *store.NewVersion) { nv.SourceURL, nv.MediaType = address, tc.declared })
			f.Must(act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in}))
			if v, err := f.Store.Version(f.Ctx, in.VersionRef); err != nil || v.MediaType != tc.want {
				t.Errorf("%q, then %q: media type %q, %v", tc.declared, tc.answered, v.MediaType, err)
			}
		}
	})

	t.Run("a text at the limit is accepted", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		address, _ := site(t, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat("x", 1<<19))
			w.(http.Flusher).Flush() // no Content-Length
			io.WriteString(w, strings.Repeat("x", 1<<19))
		})
		in, key := f.linked(address)
		f.Must(act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in}))
		if data, err := f.Blobs.Get(f.Ctx, key); err != nil || len(data) != 1<<20 {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	})
}

// TestScriptsOfPages fetches pages without words, with a browser that runs their scripts or
// does not.
func TestScriptsOfPages(t *testing.T) {
	t.Parallel()
	const shell = "<div id=app></div><script></script>"
	failed := &scripts{errors.New("the browser has ended")}
	none := &scripts{knowledge.Errorf(knowledge.CodeNeedsComponent, "no browser")}
	for _, tc := range []struct {
		page, kind, want string
		browser          scrape.Browser
		lastTry, warns   bool
	}{
		{shell, "text/html", "made by scripts", &scripts{}, false, false},
		{shell, "text/plain", shell, &scripts{}, false, false},
		{"no scripts", "text/html", "no scripts", &scripts{}, false, false},
		{shell, "text/html", shell, nil, false, true},
		{shell, "text/html", shell, none, false, true},
		{shell, "text/html", "", failed, false, false},
		{shell, "text/html", shell, failed, true, true},
	} {
		f := newFixture(t)
		f.IngestWith(func(d *ingestion.Dependencies) { d.Browser = tc.browser })
		address, _ := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tc.kind)
			io.WriteString(w, tc.page)
		})
		in, key := f.linked(address)
		err := act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in, LastTry: tc.lastTry})
		if tc.want == "" {
			f.FailedWith(err, knowledge.CodeUnavailable, true)
			continue
		}
		f.Must(err)
		if data, err := f.Blobs.Get(f.Ctx, key); err != nil || string(data) != tc.want {
			t.Errorf("%s is stored as %s, %v", tc.page, data, err)
		}
		if v, err := f.Store.Version(f.Ctx, in.VersionRef); err != nil || v.Bytes != int64(len(tc.want)) || (len(v.Warnings) > 0) != tc.warns {
			t.Errorf("%d bytes, warnings %v, %v", v.Bytes, v.Warnings, err)
		}
	}
}

func TestFetchFromThisMachine(t *testing.T) {
	t.Parallel()

	t.Run("an address of this machine is refused before it is dialed", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.IngestWith(func(d *ingestion.Dependencies) { d.Dialer = safedial.New(safedial.Config{}) }) // as it is by default
		address, requests := site(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a secret") })
		_, port, _ := strings.Cut(strings.TrimPrefix(address, "http://"), ":")
		for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "169.254.169.254", "10.0.0.1"} {
			in, _ := f.linked("http://" + host + ":" + port)
			f.FailedWith(act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in}), knowledge.CodeInvalid, false)
		}
		if n := requests.Load(); n != 0 {
			t.Errorf("%d requests came through", n)
		}
		if keys := f.Keys("w/p/"); len(keys) != 0 {
			t.Errorf("stored %v", keys)
		}
	})

	t.Run("a redirect to this machine is refused", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		address, requests := site(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+strings.Replace(r.Host, "127.0.0.1", "127.0.0.2", 1), http.StatusFound)
		})
		in, _ := f.linked(address)
		f.FailedWith(act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in}), knowledge.CodeInvalid, false)
		if n := requests.Load(); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestFailuresOfFetching(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		answer    http.HandlerFunc
		code      knowledge.Code
		retryable bool
	}{
		"what is not there is invalid": {http.NotFound, knowledge.CodeInvalid, false},
		"a server that fails may answer later": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, knowledge.CodeUnavailable, true,
		},
		"so may one that is asked too often": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, knowledge.CodeUnavailable, true,
		},
		"what says that it is too large is not read": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "2000000")
				w.WriteHeader(http.StatusOK)
			}, knowledge.CodeTooLarge, false,
		},
		"what turns out to be too large is dropped": {
			func(w http.ResponseWriter, _ *http.Request) {
				for range 40 {
					io.WriteString(w, strings.Repeat("x", 1<<15))
					w.(http.Flusher).Flush()
				}
			}, knowledge.CodeTooLarge, false,
		},
		"what stops in the middle may come later": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				io.WriteString(w, "half of it")
				panic(http.ErrAbortHandler)
			}, knowledge.CodeUnavailable, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			address, _ := site(t, tc.answer)
			in, key := f.linked(address)
			f.FailedWith(act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in}), tc.code, tc.retryable)
			if there, err := f.Blobs.Exists(f.Ctx, key); err != nil || there {
				t.Errorf("something is stored: %t, %v", there, err)
			}
		})
	}

	t.Run("a blob store that fails is not the address's fault", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.IngestWith(func(d *ingestion.Dependencies) { d.Blobs = brokenBlobs{f.Blobs} })
		address, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the original") })
		in, _ := f.linked(address)
		f.FailedWith(act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in}), knowledge.CodeInternal, true)
	})

	t.Run("a server that is down is retried", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		in, _ := f.linked(server.URL + "/plan.pdf?signature=secret")
		f.FailedWith(act(f, f.Ingestion.FetchDocument, ingestion.FetchInput{StepInput: in}), knowledge.CodeUnavailable, true)
		if log := f.Logged.String(); !strings.Contains(log, "did not answer") || strings.Contains(log, "secret") {
			t.Errorf("the log says %s", log)
		}
	})
}

// scripts stands for a browser.
type scripts struct{ err error }

func (s *scripts) Render(_ context.Context, address string, _ func(*url.URL) error) (browser.Document, error) {
	if s.err != nil {
		return browser.Document{}, s.err
	}
	return browser.Document{URL: address, HTML: "made by scripts"}, nil
}
