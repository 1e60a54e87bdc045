package scrape_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// plain extracts a file as one block; "broken" cannot be read.
type plain struct{}

func (plain) Extract(_ context.Context, in extract.Input) (format.Result, error) {
	data, err := os.ReadFile(in.Path)
	if err == nil && string(data) == "broken" {
		err = errors.New("it cannot be read")
	}
	return format.Result{Layout: knowledge.Layout{Blocks: []knowledge.Block{{Text: string(data)}}}}, err
}

func newReader(t *testing.T, client *http.Client) *scrape.Reader {
	return scrape.NewReader(scrape.Config{
		Client: web.NewClient(client, web.NewPace(4)), Extractor: plain{}, Folder: t.TempDir(), PerPage: 2 * time.Second, All: 3 * time.Second,
	})
}

func anywhere(*url.URL) bool { return true }

func TestRead(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	mux := http.NewServeMux()
	answer := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			asked <- r.URL.Path
			_, _ = w.Write([]byte(text))
		})
	}
	answer("/robots.txt", "User-agent: *\nDisallow: /hidden")
	answer("/good", "a good page")
	answer("/hidden", "not for robots")
	answer("/broken", "broken")
	answer("/large", strings.Repeat("x", 11<<20))
	redirect := func(path, to string) { mux.Handle(path, http.RedirectHandler(to, http.StatusFound)) }
	redirect("/moved", "/good")
	redirect("/moved/away", "/other")
	redirect("/moved/hidden", "/hidden")
	redirect("/round", "/round")
	answer("/other", "another page")
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)

	paths := []string{"/slow", "/good", "/hidden", "/broken", "/large", "/moved", "/moved/away", "/moved/hidden", "/round", "/missing", "/other"}
	addresses := []string{}
	for _, path := range paths {
		addresses = append(addresses, site.URL+path)
	}
	allow := func(u *url.URL) bool { return u.Path != "/other" }
	got := newReader(t, site.Client()).Read(t.Context(), addresses, allow)
	want := []scrape.Page{
		{URL: "/slow", Failure: scrape.FailureTime},
		{URL: "/good", Text: "a good page"},
		{URL: "/hidden", Failure: scrape.FailureRobots},
		{URL: "/broken", Failure: scrape.FailureExtract},
		{URL: "/large", Failure: scrape.FailureFetch},
		{URL: "/good", Text: "a good page"},
		{URL: "/moved/away", Refused: true, Failure: scrape.FailureFetch},
		{URL: "/moved/hidden", Failure: scrape.FailureRobots},
		{URL: "/round", Failure: scrape.FailureFetch},
		{URL: "/missing", Failure: scrape.FailureFetch},
		{URL: "/other", Refused: true},
	}
	for i := range got {
		got[i].URL = strings.TrimPrefix(got[i].URL, site.URL)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	close(asked)
	robots := 0
	for path := range asked {
		switch path {
		case "/robots.txt":
			robots++
		case "/hidden", "/other":
			t.Errorf("%s was requested", path)
		}
	}
	if robots != 1 {
		t.Errorf("robots.txt was requested %d times", robots)
	}
}

// TestReadRefusesAddressesInside names this machine and its networks in every way.
func TestReadRefusesAddressesInside(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("%s was requested", r.URL) }))
	t.Cleanup(site.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(site.URL, "http://"), ":")
	addresses := []string{"file:///etc/passwd", "ftp://127.0.0.1/"}
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0.0.0.0", "10.0.0.1", "192.168.1.1", "172.16.0.1",
		"169.254.169.254", "[fd00::1]", "[fe80::1]", "100.64.0.1",
	} {
		addresses = append(addresses, "http://"+host+":"+port+"/")
	}
	for _, page := range newReader(t, safedial.New(safedial.Config{}).Client(0)).Read(t.Context(), addresses, anywhere) {
		if page.Text != "" || page.Failure == "" && !page.Refused {
			t.Errorf("%+v", page)
		}
	}
}
