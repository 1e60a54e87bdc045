package origin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/origin"
	"github.com/cairn-rag/cairn/internal/origin/origintest"
)

// systems are the systems, each with how it is started and opened.
var systems = []struct {
	name  string
	start func(origintest.Options) *origintest.System
	open  func(cfg origin.Config, users ...string) (origin.System, error)
}{
	{"openwebui", origintest.NewOpenWebUI, func(cfg origin.Config, _ ...string) (origin.System, error) { return origin.NewOpenWebUI(cfg) }},
	{"dify", origintest.NewDify, func(cfg origin.Config, users ...string) (origin.System, error) {
		return origin.NewDify(origin.DifyConfig{Config: cfg, AppKey: origintest.AppKey, Users: users})
	}},
	{"ragflow", origintest.NewRAGFlow, func(cfg origin.Config, _ ...string) (origin.System, error) { return origin.NewRAGFlow(cfg) }},
}

// eachSystem runs a test with each system, as it is now and as older versions were.
func eachSystem(t *testing.T, o origintest.Options, test func(t *testing.T, fake *origintest.System, system origin.System)) {
	t.Helper()
	for _, s := range systems {
		for name, old := range map[string]bool{s.name: false, s.name + "_of_old": true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				o := o
				o.Old = old
				fake := s.start(o)
				t.Cleanup(fake.Close)
				system, err := s.open(origin.Config{URL: fake.URL + "/", Key: origintest.Key, HTTP: http.DefaultClient, FirstPause: time.Millisecond}, "ann", "bob")
				if err != nil {
					t.Fatal(err)
				}
				test(t, fake, system)
			})
		}
	}
}

// library is five documents in two collections, so that there are pages.
func library() []origintest.Collection {
	return []origintest.Collection{
		{ID: "c1", Name: "Manuals", Tags: []string{"service"}, Files: []origintest.File{
			{ID: "f1", Name: "pump.md", Text: "# Pump\n\nIt pumps.", Metadata: map[string]any{"order": "A-1"}},
			{ID: "f2", Name: "lamp.md", Text: "# Lamp\n\nIt shines."},
			{ID: "f3", Name: "gone.pdf", Gone: true, Parts: []string{"The first part.", "The second part.", "The third part."}},
		}},
		{ID: "c2", Name: "Notes", Files: []origintest.File{{ID: "f4", Name: "a.txt", Text: "A note."}, {ID: "f5", Name: "b.txt", Text: strings.Repeat("Long. ", 1000), BreaksOnce: true}}},
	}
}

// readAll returns the content of a document.
func readAll(ctx context.Context, d origin.Document) (text string, c origin.Content, err error) {
	if c, err = d.Open(ctx); err != nil {
		return "", c, err
	}
	defer c.Close()
	data, err := io.ReadAll(c)
	return string(data), c, err
}

// all returns the documents of a system, and what failed.
func all(ctx context.Context, s origin.System) (list []origin.Document, failures []error) {
	for d, err := range s.Documents(ctx) {
		if err != nil {
			failures = append(failures, err)
			continue
		}
		list = append(list, d)
	}
	return list, failures
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	eachSystem(t, origintest.Options{Collections: library(), Throttle: 4}, func(t *testing.T, fake *origintest.System, s origin.System) {
		list, failures := all(t.Context(), s)
		if len(failures) > 0 || len(list) != 5 {
			t.Fatalf("%d documents, failures %v", len(list), failures)
		}
		system, _, _ := strings.Cut(list[0].ID, "/")
		names := []string{}
		for _, d := range list {
			names = append(names, strings.TrimPrefix(d.ID, system+"/")+" "+d.Name+" "+strings.Join(d.Tags[:1], ","))
		}
		if diff := cmp.Diff([]string{"c1/f1 pump.md Manuals", "c1/f2 lamp.md Manuals", "c1/f3 gone.pdf Manuals", "c2/f4 a.txt Notes", "c2/f5 b.txt Notes"}, names); diff != "" {
			t.Errorf("documents (-want +got)\n%s", diff)
		}
		if text, c, err := readAll(t.Context(), list[0]); err != nil || text != "# Pump\n\nIt pumps." || c.Name != "pump.md" || c.TextOnly {
			t.Errorf("the content is %q of %+v, error %v", text, c, err)
		}
		text, c, err := readAll(t.Context(), list[2])
		if err != nil || strings.Join(strings.Fields(text), " ") != "The first part. The second part. The third part." || c.Name != "gone.pdf.txt" || !c.TextOnly {
			t.Errorf("the text in place of a file that is gone is %q of %+v, error %v", text, c, err)
		}
		_, _, err = readAll(t.Context(), list[4])
		if e, ok := errors.AsType[*origin.Error](err); !ok || !e.Temporary() {
			t.Errorf("a download that breaks off is %v", err)
		}
		if text, _, err := readAll(t.Context(), list[4]); err != nil || len(text) != 6000 {
			t.Errorf("the second download has %d bytes, error %v", len(text), err)
		}
		if fake.Throttled() == 0 {
			t.Error("no request was throttled")
		}
		if system == "openwebui" {
			return
		}
		if got := list[0].Metadata["order"]; got != "A-1" || list[0].Metadata["uploader"] != nil {
			t.Errorf("metadata is %v", list[0].Metadata)
		}
		if want := map[string]int{"dify": 2, "ragflow": 1}[system]; len(list[0].Tags) != want {
			t.Errorf("tags are %q", list[0].Tags)
		}
	})
}

func TestVersionFollowsTheContent(t *testing.T) {
	t.Parallel()
	eachSystem(t, origintest.Options{Collections: library()}, func(t *testing.T, fake *origintest.System, s origin.System) {
		before, _ := all(t.Context(), s)
		fake.Change("f2", "# Lamp\n\nIt shines and hums.")
		after, _ := all(t.Context(), s)
		for i := range before {
			if changed := before[i].Version != after[i].Version; changed != (i == 1) || before[i].Version == "" {
				t.Errorf("%s: version %q, then %q", before[i].Name, before[i].Version, after[i].Version)
			}
		}
	})
}

func TestListingBreaksOff(t *testing.T) {
	t.Parallel()
	broken := library()
	broken[0].Breaks = true
	eachSystem(t, origintest.Options{Collections: broken}, func(t *testing.T, _ *origintest.System, s origin.System) {
		list, failures := all(t.Context(), s)
		if len(list) == 5 && len(failures) == 0 {
			t.Skip("this version lists without pages")
		}
		if len(list) != 4 || len(failures) != 1 || !strings.Contains(failures[0].Error(), `"Manuals"`) {
			t.Errorf("%d documents, failures %v; want the first page, the other collection and one failure", len(list), failures)
		}
	})
}

func TestKeyThatExpires(t *testing.T) {
	t.Parallel()
	eachSystem(t, origintest.Options{Collections: library()}, func(t *testing.T, fake *origintest.System, s origin.System) {
		list, _ := all(t.Context(), s)
		fake.Expire()
		_, _, err := readAll(t.Context(), list[0])
		if e, ok := errors.AsType[*origin.KeyError](err); !ok || !strings.Contains(e.Error(), "Make a new") {
			t.Errorf("a download with an expired key is %v", err)
		}
		_, failures := all(t.Context(), s)
		if len(failures) != 1 {
			t.Fatalf("failures %v", failures)
		}
		if _, ok := errors.AsType[*origin.KeyError](failures[0]); !ok {
			t.Errorf("a listing with an expired key is %v", failures[0])
		}
	})
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	eachSystem(t, origintest.Options{}, func(t *testing.T, fake *origintest.System, s origin.System) {
		fake.Close()
		if list, failures := all(t.Context(), s); len(list) != 0 || len(failures) != 1 || !strings.Contains(failures[0].Error(), "does not answer") {
			t.Errorf("%d documents, failures %v", len(list), failures)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, failures := all(ctx, s); len(failures) != 1 || !errors.Is(failures[0], context.Canceled) {
			t.Errorf("with a canceled context the failures are %v", failures)
		}
	})
}

func TestConversations(t *testing.T) {
	t.Parallel()
	talks := []origintest.Talk{
		{ID: "t1", Title: "Pumps", User: "ann", Texts: []string{"Does it pump?", "Yes.", "And hum?", "No.", "Why?", "It is off."}, Sources: []string{"pump.md", "pump.md", "lamp.md"}},
		{ID: "t2", Title: "Lamps", User: "ann", Texts: []string{"Does it shine?", "Yes."}},
		{ID: "t3", Title: "Later", User: "ann", Texts: []string{"Now?", "Later."}},
		{ID: "t4", Title: "Other", User: "bob", Texts: []string{"Mine?", "Yours."}},
	}
	eachSystem(t, origintest.Options{Talks: talks, Throttle: 5}, func(t *testing.T, _ *origintest.System, s origin.System) {
		got := map[string][]string{}
		for c, err := range s.Conversations(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if c.CreatedAt.Year() != 2023 {
				t.Errorf("%s is of %v", c.Title, c.CreatedAt)
			}
			for _, m := range c.Messages {
				got[c.Title] = append(got[c.Title], m.Role+": "+m.Text)
			}
		}
		const cited = "\n\nSources: pump.md, lamp.md"
		want := map[string][]string{
			"Pumps": {"user: Does it pump?", "assistant: Yes." + cited, "user: And hum?", "assistant: No." + cited, "user: Why?", "assistant: It is off." + cited},
			"Lamps": {"user: Does it shine?", "assistant: Yes."}, "Later": {"user: Now?", "assistant: Later."}, "Other": {"user: Mine?", "assistant: Yours."},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("conversations (-want +got)\n%s", diff)
		}
	})
}

func TestKeyStaysWithTheSystem(t *testing.T) {
	t.Parallel()
	elsewhere := origintest.NewDify(origintest.Options{})
	t.Cleanup(elsewhere.Close)
	sent := make(chan string, 1)
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "files.example.com" {
			sent <- r.Header.Get("Authorization")
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("text")), Request: r}, nil
		}
		answers := map[string]string{
			"/v1/datasets":                        `{"data": [{"id": "c", "name": "C"}]}`,
			"/v1/datasets/c/documents":            `{"data": [{"id": "f", "name": "f.txt", "data_source_type": "upload_file"}]}`,
			"/v1/datasets/c/documents/f/download": `{"url": "https://files.example.com/f?sign=s"}`,
		}
		status := http.StatusOK
		if answers[r.URL.Path] == "" {
			status = http.StatusNotFound
		}
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answers[r.URL.Path])), Request: r}, nil
	})}
	s, err := origin.NewDify(origin.DifyConfig{Config: origin.Config{URL: "https://dify.example.com", Key: "secret", HTTP: client}})
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range s.Documents(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if text, _, err := readAll(t.Context(), d); err != nil || text != "text" {
			t.Errorf("the content is %q, error %v", text, err)
		}
	}
	if key := <-sent; key != "" {
		t.Errorf("another host was sent %q", key)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "chat.example.com", "ftp://chat.example.com", "https:"} {
		if _, err := origin.NewOpenWebUI(origin.Config{URL: address}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", address)) {
			t.Errorf("the address %q gives the error %v", address, err)
		}
	}
}
