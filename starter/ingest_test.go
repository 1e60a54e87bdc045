package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shelf is a server that accepts documents. It refuses .zip files and names
// with "odd", fails names with "bad", imports those that begin with "import", knows those
// that begin with "same" or "pending", unless it is forced, and publishes the rest.
type shelf struct {
	mu       sync.Mutex
	accepted []string // external ids, with their tags
	versions map[string]int
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/files"):
		s.file(w, r)
	case strings.HasSuffix(r.URL.Path, "/webhooks/document"):
		var body struct {
			ExternalID string
			Content    struct{ URL string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.accept(body.ExternalID + " <- " + body.Content.URL)
		w.Header().Set("Cairn-Run-Id", "run-of-"+filepath.Base(body.ExternalID))
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"id":"d","name":"page","status":"pending"}`)
	case strings.Contains(r.URL.Path, "/imports/"):
		failed := strings.Count(r.URL.Path, "bad")
		fmt.Fprintf(w, `{"id":"i","failed":%d,"status":"completed","discovered":3,"published":%d,"skipped":1,"failures":[]}`, failed, 2-failed)
	case strings.HasSuffix(r.URL.Path, "/events"):
		w.Header().Set("Content-Type", "text/event-stream")
		if strings.Contains(r.URL.Path, "bad") {
			fmt.Fprint(w, "id: 1\nevent: runEnded\ndata: {\"status\":\"failed\",\"error\":{\"code\":\"corrupt\",\"stage\":\"extract\",\"message\":\"it is damaged\"}}\n\n")
			return
		}
		fmt.Fprint(w, "id: 1\nevent: runEnded\ndata: {\"status\":\"completed\",\"result\":{\"id\":\"d\",\"status\":\"published\",\"chunkCount\":3}}\n\n")
	}
}

func (s *shelf) accept(id string) (version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted = append(s.accepted, id)
	if s.versions == nil {
		s.versions = map[string]int{}
	}
	s.versions[id]++
	return s.versions[id]
}

func (s *shelf) file(w http.ResponseWriter, r *http.Request) {
	form, err := r.MultipartReader()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	externalID, tags, name, force := readForm(form)
	if strings.HasPrefix(name, "import") {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"documents":[],"import":{"id":"i-%s","run_id":"run-of-import","status":"running"}}`, name)
		return
	}
	if strings.HasSuffix(name, ".zip") {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnsupportedMediaType)
		fmt.Fprint(w, `{"code":"unsupported_format","detail":"archives are not read"}`)
		return
	}
	if strings.Contains(name, "odd") {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"code":"malformed","detail":"it cannot be read"}`)
		return
	}
	published := map[bool]int{true: 3}[strings.HasPrefix(name, "same")]
	if !force && (published > 0 || strings.HasPrefix(name, "pending")) {
		w.Header().Set("Cairn-Run-Id", "run-of-"+name)
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"documents":[{"id":"d","externalId":%q,"name":%q,"status":"pending","version":3,"publishedVersion":%d,"unchanged":true}],"import":null}`, externalID, name, published)
		return
	}
	version := s.accept(externalID + tags)
	w.Header().Set("Cairn-Run-Id", "run-of-"+name)
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"documents":[{"id":"d","externalId":%q,"name":%q,"status":"pending","version":%d}],"import":null}`, externalID, name, version)
}

func readForm(form *multipart.Reader) (externalID, tags, name string, force bool) {
	for {
		part, err := form.NextPart()
		if err != nil {
			return externalID, tags, name, force
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return externalID, tags, name, force
		}
		switch part.FormName() {
		case "externalId":
			externalID = string(content)
		case "force":
			force = string(content) == "true"
		case "tags", "override":
			tags += " " + string(content)
		case "files":
			name = part.FileName()
		}
	}
}

func writeFiles(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestIngest(t *testing.T) {
	t.Parallel()

	t.Run("unchanged_files_are_counted", func(t *testing.T) {
		t.Parallel()
		_, flags := startShelf(t)
		args := append([]string{"ingest", writeFiles(t, "a.md", "pending.md", "same.md")}, flags...)
		code, stdout, stderr := command(t, args...)
		if code != exitDone || stderr != "1 accepted, 2 unchanged, 0 skipped, 0 failed\n" {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
		if !strings.Contains(stdout, "unchanged  same.md  d\n") || !strings.Contains(stdout, "unchanged  pending.md  d, which is pending\n") {
			t.Errorf("stdout:\n%s", stdout)
		}
		if _, _, stderr := command(t, append(args, "--wait")...); stderr != "2 published, 1 unchanged, 0 skipped, 0 failed; new versions of existing documents: 1\n" {
			t.Errorf("with --wait: stderr %q", stderr)
		}
		if _, _, stderr := command(t, append(args, "--force")...); stderr != "3 accepted, 0 skipped, 0 failed; new versions of existing documents: 1\n" {
			t.Errorf("with --force: stderr %q", stderr)
		}
	})

	t.Run("an_archive_is_imported", func(t *testing.T) {
		t.Parallel()
		_, flags := startShelf(t)
		code, stdout, stderr := command(t, append([]string{"ingest", writeFiles(t, "a.md", "import.zip", "import-bad.zip"), "--wait"}, flags...)...)
		if code != exitFailed || !strings.Contains(stderr, "4 published, 2 skipped, 1 failed") || !strings.Contains(stderr, "1 of 7 documents failed") || !strings.Contains(stdout, "published  import.zip  import i: 2 published, 1 skipped, 0 failed\n") ||
			!strings.Contains(stdout, "failed     import-bad.zip  1 of 3 objects failed") {
			t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
		}
	})

	t.Run("a_document_that_fails_is_exit_code_1", func(t *testing.T) {
		t.Parallel()
		_, flags := startShelf(t)
		code, stdout, _ := command(t, append([]string{"ingest", writeFiles(t, "a.md", "bad.md"), "--wait"}, flags...)...)
		if code != exitFailed || !strings.Contains(stdout, "failed     bad.md  corrupt at extract: it is damaged\n") || !strings.Contains(stdout, "published  a.md") {
			t.Errorf("exit code %d, stdout:\n%s", code, stdout)
		}
	})

	t.Run("only_unsupported_files_is_exit_code_1", func(t *testing.T) {
		t.Parallel()
		_, flags := startShelf(t)
		code, _, stderr := command(t, append([]string{"ingest", writeFiles(t, "a.zip", "b.zip")}, flags...)...)
		if code != exitFailed || !strings.Contains(stderr, "0 failed") {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
	})

	t.Run("an_address_is_fetched_by_the_server", func(t *testing.T) {
		t.Parallel()
		s, flags := startShelf(t)
		code, _, stderr := command(t, append([]string{"ingest", "https://example.org/a.html", "--external-id", "page"}, flags...)...)
		if code != exitDone {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
		if diff := cmp.Diff([]string{"page <- https://example.org/a.html"}, s.accepted); diff != "" {
			t.Errorf("documents (-want +got):\n%s", diff)
		}
	})

	t.Run("json_has_each_outcome_and_nothing_else", func(t *testing.T) {
		t.Parallel()
		_, flags := startShelf(t)
		code, stdout, _ := command(t, append([]string{"ingest", writeFiles(t, "a.md", "b.zip"), "--wait", "--json"}, flags...)...)
		var got struct {
			Documents []struct{ Name, Outcome string }
			Published int
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitDone {
			t.Fatalf("exit code %d, %v:\n%s", code, err, stdout)
		}
		if got.Published != 1 || len(got.Documents) != 2 || got.Documents[1].Outcome != "skipped" {
			t.Errorf("got %+v", got)
		}
	})

	t.Run("an_empty_folder_is_exit_code_1", func(t *testing.T) {
		t.Parallel()
		if code, _, stderr := command(t, "ingest", t.TempDir()); code != exitFailed || !strings.Contains(stderr, "no files") {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
		code, stdout, _ := command(t, "ingest", t.TempDir(), "--json")
		var got struct{ Documents []struct{} }
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Documents == nil || code != exitFailed {
			t.Errorf("exit code %d, %v, stdout %q", code, err, stdout)
		}
	})
}

// TestPasswordsOfIngest: the password of encrypted files is sent, and read from standard input for -.
func TestPasswordsOfIngest(t *testing.T) {
	t.Parallel()
	s, flags := startShelf(t)
	if code, _, stderr := command(t, append([]string{"ingest", writeFiles(t, "a.pdf"), "--password", "geheim"}, flags...)...); code != exitDone || len(s.accepted) != 1 || s.accepted[0] != `a.pdf {"password":"geheim"}` {
		t.Errorf("exit code %d, %s, accepted %q", code, stderr, s.accepted)
	}
	if password, err := documentPassword("-", strings.NewReader("geheim\nmore")); err != nil || password != "geheim" {
		t.Errorf("%q, %v", password, err)
	}
	if _, err := documentPassword("-", strings.NewReader("\n")); err == nil {
		t.Error("an empty password is taken")
	}
}

func TestIngestOfFolders(t *testing.T) {
	t.Parallel()

	t.Run("a_folder_is_walked_and_its_files_are_named_by_their_paths", func(t *testing.T) {
		t.Parallel()
		s, flags := startShelf(t)
		dir := writeFiles(t, "a.md", "sub/b.md", ".hidden", ".git/config", "c.zip")
		code, stdout, stderr := command(t, append([]string{"ingest", dir, "--wait", "--tag", "x"}, flags...)...)
		if code != exitDone || stderr != "2 published, 1 skipped, 0 failed; hidden files left out: 2\n" {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
		slices.Sort(s.accepted)
		if diff := cmp.Diff([]string{`a.md ["x"]`, `sub/b.md ["x"]`}, s.accepted); diff != "" {
			t.Errorf("external ids (-want +got):\n%s", diff)
		}
		if !strings.Contains(stdout, "published  sub/b.md  3 chunks\n") || !strings.Contains(stdout, "skipped    c.zip  unsupported_format: archives are not read\n") {
			t.Errorf("stdout:\n%s", stdout)
		}
	})

	t.Run("a_file_that_cairnignore_names_is_left_out", func(t *testing.T) {
		t.Parallel()
		s, flags := startShelf(t)
		dir := writeFiles(t, "a.md", "drafts/b.md", "drafts/keep.md", "c.log", ".hidden")
		if err := os.WriteFile(filepath.Join(dir, ".cairnignore"), []byte("*.log\ndrafts/*\n!keep.md\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := command(t, append([]string{"ingest", dir}, flags...)...)
		if code != exitDone || stderr != "2 accepted, 0 skipped, 0 failed; hidden files left out: 2; left out by .cairnignore: 2\n" {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
		slices.Sort(s.accepted)
		if diff := cmp.Diff([]string{"a.md", "drafts/keep.md"}, s.accepted); diff != "" {
			t.Errorf("external ids (-want +got):\n%s", diff)
		}
	})

	t.Run("links_to_files_are_followed_and_other_links_are_listed", func(t *testing.T) {
		t.Parallel()
		s, flags := startShelf(t)
		dir := writeFiles(t, "a.md", "sub/b.md")
		for name, target := range map[string]string{"link.md": "sub/b.md", "loop": ".", "lost": "nowhere"} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := command(t, append([]string{"ingest", link}, flags...)...)
		if code != exitDone || stderr != "3 accepted, 2 skipped, 0 failed\n" {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
		slices.Sort(s.accepted)
		if diff := cmp.Diff([]string{"a.md", "link.md", "sub/b.md"}, s.accepted); diff != "" {
			t.Errorf("external ids (-want +got):\n%s", diff)
		}
		if !strings.Contains(stdout, "skipped    loop  it is a link to a folder\n") || !strings.Contains(stdout, "skipped    lost  it is a broken link") {
			t.Errorf("stdout:\n%s", stdout)
		}
	})

	t.Run("a_folder_inside_that_cannot_be_read_fails_alone", func(t *testing.T) {
		t.Parallel()
		s, flags := startShelf(t)
		dir := writeFiles(t, "a.md", "z.md")
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		// No user, not even root, can open a path that is too long for the system.
		err = root.MkdirAll(strings.Repeat(strings.Repeat("d", 250)+"/", 20), 0o700)
		if err := errors.Join(err, root.Close()); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := command(t, append([]string{"ingest", dir}, flags...)...)
		if code != exitFailed || !strings.Contains(stderr, "1 of 3 documents failed") || !strings.Contains(stdout, "file name too long") {
			t.Errorf("exit code %d, stderr %q, stdout:\n%s", code, stderr, stdout)
		}
		slices.Sort(s.accepted)
		if diff := cmp.Diff([]string{"a.md", "z.md"}, s.accepted); diff != "" {
			t.Errorf("external ids (-want +got):\n%s", diff)
		}
	})
}

func TestExternalIDsOfIngest(t *testing.T) {
	t.Parallel()

	t.Run("a_name_that_is_not_utf8_fails_alone", func(t *testing.T) {
		t.Parallel()
		s, flags := startShelf(t)
		dir := writeFiles(t, "a.md", "caf\xe9.md", "odd.md", "z.md")
		code, stdout, stderr := command(t, append([]string{"ingest", dir}, flags...)...)
		if code != exitFailed || !strings.Contains(stderr, "2 of 4 documents failed") {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
		slices.Sort(s.accepted)
		if diff := cmp.Diff([]string{"a.md", "z.md"}, s.accepted); diff != "" {
			t.Errorf("external ids (-want +got):\n%s", diff)
		}
		if !strings.Contains(stdout, "failed     caf\ufffd.md  its name is not UTF-8: rename it") || !strings.Contains(stdout, "failed     odd.md  malformed: it cannot be read\n") {
			t.Errorf("stdout:\n%s", stdout)
		}
	})

	t.Run("an_external_id_stands_for_a_name_that_is_not_utf8", func(t *testing.T) {
		t.Parallel()
		s, flags := startShelf(t)
		file := filepath.Join(writeFiles(t, "caf\xe9.md"), "caf\xe9.md")
		code, stdout, stderr := command(t, append([]string{"ingest", file, "--external-id", "coffee"}, flags...)...)
		if code != exitDone || !slices.Equal(s.accepted, []string{"coffee"}) || !strings.Contains(stdout, "accepted   caf\ufffd.md") {
			t.Errorf("exit code %d, took %q, stdout %q, stderr %q", code, s.accepted, stdout, stderr)
		}
	})

	t.Run("two_documents_with_one_external_id_are_wrong_use", func(t *testing.T) {
		t.Parallel()
		code, _, stderr := command(t, "ingest", writeFiles(t, "a.md"), writeFiles(t, "a.md"))
		if code != exitUsage || !strings.Contains(stderr, `"a.md"`) || !strings.Contains(stderr, "--prefix") {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
	})

	t.Run("an_existing_document_is_reported_with_its_new_version", func(t *testing.T) {
		t.Parallel()
		_, flags := startShelf(t)
		for _, want := range []struct{ stdout, stderr string }{
			{"accepted   README.md  d\n", "1 accepted, 0 skipped, 0 failed\n"},
			{"accepted   README.md  d, version 2 of README.md\n", "1 accepted, 0 skipped, 0 failed; new versions of existing documents: 1\n"},
		} {
			code, stdout, stderr := command(t, append([]string{"ingest", writeFiles(t, "README.md")}, flags...)...)
			if code != exitDone || stdout != want.stdout || stderr != want.stderr {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
			}
		}
		code, stdout, _ := command(t, append([]string{"ingest", writeFiles(t, "README.md"), "--wait"}, flags...)...)
		if want := "published  README.md  3 chunks, version 3 of README.md\n"; code != exitDone || stdout != want {
			t.Errorf("exit code %d, stdout %q, want %q", code, stdout, want)
		}
	})

	t.Run("a_prefix_keeps_two_folders_apart", func(t *testing.T) {
		t.Parallel()
		s, flags := startShelf(t)
		for _, prefix := range []string{"a/", "c/"} {
			code, stdout, stderr := command(t, append([]string{"ingest", writeFiles(t, "README.md"), "--prefix", prefix}, flags...)...)
			if code != exitDone || stdout != "accepted   README.md  d\n" {
				t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		}
		if diff := cmp.Diff([]string{"a/README.md", "c/README.md"}, s.accepted); diff != "" {
			t.Errorf("external ids (-want +got):\n%s", diff)
		}
	})

	t.Run("a_prefix_and_an_external_id_are_wrong_use", func(t *testing.T) {
		t.Parallel()
		if code, _, stderr := command(t, "ingest", writeFiles(t, "a.md"), "--prefix", "p", "--external-id", "x"); code != exitUsage {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
	})

	t.Run("one_external_id_for_two_documents_is_wrong_use", func(t *testing.T) {
		t.Parallel()
		code, _, stderr := command(t, "ingest", writeFiles(t, "a.md", "b.md"), "--external-id", "x")
		if code != exitUsage {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
	})
}

func startShelf(t *testing.T) (*shelf, []string) {
	s := &shelf{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, []string{"--url", server.URL, "--key", "k"}
}

// TestAnInterruptedIngestionReportsItsOutcomes stops an ingestion at its second
// upload: by an interruption, and by an error that every upload would get.
func TestAnInterruptedIngestionReportsItsOutcomes(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, second http.HandlerFunc) []string {
		var uploads atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/events"):
				hold("")(w, r) // the first document is never published
			case uploads.Add(1) == 1:
				(&shelf{}).ServeHTTP(w, r)
			default:
				second(w, r)
			}
		}))
		t.Cleanup(server.Close)
		return []string{"ingest", writeFiles(t, "a.md", "b.md", "c.md"), "--parallel", "1", "--url", server.URL, "--key", "k"}
	}
	for name, flags := range map[string][]string{"while_sending": nil, "while_waiting_too": {"--wait"}} {
		t.Run("interrupted_"+name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			args := append(start(t, func(_ http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil { // otherwise the server does not notice the end of the connection
					t.Error(err)
				}
				cancel()
				<-r.Context().Done()
			}), flags...)
			var stderr bytes.Buffer
			code := run(ctx, &app{stdout: io.Discard, stderr: &stderr}, args)
			want := "1 accepted, 0 skipped, 0 failed, 2 not sent\nThe server continues with the accepted documents.\ncairn: interrupted\n"
			if diff := cmp.Diff(want, stderr.String()); code != exitInterrupted || diff != "" {
				t.Errorf("exit code %d, stderr (-want +got):\n%s", code, diff)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		code, stdout, stderr := command(t, append(start(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"code":"unauthorized","detail":"the key is not known"}`)
		}), "--json")...)
		var got struct {
			Documents                    []struct{ Outcome string }
			Accepted, NotSent, Published int
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Documents) != 3 || got.Accepted != 1 || got.NotSent != 2 {
			t.Errorf("%v, stdout %s", err, stdout)
		}
		if code != exitFailed || !strings.Contains(stderr, "the key is not known") {
			t.Errorf("exit code %d, stderr %q", code, stderr)
		}
	})
}
