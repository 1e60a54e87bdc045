package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// onPage serves a passage on two pages, a quotation on the second, and pictures that name
// what was asked for.
func onPage(t *testing.T, boxes string) string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /chunks/k-1", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("quote") == "leaks" {
			fmt.Fprint(w, `{"id":"k-1","found":true,"start":12,"end":17,"boxes":[{"page_number":4,"bbox":[64,60.5,99,72]},{"page_number":4,"bbox":[64,74,80,86]}]}`)
			return
		}
		fmt.Fprintf(w, `{"id":"k-1","document_id":"d-1","text":"The housing leaks.","page_number":3,"bbox":%s,"heading":[],"metadata":{"filename":"a.pdf"}}`, boxes)
	})
	mux.HandleFunc("GET /workspaces/default/documents/d-1/pages/{page}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, r.PathValue("page"), " ", r.URL.Query()["box"])
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

const twoPages = `[{"page_number":3,"bbox":[64,700,526,780]},{"page_number":4,"bbox":[64,60,526,90]}]`

func TestAPassageIsShownOnItsPage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		flags []string
		want  string
	}{
		{"the_passage", nil, "3.png [64,700,526,780]"},
		{"the_quotation", []string{"--quote", "leaks"}, "4.png [64,60.5,99,72 64,74,80,86]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var viewed string
			var stdout, stderr bytes.Buffer
			a := &app{stdout: &stdout, stderr: &stderr, view: func(_ context.Context, path string) { viewed = path }}
			args := append([]string{"chunks", "show", "k-1", "--open", "--json", "--url", onPage(t, twoPages), "--key", "k"}, test.flags...)
			code := run(t.Context(), a, args)
			var shown struct{ Picture string }
			if err := json.Unmarshal(stdout.Bytes(), &shown); err != nil || code != exitDone {
				t.Fatalf("%v, exit code %d, stderr %q", err, code, stderr.String())
			}
			t.Cleanup(func() { os.RemoveAll(shown.Picture) })
			picture, err := os.ReadFile(shown.Picture)
			if err != nil || string(picture) != test.want || viewed != shown.Picture {
				t.Errorf("%v, picture %q, want %q; viewed %q of %q", err, picture, test.want, viewed, shown.Picture)
			}
		})
	}
	t.Run("its_path_is_printed_where_there_is_no_viewer", func(t *testing.T) {
		t.Parallel()
		code, stdout, stderr := command(t, "chunks", "show", "k-1", "--open", "--url", onPage(t, twoPages), "--key", "k")
		_, path, _ := strings.Cut(stdout, "\nThe page: ")
		path = strings.TrimSpace(path)
		t.Cleanup(func() { os.RemoveAll(path) })
		if info, err := os.Stat(path); code != exitDone || err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, exit code %d, stdout %q, stderr %q", err, code, stdout, stderr)
		}
	})
	t.Run("a_format_without_pages_is_an_error", func(t *testing.T) {
		t.Parallel()
		code, _, stderr := command(t, "chunks", "show", "k-1", "--open", "--url", onPage(t, "[]"), "--key", "k")
		if code != exitFailed || !strings.Contains(stderr, "is on no page") {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
	})
}
