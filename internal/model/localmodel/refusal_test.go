package localmodel_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

// TestAnswersOverOneSentence asks in another language over a single sentence, which is as
// near to the question as the passages are on the average. There is an answer to each.
func TestAnswersOverOneSentence(t *testing.T) {
	t.Parallel()
	const lamp = "The lamp of the lighthouse is cleaned every Tuesday."
	for language, question := range map[string]string{
		"Arabic": "كم مرة يتم تنظيف مصباح المنارة؟", "Chinese": "灯塔的灯多久清洁一次？", "Russian": "Как часто чистят лампу маяка?",
		"German": "Wie oft wird die Lampe des Leuchtturms gereinigt?",
	} {
		messages := []model.Message{{Role: model.RoleSystem, Content: "<source_1 document=\"lighthouse\">\n" + lamp + "\n</source_1>"}, {Role: model.RoleUser, Content: question}}
		if got := answer(t, messages); !strings.Contains(got, lamp+" <source_1>") {
			t.Errorf("%s: %s\n got %q", language, question, got)
		}
	}
}

// TestRefusalNamesWholeWords reads what a refusal looked for: words as they are written in
// the question. Scripts without spaces have no words to tell apart, so what
// stands between two signs is one.
func TestRefusalNamesWholeWords(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"How often is E-505 reported by Zoë's v2.4.2 gauge?": "often, E-505, reported, Zoë's, v2.4.2, gauge",
		"كم مرة يتم تنظيف مصباح المنارة؟":                    "كم, مرة, يتم, تنظيف, مصباح, المنارة",
		"灯塔的灯多久清洁一次，由谁负责？":                                   "灯塔的灯多久清洁一次, 由谁负责",
		"サーバーの保守は誰が行いますか":                                    "サーバーの保守は誰が行いますか",
		"ทำความสะอาดบ่อยแค่ไหน":                              "ทำความสะอาดบ่อยแค่ไหน",
		"लाइटहाउस का दीपक कितनी बार साफ होता है?":            "लाइटहाउस, का, दीपक, कितनी, बार, साफ, होता",
		"نرم\u200cافزار را چگونه به\u200cروز می\u200cکنند؟":  "نرم\u200cافزار, را, چگونه, به\u200cروز, می\u200cکنند",
		"Combien coûte le dîner à l'étranger ?":              "coûte, dîner, l'étranger",
	} {
		got := answer(t, []model.Message{
			{Role: model.RoleUser, Content: question},
			{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "1", Name: "documents_rag", Arguments: `{"query":"x"}`}}},
			{Role: model.RoleTool, ToolCallID: "1", Content: "No passage was found."},
		})
		_, list, _ := strings.Cut(got, ": ")
		list, _, _ = strings.Cut(list, ". ")
		if list != want {
			t.Errorf("%s\n got %q\nwant %q", question, got, want)
		}
	}
}

// TestUncertainAnswers asks with and without the words of a sentence.
func TestUncertainAnswers(t *testing.T) {
	t.Parallel()
	const uncertain = " It is not certain that this answers the question."
	for question, want := range map[string]string{
		"How often is the lamp of the lighthouse cleaned?": "",
		"How often is the lantern polished?":               uncertain,
	} {
		const lamp = "The lamp of the lighthouse is cleaned every Tuesday."
		messages := []model.Message{{Role: model.RoleSystem, Content: "<source_1 document=\"a\">\n" + lamp + "\n</source_1>"}, {Role: model.RoleUser, Content: question}}
		if got := answer(t, messages); got != lamp+" <source_1>"+want {
			t.Errorf("%s\n got %q\nwant %q behind the sentence", question, got, want)
		}
	}
}
