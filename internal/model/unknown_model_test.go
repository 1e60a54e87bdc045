package model_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

// TestUnknownModel checks that the error of a name that the endpoint does not know names it:
// it may come from the settings of a project, whose owner sees no configuration.
func TestUnknownModel(t *testing.T) {
	t.Parallel()
	c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`)
	})
	asked := question
	asked.Model = "of-the-project"
	_, _, chat := collect(t.Context(), c, asked)
	_, image := c.Image(t.Context(), model.ImageRequest{Model: "of-the-project", Prompt: "a pier"})
	_, models := c.Models(t.Context())
	_, _, embed := c.Embed(t.Context(), []string{"a pier"})
	_, transcribe := c.Transcribe(t.Context(), "pier.mp3", sound)
	for call, test := range map[string]struct {
		err  error
		want string
	}{
		"chat": {chat, "does not know the model of-the-project (status 404)"}, "image": {image, "does not know the model of-the-project (status 404)"},
		"embed": {embed, "does not know the model "}, "transcribe": {transcribe, "does not know the model "},
		"a request that names none": {models, "refused the request (status 404)"},
	} {
		e, ok := errors.AsType[*model.Error](test.err)
		if !ok || !strings.Contains(e.Public().Message, test.want) {
			t.Errorf("%s: %v, want %q", call, test.err, test.want)
		}
	}
}
