package localmodel_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

// TestCompareWords: a passage whose second sentence is about something else is as near as its
// first, and one that shares no meaning is not.
func TestCompareWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ question, near, far string }{
		{"How often do I get a new laptop?", "A computer is replaced after four years. A school gets the old machine.", "The lift is checked twice a year by an engineer."},
		{"Wann kommt der Lohn?", "Das Gehalt wird am letzten Tag überwiesen. Fragen beantwortet die Abteilung.", "Hunde dürfen in den Garten."},
		{"How many days of vacation are there?", "Alle haben dreißig Tage Urlaub.", "Der Aufzug wird geprüft."},
	} {
		near, literal := localmodel.CompareWords(test.question, []string{test.near, test.far}, 1)
		if near[0] <= near[1] || near[0] > 1.0001 || near[1] < 0 {
			t.Errorf("%q: nearness of %q is %.3f, of %q %.3f", test.question, test.near, near[0], test.far, near[1])
		}
		if literal > 0.4 {
			t.Errorf("%q: %.2f of its words count as those of a passage", test.question, literal)
		}
	}
	near, literal := localmodel.CompareWords("paid vacation", []string{"Vacation is paid.", ""}, 2)
	if near[0] < 0.999 || literal < 0.999 || near[1] != 0 {
		t.Errorf("a text with all words has the nearness %.3f and the share %.3f, an empty one %.3f", near[0], literal, near[1])
	}
	if near, literal := localmodel.CompareWords("?!", []string{"paid vacation"}, 1); near[0] != 0 || literal != 0 {
		t.Errorf("a question without words has the nearness %.3f and the share %.3f", near[0], literal)
	}
	if near, literal := localmodel.CompareWords("paid vacation", []string{"a dog", "Vacation is paid."}, 0.3); near != nil || literal < 0.999 {
		t.Errorf("a text with all words: the nearness is %v, the share %.3f", near, literal)
	}
}
