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

	"github.com/cairn-rag/cairn/internal/browser"
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

// scripts stands for a browser.
type scripts struct {
	html string
	at   string // where they lead
	err  error
}

func (s scripts) Render(_ context.Context, address string, mayOpen func(*url.URL) error) (browser.Document, error) {
	if s.at != "" {
		address = s.at
	}
	u, err := url.Parse(address)
	if err == nil {
		err = mayOpen(u)
	}
	return browser.Document{URL: address, HTML: s.html}, errors.Join(err, s.err)
}

func TestReadRunsScripts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A page with words. ", 40)
	pages := map[string]string{"/empty": `<div id=app></div><script src=app.js></script>`, "/long": long + "<script></script>", "/plain": "no scripts", "/hidden": "", "/robots.txt": "User-agent: *\nDisallow: /hidden"}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write([]byte(pages[r.URL.Path]))
	}))
	t.Cleanup(site.Close)
	for name, tc := range map[string]struct {
		path    string
		browser scripts
		want    scrape.Page
	}{
		"of_a_page_without_words":        {"/empty", scripts{html: long}, scrape.Page{URL: "/empty", Text: strings.TrimSpace(long), Scripts: scrape.ScriptsRan}},
		"which_lead_elsewhere":           {"/empty", scripts{html: long, at: site.URL + "/other"}, scrape.Page{URL: "/other", Text: strings.TrimSpace(long), Scripts: scrape.ScriptsRan}},
		"which_make_fewer_words":         {"/empty", scripts{html: "x"}, scrape.Page{URL: "/empty", Text: pages["/empty"], Scripts: scrape.ScriptsRan}},
		"not_of_a_page_with_words":       {"/long", scripts{err: errors.New("asked")}, scrape.Page{URL: "/long", Text: strings.TrimSpace(pages["/long"])}},
		"not_of_a_page_without_them":     {"/plain", scripts{err: errors.New("asked")}, scrape.Page{URL: "/plain", Text: pages["/plain"]}},
		"not_without_a_browser":          {"/empty", scripts{err: errors.New("not installed")}, scrape.Page{URL: "/empty", Text: pages["/empty"], Scripts: scrape.ScriptsNotRun}},
		"not_to_another_domain":          {"/empty", scripts{html: long, at: "https://evil.example/"}, scrape.Page{URL: "/empty", Refused: true, Failure: scrape.FailureFetch, Scripts: scrape.ScriptsNotRun}},
		"not_to_what_robots_may_not_see": {"/empty", scripts{html: long, at: site.URL + "/hidden"}, scrape.Page{URL: "/empty", Text: pages["/empty"], Scripts: scrape.ScriptsNotRun}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := scrape.NewReader(scrape.Config{Client: web.NewClient(site.Client(), web.NewPace(4)), Extractor: plain{}, Folder: t.TempDir(), Browser: tc.browser})
			got := r.Read(t.Context(), []string{site.URL + tc.path}, func(u *url.URL) bool { return u.Hostname() == "127.0.0.1" })[0]
			got.URL = strings.TrimPrefix(got.URL, site.URL)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLooksEmpty(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Words of a page. ", 60)
	for page, want := range map[string]bool{
		"":                                     false,
		"short, without scripts":               false,
		"<script></script>":                    true,
		"<script>" + long + "</script>":        true,
		"<p>" + long + "</p><SCRIPT></SCRIPT>": false,
		"<noscript>" + long + "</noscript><script></script>":                                       true,
		"<head><title>" + long + "</title></head><style>" + long + "</style><script></script>":     true,
		"<body>Loading" + strings.Repeat(" \n", 1000) + "<script src=x></script>":                  true,
		"<template>" + long + "</template><script></script></template></noscript>" + long + "</p>": false,
	} {
		if got := scrape.LooksEmpty([]byte(page)); got != want {
			t.Errorf("%.60s…: %v", page, got)
		}
	}
}
