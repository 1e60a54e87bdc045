package urllist_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/source/urllist"
	"github.com/cairn-rag/cairn/internal/source/web"
)

func connect(uri string, state source.State) source.Source {
	client := web.NewClient(sourcetest.Client(), web.NewPace(4))
	return urllist.New(source.Request{Spec: source.Spec{URI: uri}, State: state}, client)
}

func keys(t *testing.T, s source.Source) []string {
	t.Helper()
	objects, _ := sourcetest.All(t, func() source.Source { return s })
	var keys []string
	for _, o := range objects {
		keys = append(keys, o.Key)
	}
	return keys
}

// serve returns the address of a server.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestLists(t *testing.T) {
	t.Parallel()
	want := []string{"https://a.example/1", "https://a.example/2"}
	for name, text := range map[string]string{
		"text":     "\ufeff# comment\r\nhttps://a.example/1\r\n\r\n  https://a.example/2  \nhttps://a.example/1\n",
		"strings":  `["https://a.example/1", "https://a.example/2", "https://a.example/1"]`,
		"objects":  ` [{"url": "https://a.example/1", "x": 1}, {"url": "https://a.example/2"}]`,
		"one_line": "https://a.example/1\nhttps://a.example/2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
			if diff := cmp.Diff(want, keys(t, connect(address, &sourcetest.State{}))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("in_the_request", func(t *testing.T) {
		t.Parallel()
		if diff := cmp.Diff(want, keys(t, connect(strings.Join(want, "\n"), &sourcetest.State{}))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestBadLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		code knowledge.Code
	}{
		"empty":       {"\n# nothing\n", knowledge.CodeInvalid},
		"a_page":      {"<!DOCTYPE html><p>https://a.example", knowledge.CodeInvalid},
		"broken_json": {`["https://a.example/1"`, knowledge.CodeInvalid},
		"numbers":     {`[1, 2]`, knowledge.CodeInvalid},
		"binary":      {"PK\x03\x04\xff\xfe", knowledge.CodeInvalid},
		"a_long_line": {strings.Repeat("x", 5000), knowledge.CodeInvalid},
		"too_many":    {many(500_001), knowledge.CodeTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.text) })
			_, err := connect(address, &sourcetest.State{}).List(t.Context(), "")
			sourcetest.Want(t, err, c.code, false)
		})
	}
}

func many(count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "https://a.example/%d\n", i)
	}
	return b.String()
}

func TestAListIsReadOnce(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, many(2500*int(requests.Add(1))))
	})
	state := &sourcetest.State{}
	objects, pages := sourcetest.All(t, func() source.Source { return connect(address, state) }) // anew for each page
	if diff := cmp.Diff([]int{1000, 1000, 500}, pages); diff != "" || requests.Load() != 1 {
		t.Errorf("got %d objects by %d requests, pages (-want +got):\n%s", len(objects), requests.Load(), diff)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/tagged", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "tagged")
	})
	mux.HandleFunc("/dated", func(w http.ResponseWriter, r *http.Request) {
		const date = "Tue, 02 Jan 2024 03:04:05 GMT"
		w.Header().Set("Last-Modified", date)
		if r.Header.Get("If-Modified-Since") == date {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "dated")
	})
	mux.HandleFunc("/stubborn", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"1"`)
		fmt.Fprint(w, "stubborn")
	})
	server := serve(t, mux.ServeHTTP)
	s := connect(server, &sourcetest.State{})
	for _, name := range []string{"tagged", "dated", "stubborn"} {
		o := source.Object{Key: server + "/" + name}
		text, read := sourcetest.Read(t, s, o)
		if text != name || read.ETag == "" || read.Bytes != int64(len(name)) {
			t.Errorf("got %q as %+v", text, read)
		}
		if _, _, err := s.Open(t.Context(), o, read.ETag); !errors.Is(err, source.ErrUnchanged) {
			t.Errorf("%s: got error %v, want unchanged", name, err)
		}
		if _, again := sourcetest.Read(t, s, o); again.ETag != read.ETag {
			t.Errorf("%s: got etag %s, then %s", name, read.ETag, again.ETag)
		}
	}
}

func TestBadAddresses(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/private":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case "/busy":
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/half":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half")
		case "/down":
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	for address, c := range map[string]struct {
		code      knowledge.Code
		retryable bool
	}{
		"not an address":          {knowledge.CodeInvalid, false},
		"ftp://a.example/x":       {knowledge.CodeInvalid, false},
		"http://u:p@a.example/x":  {knowledge.CodeInvalid, false},
		"http://169.254.169.254/": {knowledge.CodeInvalid, false},
		server + "/private":       {knowledge.CodeInvalid, false},
		server + "/circle":        {knowledge.CodeInvalid, false},
		server + "/none":          {knowledge.CodeNotFound, false},
		server + "/down":          {knowledge.CodeUnavailable, true},
		server + "/half":          {knowledge.CodeUnavailable, true},
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			wantOpen(t, connect(server, &sourcetest.State{}), address, c.code, c.retryable)
		})
	}
	t.Run("a_host_that_asks_to_wait", func(t *testing.T) {
		t.Parallel()
		s := connect(server, &sourcetest.State{})
		wantOpen(t, s, server+"/busy", knowledge.CodeRateLimited, true)
		wantOpen(t, s, server+"/none", knowledge.CodeRateLimited, true) // without a request
	})
}

func wantOpen(t *testing.T, s source.Source, address string, code knowledge.Code, retryable bool) {
	t.Helper()
	r, _, err := s.Open(t.Context(), source.Object{Key: address}, "")
	if err == nil {
		defer r.Close()
		_, err = r.Read(make([]byte, 100))
		for err == nil {
			_, err = r.Read(make([]byte, 100))
		}
	}
	sourcetest.Want(t, err, code, retryable)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"", "list.txt", "ftp://x/y", "\n\n"} {
		if err := urllist.Check(source.Spec{URI: uri}); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%q: got error %v", uri, err)
		}
	}
	for _, uri := range []string{"https://a.example/list.txt", "https://a.example/1\nhttps://a.example/2"} {
		if err := urllist.Check(source.Spec{URI: uri}); err != nil {
			t.Errorf("%q: %v", uri, err)
		}
	}
}
