package localmodel_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

// TestAnswersAcrossLanguages asks questions in another language than the passages. The
// share of the answers that begin with the right sentence is in testdata/languages.golden.
func TestAnswersAcrossLanguages(t *testing.T) {
	t.Parallel()
	lines := map[string][]string{} // language of a text, or of its questions -> in the order of the facts
	for line := range strings.Lines(read(t, "testdata", "languages.txt")) {
		if mark, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			lines[mark] = append(lines[mark], text)
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-12s %4s %6s %6s\n", "direction", "n", "first", "any")
	for _, d := range []struct {
		asked, text string
		least       float64 // share of the first sentences
		frame       string
	}{
		{"deu", "eng", 0.40, "Die Dokumente antworten"}, {"eng", "deu", 0.50, "The documents answer"},
		{"fra", "eng", 0.50, "Les documents répondent"}, {"spa", "eng", 0.80, "Los documentos responden"},
	} {
		sources := facts(lines[d.text])
		first, found, frames := 0, 0, 0
		for i, question := range lines["q-"+d.asked] {
			got := answer(t, []model.Message{{Role: model.RoleSystem, Content: sources}, {Role: model.RoleUser, Content: question}})
			_, quoted, framed := strings.Cut(got, ": ")
			if want := lines[d.text][i]; strings.Contains(got, want) {
				found++
				if strings.HasPrefix(got, d.frame) {
					frames++
				}
				if framed && strings.HasPrefix(quoted, want) || strings.HasPrefix(got, want) {
					first++
				}
			}
		}
		n := float64(len(lines["q-"+d.asked]))
		fmt.Fprintf(&table, "%-12s %4.0f %6.2f %6.2f\n", d.asked+" about "+d.text, n, float64(first)/n, float64(found)/n)
		if n < 20 || float64(first)/n < d.least {
			t.Errorf("%s about %s: %d of %.0f answers begin with the right sentence, want a share of %.2f", d.asked, d.text, first, n, d.least)
		}
		if 2*frames < found {
			t.Errorf("%s about %s: %d of %d answers begin with %q", d.asked, d.text, frames, found, d.frame)
		}
	}
	golden(t, filepath.Join("testdata", "languages.golden"), table.String())
}

// facts returns a prompt with sentences, five in a passage.
func facts(sentences []string) string {
	var b strings.Builder
	n := 0
	for five := range slices.Chunk(sentences, 5) {
		n++
		fmt.Fprintf(&b, "<source_%d document=\"text %d\">\n%s\n</source_%d>\n", n, n, strings.Join(five, " "), n)
	}
	return b.String()
}
