package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/words"
)

// TestCompounds checks that a German compound is found by its head, in a document and in a
// question, and that other words stay whole.
func TestCompounds(t *testing.T) {
	t.Parallel()
	for compound, head := range map[string]string{
		"Krankenversicherung": "Versicherung", "Krankenversicherungen": "Versicherung", "Rechtsschutzversicherung": "Versicherung",
		"Arbeitsvertrag": "Vertrag", "Haftungsausschluss": "Ausschluss", "Straßenbahn": "Bahn", "Kühlwasserpumpe": "Pumpe",
		"Zeitungsarchiv": "Archiv", "Lebensmittelkontrolle": "Kontrolle", "Hauptverkehrszeit": "Zeit", "Prüfungsprotokoll": "Protokoll",
	} {
		if !finds("Die neue "+compound+" von 2024.", head) {
			t.Errorf("%s is not found by %s", compound, head)
		}
		if !finds("Eine "+head+" von 2024.", compound) {
			t.Errorf("%s is not found by %s", head, compound)
		}
	}
	for _, text := range []string{
		"Versicherung", "Versicherungen", "Auszahlung", "Mühlhausen", "youngsters", "relationships", "professionals", "infrastructure",
		"nationalities", "Switzerland", "framework", "platform", "understanding", "authorization", "Bundesamt",
	} {
		if got := words.Document(text, words.Stems{}); strings.Contains(got, " ") {
			t.Errorf("%s is indexed as %q", text, got)
		}
	}
}

// finds reports whether a word of the question is one of the document.
func finds(document, question string) bool {
	indexed := strings.Fields(words.Document(document, words.Stems{}))
	return slices.ContainsFunc(words.Question(question), func(term words.Term) bool { return slices.Contains(indexed, term.Word) })
}

// BenchmarkDocument cuts English text, of which few words are looked up in the table.
func BenchmarkDocument(b *testing.B) {
	text := strings.Repeat("An experimental investigation of the compressible boundary layer in a slipstream was made to determine the spanwise distribution of lift. ", 5)
	for b.Loop() {
		known := words.Stems{}
		for range 5 {
			_ = words.Document(text, known)
		}
	}
}
