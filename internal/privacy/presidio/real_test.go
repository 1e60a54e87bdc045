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

// TestPresidio asks Presidio's own analyzer, and compares the places of what it finds with the texts.
func TestPresidio(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("testdata/analyzer.py")
	if err != nil {
		t.Fatal(err)
	}
	program := standin.Program{Path: "presidio/bin/python", Install: ".ci/stand-ins"}
	a := presidio.New(presidio.Config{URL: program.Start(t, regexp.MustCompile(`listening on (\S+)`), script)}, &http.Client{})
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
