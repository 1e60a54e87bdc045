package e2e_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// failureCodes returns the codes of the objects that an import could not read.
func (s *server) failureCodes(t *testing.T, i client.Import) map[string]knowledge.Code {
	t.Helper()
	list, err := s.ImportFailures(t.Context(), i.ID, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]knowledge.Code{}
	for _, f := range list.Data {
		codes[f.Key] = f.Error.Code
		if f.Error.Message == "" || f.Error.Stage == "" {
			t.Errorf("failure without a message or a stage: %+v", f)
		}
	}
	return codes
}

// names returns the names of the published documents of the default project.
func (s *server) names(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, d := range s.imported(t) {
		if d.Status == knowledge.StatusPublished {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names
}

type member struct{ name, body string }

func pack(t *testing.T, members ...member) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, m := range members {
		f, err := w.Create(m.name)
		if err == nil {
			_, err = io.WriteString(f, m.body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestHostileArchive(t *testing.T) {
	t.Parallel()
	s := startForImports(t)
	third := pack(t, member{"deep.txt", "Two levels below."})
	second := pack(t, member{"inside.txt", "One level below."}, member{"third.zip", string(third)}, member{"../../up.txt", "Up from inside."})
	data := pack(t, member{"first.txt", "The first."}, member{"../up.txt", "Up."}, member{"/etc/cron.d/job", "Absolute."}, member{`..\..\up.txt`, "Up again."},
		member{"twice.txt", "One."}, member{"twice.txt", "Two."}, member{"bomb.txt", strings.Repeat("0", 40<<20)},
		member{"second.zip", string(second)}, member{"broken.zip", "no archive"}, member{"folder/last.txt", "The last."})
	uploaded, err := s.Upload(t.Context(), client.Upload{Project: "default", Name: "hostile.zip", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }})
	if err != nil || uploaded.Import == nil {
		t.Fatalf("the archive became %+v, %v", uploaded, err)
	}
	i := s.awaitImport(t, uploaded.Import.ID)
	want := map[string]knowledge.Code{
		"../up.txt": knowledge.CodeInvalid, "/etc/cron.d/job": knowledge.CodeInvalid, `..\..\up.txt`: knowledge.CodeInvalid, "twice.txt (2)": knowledge.CodeConflict,
		"bomb.txt": knowledge.CodeParseLimit, "second.zip/third.zip": knowledge.CodeUnsupportedFormat, "second.zip/../../up.txt": knowledge.CodeInvalid, "broken.zip": knowledge.CodeCorrupt,
	}
	if diff := cmp.Diff(want, s.failureCodes(t, i)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	wantCounts(t, i, counts{discovered: 12, published: 4, failed: int64(len(want))})
	if diff := cmp.Diff([]string{"first.txt", "folder/last.txt", "second.zip/inside.txt", "twice.txt"}, s.names(t)); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

// pages is a web site that counts its requests.
type pages struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
}

func newPages(t *testing.T, serve func(p *pages, w http.ResponseWriter, r *http.Request)) *pages {
	t.Helper()
	p := &pages{asked: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked[r.URL.Path]++
		p.mu.Unlock()
		serve(p, w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *pages) paths() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.asked))
}

func TestHostileAddresses(t *testing.T) {
	t.Parallel()
	s := startForImports(t)
	site := newPages(t, func(_ *pages, w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good.txt", "/fine.txt":
			fmt.Fprint(w, "A note at ", r.URL.Path)
		case "/inward":
			http.Redirect(w, r, "http://10.0.0.1/latest/meta-data/", http.StatusFound)
		case "/down":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/private":
			w.WriteHeader(http.StatusForbidden)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	list := strings.Join([]string{
		site.URL + "/good.txt", site.URL + "/good.txt", "# a comment", site.URL + "/missing", site.URL + "/inward", "http://10.0.0.1/", "ftp://example.org/a", "no address",
		site.URL + "/down", site.URL + "/private", "http://169.254.169.254/latest/", s.ends.API + "/healthz", site.URL + "/fine.txt",
	}, "\n")
	i := s.runImport(t, client.NewImport{Source: client.ImportSource{Type: "url_list", URI: list}})
	want := map[string]knowledge.Code{
		site.URL + "/missing": knowledge.CodeNotFound, site.URL + "/inward": knowledge.CodeInvalid, "http://10.0.0.1/": knowledge.CodeInvalid,
		"ftp://example.org/a": knowledge.CodeInvalid, "no address": knowledge.CodeInvalid, site.URL + "/down": knowledge.CodeUnavailable,
		site.URL + "/private": knowledge.CodeForbidden, "http://169.254.169.254/latest/": knowledge.CodeInvalid, s.ends.API + "/healthz": knowledge.CodeInvalid,
	}
	if diff := cmp.Diff(want, s.failureCodes(t, i)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	wantCounts(t, i, counts{discovered: 11, published: 2, failed: int64(len(want))})
}

// TestHostileSite crawls a site whose sitemap lists itself, whose links have no end,
// and which redirects into the network of the server.
func TestHostileSite(t *testing.T) {
	t.Parallel()
	s := startForImports(t)
	site := newPages(t, func(p *pages, w http.ResponseWriter, r *http.Request) {
		page := func(links ...string) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<html><head><title>%[1]s</title></head><body><main><h1>Page %[1]s</h1><p>The page %[1]s tells of the tide, of the keeper and of the light, in words that only it has.</p>", r.URL.RequestURI())
			for _, link := range links {
				fmt.Fprintf(w, `<a href="%s">more</a>`, link)
			}
			fmt.Fprint(w, "</main></body></html>")
		}
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprintf(w, "User-agent: *\nDisallow: /secret\nSitemap: %s/sitemap.xml\n", p.URL)
		case r.URL.Path == "/sitemap.xml":
			fmt.Fprintf(w, `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>%[1]s/sitemap.xml</loc></sitemap><sitemap><loc>%[1]s/pages.xml</loc></sitemap></sitemapindex>`, p.URL)
		case r.URL.Path == "/pages.xml":
			fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>%[1]s/listed</loc></url><url><loc>%[1]s/pages.xml</loc></url></urlset>`, p.URL)
		case r.URL.Path == "/":
			page("/about", "/secret/plan", "/inward", "/calendar?day=1", "/missing")
		case r.URL.Path == "/about", r.URL.Path == "/listed", strings.HasPrefix(r.URL.Path, "/secret"):
			page("/")
		case r.URL.Path == "/inward":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		case r.URL.Path == "/calendar":
			page(r.URL.RequestURI() + "1")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	crawl := client.NewImport{Source: client.ImportSource{Type: "crawl", URI: site.URL + "/", Options: map[string]any{"delay_ms": 1, "max_pages": 40}}}
	i := s.runImport(t, crawl)
	if i.Status != "completed" || i.Failed > 0 || i.Published < 3 || i.Published > 40 {
		t.Errorf("the crawl is %s with %+v: %v", i.Status, countsOf(i), i.Failures)
	}
	documents := s.imported(t)
	for _, path := range []string{"/", "/about", "/listed"} {
		if d := documents[site.URL+path]; d.Status != knowledge.StatusPublished {
			t.Errorf("page %s is %q", path, d.Status)
		}
	}
	for id := range documents {
		if strings.Contains(id, "secret") || strings.Contains(id, "inward") || strings.Contains(id, "10.0.0.1") || strings.Contains(id, "missing") {
			t.Errorf("%s became a document", id)
		}
	}
	for _, path := range site.paths() {
		if strings.HasPrefix(path, "/secret") {
			t.Errorf("the crawl asked for %s, which robots.txt forbids", path)
		}
	}
	if site.asked["/sitemap.xml"] > 2 || site.asked["/pages.xml"] > 3 {
		t.Errorf("the sitemaps were read again and again: %v", site.asked)
	}
	again := s.runImport(t, crawl)
	if again.Status != "completed" || again.Published > 0 || again.Skipped != i.Published {
		t.Errorf("the second crawl is %s with %+v", again.Status, countsOf(again))
		for id, d := range s.imported(t) {
			if d.Version > 1 || documents[id].ID == "" {
				t.Errorf("%s has version %d", id, d.Version)
			}
		}
	}
}

// TestHostileBucket: whatever a bucket answers, the documents of it stay.
func TestHostileBucket(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	const objects = 1100 // two pages
	b.fill("notes/", objects)
	s := startForImports(t)
	notes := client.NewImport{Source: b.source("notes/")}
	notes.RemoveVanished = true
	wantCounts(t, s.runImport(t, notes), counts{discovered: objects, published: objects})

	t.Run("that refuses its listing fails the import", func(t *testing.T) {
		b.fail(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
		s.wantFailedImport(t, notes, objects)
	})
	t.Run("that refuses the second page removes nothing", func(t *testing.T) {
		b.fail(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("continuation-token") != "" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			b.inner.ServeHTTP(w, r)
		})
		s.wantFailedImport(t, notes, objects)
	})
	t.Run("that is down or sends half a listing is asked again", func(t *testing.T) {
		var mu sync.Mutex
		asked := 0
		b.fail(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked++
			now := asked
			mu.Unlock()
			switch {
			case now <= 4:
				w.WriteHeader(http.StatusServiceUnavailable)
			case now == 5 || now == 6:
				whole := httptest.NewRecorder()
				b.inner.ServeHTTP(whole, r)
				w.Header().Set("Content-Length", fmt.Sprint(whole.Body.Len()))
				_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2]) // the connection is closed then
			default:
				b.inner.ServeHTTP(w, r)
			}
		})
		wantCounts(t, s.runImport(t, notes), counts{discovered: objects, skipped: objects})
	})
	b.takeReads()
	t.Run("whose object changes or vanishes after the listing", func(t *testing.T) {
		changing, vanishing := b.key("notes/", 8), b.key("notes/", 9)
		b.put(changing, objectText("notes/", 8, "second"))
		b.put(vanishing, objectText("notes/", 9, "second"))
		var once sync.Once
		b.fail(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/shelf/notes/") {
				once.Do(func() {
					b.put(changing, objectText("notes/", 8, "third"))
					b.remove(vanishing)
				})
			}
			b.inner.ServeHTTP(w, r)
		})
		i := s.runImport(t, notes)
		wantCounts(t, i, counts{discovered: objects, published: 1, skipped: objects - 2, failed: 1})
		if got := s.failureCodes(t, i)["000/0009.txt"]; got != knowledge.CodeNotFound {
			t.Errorf("the object that vanished failed with %q", got)
		}
		documents := s.imported(t)
		s.wantObject(t, documents, b.externalID(changing), "third", 2)
		b.fail(nil)
		wantCounts(t, s.runImport(t, notes), counts{discovered: objects - 1, skipped: objects - 1, vanished: 1, deleted: 1})
		s.awaitGone(t, documents[b.externalID(vanishing)].ID)
	})
}

// wantFailedImport checks that an import fails because the bucket refuses it, and that
// all documents stay.
func (s *server) wantFailedImport(t *testing.T, n client.NewImport, documents int) {
	t.Helper()
	i := s.runImport(t, n)
	if i.Status != "failed" || i.Error == nil || i.Error.Code != knowledge.CodeForbidden || i.Failed+i.Deleted+i.Vanished > 0 {
		t.Errorf("the import is %s, %v with %+v", i.Status, i.Error, countsOf(i))
	}
	if got := len(s.names(t)); got != documents {
		t.Errorf("%d documents are left of %d", got, documents)
	}
}
