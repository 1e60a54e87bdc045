package localmodel

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRewriteQuestion: a question that refers to the one before is rewritten with it, in each language
// of the lists, and one that stands alone is repeated.
func TestRewriteQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, question string
		follows          bool
	}{
		{"How is the HX-4 pump calibrated?", "And how often?", true},
		{"How is the HX-4 pump calibrated?", "Who may do it?", true},
		{"Wie viele Tage Urlaub gibt es in Frankreich?", "Und in Deutschland?", true},
		{"Wie wird die Pumpe kalibriert?", "Und wer wartet sie?", true},
		{"Combien de jours de congé en France ?", "Et en Allemagne ?", true},
		{"¿Cuántos días de vacaciones hay en Francia?", "¿Y en Alemania?", true},
		{"Quanti giorni di ferie ci sono in Francia?", "E in Germania?", true},
		{"How is the pump calibrated?", "Which documents does the auditor of the northern warehouse request every year?", false},
		{"", "How is the pump calibrated?", false},
	} {
		message := "<question>\n" + c.question + "\n</question>\n"
		if c.before != "" {
			message = "<conversation>\nuser: " + c.before + "\nassistant: As the manual says.\n</conversation>\n" + message
		}
		var read struct{ Question string }
		if err := json.Unmarshal([]byte(rewriteQuestion(message)), &read); err != nil {
			t.Fatal(err)
		}
		want := c.question
		if c.follows {
			want = c.before + " " + c.question
		}
		if read.Question != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%q after %q is %q", c.question, c.before, read.Question)
		}
	}
}
