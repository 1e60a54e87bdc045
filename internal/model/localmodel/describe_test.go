package localmodel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/enrich"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

// TestDescribesDocuments has the offline model call the tool that describes a document.
func TestDescribesDocuments(t *testing.T) {
	t.Parallel()
	want := knowledge.Enrichment{Summary: true, Topics: true, Entities: true, Tags: true}
	call := enrich.Describe("heron.md", []string{
		"# The heron",
		"The heron pump moves water. Each pump was built by Ada Brook in Lausanne. A pump without water stops.",
	}, want)
	request := model.ChatRequest{
		Messages:   []model.Message{{Role: model.RoleSystem, Content: call.System}, {Role: model.RoleUser, Content: call.User}},
		Tools:      []model.Tool{{Name: call.Tool, Parameters: call.Schema}},
		ToolChoice: call.Tool,
	}
	chat, _ := serve(t, localmodel.Config{})
	var called []model.ToolCall
	for delta, err := range chat.Chat(t.Context(), request) {
		if err != nil {
			t.Fatal(err)
		}
		if delta.Done != nil {
			called = delta.Done.ToolCalls
		}
	}
	if len(called) != 1 {
		t.Fatalf("%d calls", len(called))
	}
	got, err := enrich.ReadDescription(called[0].Arguments, want)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Summary, "The heron pump moves water.") || len(got.Topics) == 0 || got.Topics[0] != "pump" ||
		!slices.Contains(got.Entities, "Ada Brook") || !slices.Contains(got.Tags, "water") {
		t.Errorf("%+v", got)
	}
}

// TestPlacesPassages has the offline model write a sentence for each passage.
func TestPlacesPassages(t *testing.T) {
	t.Parallel()
	call := enrich.Place("heron.md", "A manual.", []string{"One.", "Two."})
	request := model.ChatRequest{
		Messages:   []model.Message{{Role: model.RoleSystem, Content: call.System}, {Role: model.RoleUser, Content: call.User}},
		Tools:      []model.Tool{{Name: call.Tool, Parameters: call.Schema}},
		ToolChoice: call.Tool,
	}
	chat, _ := serve(t, localmodel.Config{})
	for delta, err := range chat.Chat(t.Context(), request) {
		if err != nil {
			t.Fatal(err)
		}
		if delta.Done == nil {
			continue
		}
		got, err := enrich.ReadSentences(delta.Done.ToolCalls[0].Arguments, 2)
		if err != nil || got[1] != "Passage 2 of 2 is from heron.md: A manual." {
			t.Errorf("%q, %v", got, err)
		}
	}
}
