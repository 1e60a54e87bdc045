package console_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/abadojack/whatlanggo"
	"github.com/google/go-cmp/cmp"
)

// TestLanguagesOfTheFilter checks that documents can be filtered by each language that is detected.
func TestLanguagesOfTheFilter(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("static/documents_filter.js")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)const languages = \((.*?)\)\.split`).FindSubmatch(module)
	if list == nil {
		t.Fatal("the module has no list of languages")
	}
	got := strings.Fields(regexp.MustCompile(`"|\+|\n`).ReplaceAllString(string(list[1]), ""))
	var want []string
	for lang := range maps.Keys(whatlanggo.Langs) {
		want = append(want, lang.Iso6393())
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("languages (-detected +offered):\n%s", diff)
	}
}
