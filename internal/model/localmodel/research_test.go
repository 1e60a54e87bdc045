package localmodel_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/prompt"
)

// prompted has the model answer a prompt of a research. With a tool it is called, and its
// arguments are decoded.
func prompted(t *testing.T, tool, system, user string, arguments any) (text string) {
	t.Helper()
	req := model.ChatRequest{Messages: []model.Message{{Role: model.RoleSystem, Content: system}, {Role: model.RoleUser, Content: user}}}
	if tool != "" {
		req.Tools, req.ToolChoice = []model.Tool{{Name: tool, Parameters: json.RawMessage(`{"type":"object"}`)}}, tool
	}
	chat, _ := serve(t, localmodel.Config{})
	text, done, err := modeltest.Collect(t.Context(), chat, req)
	if err != nil {
		t.Fatal(err)
	}
	if tool == "" {
		return text
	}
	if len(done.ToolCalls) != 1 || done.ToolCalls[0].Name != tool {
		t.Fatalf("it called %+v", done.ToolCalls)
	}
	if err := json.Unmarshal([]byte(done.ToolCalls[0].Arguments), arguments); err != nil {
		t.Fatal(err)
	}
	return ""
}

// TestResearch plans a research, takes notes of each of its questions, and writes a section
// from all of them. The report has the sentences that answer, and each cites its passage.
func TestResearch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		question string
		passages []string
		want     []string // in the section
	}{
		"one passage": {
			"How heavy is the HX-4 pump and how often does it need oil?",
			[]string{"The HX-4 pump weighs 12 kg. It needs oil every 500 hours. The oil is of the grade VG 46."},
			[]string{"The HX-4 pump weighs 12 kg. <source_1>", "It needs oil every 500 hours. <source_1>"}},
		"two passages": {
			"Who keeps the key of the archive and how long are letters kept there?",
			[]string{"The archive is in the cellar. The key of the archive is with Ms Olander.", "A letter is kept for ten years. Then it is shredded."},
			[]string{"The key of the archive is with Ms Olander. <source_1>", "A letter is kept for ten years. <source_2>"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var passages []citation.Context
			for i, text := range test.passages {
				passages = append(passages, citation.Context{Rank: i + 1, DocumentName: "a", Text: text})
			}
			r := prompt.Research{Question: test.question}
			var plan struct{ Questions []struct{ Question string } }
			system, user := r.Plan(4)
			prompted(t, "plan_research", system, user, &plan)
			for _, planned := range plan.Questions {
				var taken struct {
					Notes []struct {
						Text    string
						Sources []int
					}
				}
				system, user := r.TakeNotes(planned.Question, passages)
				prompted(t, "take_notes", system, user, &taken)
				for _, note := range taken.Notes {
					r.Notes = append(r.Notes, prompt.Note{Number: len(r.Notes) + 1, Text: note.Text, Ranks: note.Sources})
				}
			}
			system, user = r.Section("Findings", []string{"Findings"}, passages)
			got := prompted(t, "", system, user, nil)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("from the notes %+v\n it wrote %q\nwithout %q", r.Notes, got, want)
				}
			}
		})
	}
}

// TestSectionCitesTheSentencesOfItsNotes writes a section from more notes than any sentence
// has words of.
func TestSectionCitesTheSentencesOfItsNotes(t *testing.T) {
	t.Parallel()
	passages := []citation.Context{
		{Rank: 1, DocumentName: "a", Text: "The northern pier has a lighthouse of granite. Its lamp burns petroleum. Ships from the east see it first."},
		{Rank: 2, DocumentName: "b", Text: "The southern pier has a foghorn of brass. Its bellows are made of goat leather. Ships from the west hear it first."},
	}
	r := prompt.Research{Question: "What is on the piers?", Notes: []prompt.Note{
		{Number: 1, Text: "Its lamp burns petroleum.", Ranks: []int{1}}, {Number: 2, Text: "Its bellows are made of goat leather.", Ranks: []int{2}},
		{Number: 3, Text: "Ships from the west hear it first.", Ranks: []int{2}}, {Number: 4, Text: "Nothing of this is in a passage, whatever zebras think.", Ranks: nil},
	}}
	system, user := r.Section("Findings", []string{"Findings"}, passages)
	const want = "Its lamp burns petroleum. <source_1> Its bellows are made of goat leather. <source_2> Ships from the west hear it first. <source_2>"
	if got := prompted(t, "", system, user, nil); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
