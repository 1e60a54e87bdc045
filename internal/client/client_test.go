package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	t.Run("a_problem_becomes_a_typed_error", func(t *testing.T) {
		t.Parallel()
		_, c := play(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			problem(http.StatusUnprocessableEntity, `{"type":"about:blank","title":"Unprocessable","status":422,"code":"invalid",
				"detail":"a field is wrong","errors":[{"location":"body.name","message":"is too long"}]}`)(w, r)
		})
		_, err := c.CreateKey(t.Context(), client.NewKey{Name: "a"})
		got, ok := errors.AsType[*client.Error](err)
		if !ok {
			t.Fatalf("got %v, want *client.Error", err)
		}
		want := &client.Error{Status: 422, Code: knowledge.CodeInvalid, Title: "Unprocessable", Detail: "a field is wrong",
			Fields: []knowledge.Field{{Location: "body.name", Message: "is too long"}}, RetryAfter: 7 * time.Second}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
		if text := err.Error(); !strings.Contains(text, "body.name: is too long") {
			t.Errorf("the error %q does not name the field", text)
		}
	})

	t.Run("an_answer_of_another_server_keeps_its_status", func(t *testing.T) {
		t.Parallel()
		_, c := play(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, "<h1>nginx</h1>")
		})
		_, err := c.Run(t.Context(), "r")
		got, ok := errors.AsType[*client.Error](err)
		if !ok || got.Status != http.StatusBadGateway || !got.Temporary() || strings.Contains(err.Error(), "nginx") {
			t.Errorf("got %v, want a temporary 502 without the page", err)
		}
	})

	t.Run("a_field_in_the_detail_is_not_repeated", func(t *testing.T) {
		t.Parallel()
		err := &client.Error{Code: "invalid", Detail: "body.text must not be empty", Fields: []knowledge.Field{{Location: "body.text", Message: "must not be empty"}}}
		if got := err.Error(); got != "invalid: body.text must not be empty" {
			t.Errorf("got %q", got)
		}
	})

	t.Run("a_key_with_a_line_break_is_refused", func(t *testing.T) {
		t.Parallel()
		_, err := client.New(client.Config{URL: "http://cairn.test", Key: "cairn_k\n"})
		if err == nil || !strings.Contains(err.Error(), "the key contains a line break") {
			t.Errorf("got %v", err)
		}
	})

	t.Run("a_malformed_address_is_refused", func(t *testing.T) {
		t.Parallel()
		for _, address := range []string{"", "127.0.0.1:8080", "ftp://host", "http://"} {
			if _, err := client.New(client.Config{URL: address}); err == nil {
				t.Errorf("New accepted %q", address)
			}
		}
	})
}

func TestErrorsOfOtherServers(t *testing.T) {
	t.Parallel()

	t.Run("no_server_is_recognised", func(t *testing.T) {
		t.Parallel()
		c, err := client.New(client.Config{URL: "http://cairn.test", HTTP: &http.Client{Transport: transport(
			func(*http.Request) (*http.Response, error) { return nil, errDial })}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Document(t.Context(), "d")
		if !errors.Is(err, client.ErrNoServer) {
			t.Errorf("got %v, want ErrNoServer", err)
		}
	})

	t.Run("a_silent_server_is_ErrNoServer", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice the end of the connection
			<-r.Context().Done()
		}))
		t.Cleanup(server.Close)
		c, err := client.New(client.Config{URL: server.URL, Silence: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Document(t.Context(), "d")
		if !errors.Is(err, client.ErrNoServer) {
			t.Errorf("a document: %v, want ErrNoServer", err)
		}
		_, err = gather(c.Ask(t.Context(), client.Question{Text: "why?"}))
		if !errors.Is(err, client.ErrNoServer) {
			t.Errorf("a question: %v, want ErrNoServer", err)
		}
	})

	t.Run("another_server_is_reported_as_not_Cairn", func(t *testing.T) {
		t.Parallel()
		page := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<!DOCTYPE html><p>Welcome") }
		_, c := play(t, page, page, page)
		_, err := c.Document(t.Context(), "d")
		_, asked := gather(c.Ask(t.Context(), client.Question{Text: "why?"}))
		_, followed := gather(c.Events(t.Context(), "run-1", 0))
		for _, err := range []error{err, asked, followed} {
			if err == nil || !strings.Contains(err.Error(), "is not a Cairn server") {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestRequestsCarryKeyAndWorkspace(t *testing.T) {
	t.Parallel()
	s, c := play(t, answerJSON(http.StatusOK, `{}`))
	if _, err := c.Document(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	r := s.requests()[0]
	got := []string{r.URL.EscapedPath(), r.Header.Get("Authorization"), r.Header.Get("Cairn-Workspace")}
	if diff := cmp.Diff([]string{"/workspaces/default/documents/a%2Fb", "Bearer cairn_test", "default"}, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestUploadFile(t *testing.T) {
	t.Parallel()
	t.Run("the_fields_come_before_the_file", func(t *testing.T) {
		t.Parallel()
		var parts []string
		s, c := play(t, func(w http.ResponseWriter, r *http.Request) {
			form, err := r.MultipartReader()
			if err != nil {
				t.Error(err)
				return
			}
			for {
				part, err := form.NextPart()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Error(err)
					return
				}
				content, err := io.ReadAll(part)
				if err != nil {
					t.Error(err)
				}
				parts = append(parts, fmt.Sprintf("%s %s %s", part.FormName(), part.FileName(), content))
			}
			w.Header().Set("Cairn-Run-Id", "run-1")
			answerJSON(202, `{"documents":[{"id":"d1","name":"a.md","status":"pending","version":1}],"import":null}`)(w, r)
		})
		d, err := c.UploadFile(t.Context(), client.Upload{Project: "p", Name: "a.md", ExternalID: "docs/a.md",
			Tags: []string{"x", "y"}, Open: opens(strings.NewReader("# A"))})
		if err != nil {
			t.Fatal(err)
		}
		want := client.Document{ID: "d1", Name: "a.md", Status: "pending", Version: 1, RunID: "run-1"}
		if diff := cmp.Diff(want, d, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(client.Document{}, "Raw")); diff != "" {
			t.Errorf("document (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"externalId  docs/a.md", `tags  ["x","y"]`, "files a.md # A"}, parts); diff != "" {
			t.Errorf("form (-want +got):\n%s", diff)
		}
		if got := s.requests()[0].URL.Path; got != "/workspaces/default/projects/p/files" {
			t.Errorf("path %s", got)
		}
	})

	t.Run("a_transcript_comes_behind_its_recording", func(t *testing.T) {
		t.Parallel()
		var names []string
		_, c := play(t, func(w http.ResponseWriter, r *http.Request) {
			if err := r.ParseMultipartForm(1 << 20); err != nil {
				t.Error(err)
				return
			}
			for _, f := range r.MultipartForm.File["files"] {
				names = append(names, f.Filename)
			}
			answerJSON(202, `{"documents":[{"id":"d1","name":"talk.mp3"}],"import":null}`)(w, r)
		})
		_, err := c.UploadFile(t.Context(), client.Upload{
			Project: "p", Name: "talk.mp3", Open: opens(strings.NewReader("sound")),
			Transcript: &client.Transcript{Name: "talk.vtt", Open: opens(strings.NewReader("WEBVTT"))},
		})
		if diff := cmp.Diff([]string{"talk.mp3", "talk.vtt"}, names); diff != "" || err != nil {
			t.Errorf("%s%v", diff, err)
		}
	})

	t.Run("an_archive_becomes_an_import", func(t *testing.T) {
		t.Parallel()
		const answer = `{"documents":[],"import":{"id":"i1","run_id":"r1","status":"running","new":1}}`
		_, c := play(t, answerJSON(202, answer), answerJSON(202, answer))
		u := client.Upload{Project: "p", Name: "a.zip", Choice: &client.ImportChoice{DryRun: true}, Open: opens(strings.NewReader("PK"))}
		got, err := c.Upload(t.Context(), u)
		if err != nil || got.Document != nil || got.Import == nil || got.Import.ID != "i1" || got.Import.RunID != "r1" {
			t.Errorf("got %+v, %v", got, err)
		}
		if _, err := c.UploadFile(t.Context(), u); err == nil || !strings.Contains(err.Error(), "import i1") {
			t.Errorf("as a document: %v", err)
		}
	})
}

func TestUploadFileAgain(t *testing.T) {
	t.Parallel()

	t.Run("a_repeated_upload_is_the_same_request", func(t *testing.T) {
		t.Parallel()
		var bodies []string
		_, c := play(t, record(t, &bodies, status(http.StatusServiceUnavailable)), record(t, &bodies, answerJSON(202, `{"documents":[{"id":"d1"}]}`)))
		opened := 0
		_, err := c.UploadFile(t.Context(), client.Upload{Project: "p", Name: "a.md", Open: func() (io.ReadCloser, error) {
			opened++
			return io.NopCloser(strings.NewReader("# A")), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if opened != 2 || len(bodies) != 2 || bodies[0] != bodies[1] {
			t.Errorf("opened %d times, sent %q; want the same twice", opened, bodies)
		}
	})
}

func TestUploadFileThatFails(t *testing.T) {
	t.Parallel()

	t.Run("a_file_that_cannot_be_read_is_not_a_lost_connection", func(t *testing.T) {
		t.Parallel()
		damaged := &fs.PathError{Op: "read", Path: "/a.md", Err: errors.New("input/output error")}
		tries := 0
		_, c := play(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
		_, err := c.UploadFile(t.Context(), client.Upload{Project: "p", Name: "a.md", Open: func() (io.ReadCloser, error) {
			tries++
			return io.NopCloser(io.MultiReader(strings.NewReader("# A"), iotest.ErrReader(damaged))), nil
		}})
		if !errors.Is(err, damaged) || tries != 1 || strings.Contains(err.Error(), "connection") {
			t.Errorf("got %v after %d tries; want the file's error after one", err, tries)
		}
	})

	t.Run("a_refusal_before_the_end_of_the_file_is_returned", func(t *testing.T) {
		t.Parallel()
		_, c := play(t, problem(http.StatusUnsupportedMediaType, `{"code":"unsupported_format","detail":"not a format that is read"}`))
		content := io.LimitReader(zeros{}, 8<<20) // the server stops reading long before its end
		_, err := c.UploadFile(t.Context(), client.Upload{Project: "p", Name: "a.zip", Open: opens(content)})
		if !client.IsCode(err, knowledge.CodeUnsupportedFormat) {
			t.Errorf("got %v, want unsupported_format", err)
		}
	})
}

// record records the body and the Idempotency-Key of a request and calls next.
func record(t *testing.T, bodies *[]string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*bodies = append(*bodies, string(sent)+r.Header.Get("Idempotency-Key"))
		next(w, r)
	}
}

func opens(r io.Reader) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(r), nil }
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestAsk(t *testing.T) {
	t.Parallel()
	started := event(1, client.EventStarted, `{"runId":"run-1"}`)

	t.Run("a_cut_answer_is_resumed_from_its_run", func(t *testing.T) {
		t.Parallel()
		s, c := play(t, stream(true, started, chunk(2, "one ")),
			stream(false, event(3, client.EventReset, `{"attempt":2,"reason":"retry"}`), chunk(4, "two"), event(5, client.EventCompleted, `{}`)))
		seen, err := gather(c.Ask(t.Context(), client.Question{Text: "why?", Project: "p"}))
		if err != nil {
			t.Fatal(err)
		}
		wantEvents(t, seen, "1 runStarted", "2 apiMessageChunk", "3 messageReset", "4 apiMessageChunk", "5 completedMessage")
		if got := s.requests()[1]; got.Method != "GET" || got.URL.Path != "/runs/run-1/events" || got.Header.Get("Last-Event-ID") != "2" {
			t.Errorf("reconnected with %s %s, Last-Event-ID %q", got.Method, got.URL, got.Header.Get("Last-Event-ID"))
		}
	})

	t.Run("a_repeated_question_is_the_same_request", func(t *testing.T) {
		t.Parallel()
		var bodies []string
		_, c := play(t, record(t, &bodies, status(http.StatusServiceUnavailable)), record(t, &bodies, stream(false, started, event(2, client.EventCompleted, `{}`))))
		if _, err := gather(c.Ask(t.Context(), client.Question{Text: "why?"})); err != nil {
			t.Fatal(err)
		}
		if len(bodies) != 2 || bodies[0] != bodies[1] || !strings.Contains(bodies[0], `"sse":true`) {
			t.Errorf("sent %q, want the same twice", bodies)
		}
	})

	t.Run("without_a_server_the_error_is_returned_at_once", func(t *testing.T) {
		t.Parallel()
		tries := 0
		c, err := client.New(client.Config{URL: "http://cairn.test", HTTP: &http.Client{Transport: transport(
			func(*http.Request) (*http.Response, error) { tries++; return nil, errDial })}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = gather(c.Ask(t.Context(), client.Question{Text: "why?"}))
		if !errors.Is(err, client.ErrNoServer) || tries != 1 {
			t.Errorf("got %v after %d tries; want ErrNoServer after one", err, tries)
		}
	})
}

func TestBoxesAreReadInEachForm(t *testing.T) {
	t.Parallel()
	box := knowledge.Box{X1: 1, Y1: 2, X2: 3, Y2: 4}
	for text, want := range map[string]client.Boxes{
		`null`:                                 nil,
		`[]`:                                   {},
		`[1,2,3,4]`:                            {{Box: box}},
		`[{"bbox":[1,2,3,4],"page_number":7}]`: {{Page: 7, Box: box}},
	} {
		var got client.Boxes
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if err := json.Unmarshal([]byte(`"x"`), new(client.Boxes)); err == nil {
		t.Error("a string was accepted as boxes")
	}
}

// TestAskWithFiles sends a form, which is the same at every try.
func TestAskWithFiles(t *testing.T) {
	t.Parallel()
	var sent []string
	read := func(w http.ResponseWriter, r *http.Request) {
		form, err := r.MultipartReader()
		if err != nil {
			t.Errorf("request: %v", err)
			return
		}
		var parts []string
		for part, err := form.NextPart(); err == nil; part, err = form.NextPart() {
			value, readErr := io.ReadAll(part)
			parts = append(parts, fmt.Sprintf("%s %s %s %v", part.FormName(), part.FileName(), value, readErr))
		}
		sent = append(sent, r.Header.Get("Idempotency-Key")+strings.Join(parts, "\n"))
		if len(sent) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		stream(false, event(1, client.EventStarted, `{"runId":"run-1"}`), event(2, client.EventCompleted, `{}`))(w, r)
	}
	_, c := play(t, read, read)
	file := client.File{Name: "a.txt", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("one")), nil }}
	if _, err := gather(c.Ask(t.Context(), client.Question{Text: "why?", Documents: []string{"d"}, Files: []client.File{file}})); err != nil {
		t.Fatal(err)
	}
	want := "document_ids  [\"d\"] <nil>\nsse  true <nil>\ntext  why? <nil>\nfiles a.txt one <nil>"
	if len(sent) != 2 || sent[0] != sent[1] || !strings.HasSuffix(sent[0], want) {
		t.Errorf("sent %q", sent)
	}
	broken := client.File{Name: "a.txt", Open: func() (io.ReadCloser, error) { return nil, io.ErrNoProgress }}
	if _, err := gather(c.Ask(t.Context(), client.Question{Text: "why?", Files: []client.File{broken}})); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}
