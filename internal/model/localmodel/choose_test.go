package localmodel_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

// TestChoosesFilters has the offline model choose the tags that a question names.
func TestChoosesFilters(t *testing.T) {
	t.Parallel()
	chat, _ := serve(t, localmodel.Config{})
	for question, want := range map[string]string{
		"What does the Travel policy of 2024 allow?": `{"filters":[],"tags":["travel policy","2024"]}`,
		"Who traveled?": `{"filters":[],"tags":[]}`,
	} {
		request := model.ToolRequest{
			User: "<tags>\n- travel policy\n- leave\n- 2024\n- ???\n</tags>\n<fields>\n</fields>\n<question>\n" + question + "\n</question>\n",
			Tool: model.Tool{Name: "choose_filters", Parameters: []byte(`{"type":"object"}`)},
		}
		if got, _, err := chat.CallTool(t.Context(), request); err != nil || got != want {
			t.Errorf("%s: %s, %v", question, got, err)
		}
	}
}
