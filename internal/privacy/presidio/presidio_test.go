package presidio_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/privacy/presidio"
)

// analyzer is a stand-in of Presidio's analyzer, which knows some names. It answers as the
// documented service does: places count code points, and wrong requests have an error.
type analyzer struct {
	names    []string
	requests []request
	fails    int // so many requests first
}

type request struct {
	Text      string   `json:"text"`
	Language  string   `json:"language"`
	Entities  []string `json:"entities"`
	Threshold float64  `json:"score_threshold"`
}

func (a *analyzer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in request
	err := json.NewDecoder(r.Body).Decode(&in)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/analyze" || r.Header.Get("Content-Type") != "application/json":
		http.NotFound(w, r)
		return
	case a.fails > 0:
		a.fails--
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"error": "No matching recognizers were found to serve the request."}`))
		return
	case err != nil || in.Text == "" || in.Language != "en":
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	a.requests = append(a.requests, in)
	results := []map[string]any{}
	runes := []rune(in.Text)
	for _, name := range a.names {
		for at := range runes {
			if strings.HasPrefix(string(runes[at:]), name) && slices.Contains(in.Entities, "PERSON") {
				results = append(results, map[string]any{
					"entity_type": "PERSON", "start": at, "end": at + len([]rune(name)), "score": .85, "analysis_explanation": nil,
					"recognition_metadata": map[string]any{"recognizer_name": "SpacyRecognizer", "recognizer_identifier": "SpacyRecognizer_1"},
				})
			}
		}
	}
	_ = json.NewEncoder(w).Encode(results)
}

func serve(t *testing.T, a *analyzer) *presidio.Analyzer {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return presidio.New(presidio.Config{URL: server.URL + "/"}, server.Client())
}

func TestAnalyzer(t *testing.T) {
	t.Parallel()
	a := &analyzer{names: []string{"Zoë Müller", "Bob"}}
	texts := []string{"😀 Zoë Müller wrote to Bob.", "Nobody did.", "Bob"}
	got, err := serve(t, a).Recognise(t.Context(), texts, []string{"PERSON"})
	if err != nil {
		t.Fatal(err)
	}
	person := func(start, end int) privacy.Finding {
		return privacy.Finding{Entity: "PERSON", Span: knowledge.Span{Start: start, End: end}, Score: .85, Recogniser: "analyzer"}
	}
	if diff := cmp.Diff([][]privacy.Finding{{person(2, 12), person(22, 25)}, nil, {person(0, 3)}}, got); diff != "" {
		t.Error(diff)
	}
	want := request{Text: strings.Join(texts, "\n\n"), Language: "en", Entities: []string{"PERSON"}}
	if diff := cmp.Diff([]request{want}, a.requests); diff != "" {
		t.Errorf("requests:\n%s", diff)
	}
}

// TestLongTextsAreSentInSeveralRequests checks that no request is far longer than the bound, and that
// the places are those of each text.
func TestLongTextsAreSentInSeveralRequests(t *testing.T) {
	t.Parallel()
	a := &analyzer{names: []string{"Bob"}}
	var texts []string
	for range 30 {
		texts = append(texts, strings.Repeat("é", 1000)+" Bob")
	}
	got, err := serve(t, a).Recognise(t.Context(), texts, []string{"PERSON"})
	if err != nil {
		t.Fatal(err)
	}
	for i, found := range got {
		if len(found) != 1 || found[0].Start != 1001 || found[0].End != 1004 {
			t.Errorf("text %d: %+v", i, found)
		}
	}
	if len(a.requests) < 3 || len(a.requests) > 5 {
		t.Errorf("%d requests", len(a.requests))
	}
}

func TestAnalyzerThatFails(t *testing.T) {
	t.Parallel()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client leaves
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, a := range map[string]*presidio.Analyzer{
		"has an error":     serve(t, &analyzer{fails: 1}),
		"is not there":     presidio.New(presidio.Config{URL: gone.URL}, &http.Client{}),
		"answers too late": presidio.New(presidio.Config{URL: slow.URL, Timeout: 20 * time.Millisecond}, &http.Client{}),
	} {
		found, err := a.Recognise(t.Context(), []string{"Bob"}, []string{"PERSON"})
		if found != nil || !errors.Is(err, privacy.ErrNoAnswer) || !knowledge.IsCode(err, knowledge.CodeUnavailable) {
			t.Errorf("an analyzer that %s: %v, %v", name, found, err)
		}
	}
}
