package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestImageGeneration has the model make a picture, whose link opens without a key. The
// endpoint is asked once.
func TestImageGeneration(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_MODELS__IMAGE__BASE_URL="+m.URL(), "CAIRN_MODELS__IMAGE__MODEL=painter")...)
	m.ScriptChat(
		modeltest.Call(model.ToolCall{ID: "draw", Name: "image_generation", Arguments: `{"prompt":"a pier"}`}),
		modeltest.Text("Here it is."))
	var answer struct {
		RunID     string
		ToolCalls []struct {
			Status string
			Files  []struct{ Name, URL string }
		}
	}
	body := map[string]any{"text": "Draw a pier.", "projectConfigOverride": map[string]any{"tools": map[string]any{"image_generation": map[string]any{}}}}
	if status := s.call(t, "POST", webhooks+"/query", body, &answer); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	want := []modeltest.Picture{{Model: "painter", Prompt: "a pier", Key: answer.RunID + "-1-0"}}
	if diff := cmp.Diff(want, m.Pictures()); diff != "" {
		t.Error(diff)
	}
	if len(answer.ToolCalls) != 1 || answer.ToolCalls[0].Status != "completed" || len(answer.ToolCalls[0].Files) != 1 {
		t.Fatalf("the answer has the calls %+v", answer.ToolCalls)
	}
	res, err := s.send(t.Context(), "GET", answer.ToolCalls[0].Files[0].URL, nil, "Authorization", "")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	picture, err := io.ReadAll(res.Body)
	if err != nil || string(picture) != modeltest.Painted || res.Header.Get("Content-Type") != "image/png" || !strings.HasPrefix(res.Header.Get("Content-Disposition"), "inline") {
		t.Errorf("%d %q %v, %v", res.StatusCode, picture, res.Header, err)
	}
}
