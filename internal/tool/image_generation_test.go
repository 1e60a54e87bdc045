package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/runfile"
	"github.com/cairn-rag/cairn/internal/tool"
)

func TestImageGeneration(t *testing.T) {
	t.Parallel()
	blobs, err := blob.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	answer := "\x89PNG\r\n\x1a\n"
	var asked []string
	images := tool.NewImageGeneration(func(_ context.Context, model, prompt, size, key string) ([]byte, error) {
		asked = []string{model, prompt, size, key}
		return []byte(answer), nil
	}, runfile.New(blobs))
	call := tool.Call{RunRef: knowledge.RunRef{Workspace: "w", Run: "r"}, Turn: 2, Arguments: `{"prompt":"a pier","size":"1024x1024"}`}
	call.Request.Config.Tools.ImageGeneration = &knowledge.ImageGenerationConfig{Model: "painter"}
	out, err := images.Run(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"painter", "a pier", "1024x1024", "r-2-0"}, asked); diff != "" {
		t.Error(diff)
	}
	if out.Usage.ModelCalls != 1 || len(out.Files) != 1 || out.Files[0].Name != "picture.png" || out.Files[0].MediaType != "image/png" || !strings.Contains(out.Words, "](/runs/r/files/picture.png)") {
		t.Errorf("%+v", out)
	}
	if !images.Once || !images.Offered(call.Request) || images.Offered(knowledge.Request{}) {
		t.Errorf("once %t", images.Once)
	}
	for _, answer = range []string{"", "<svg xmlns='http://www.w3.org/2000/svg'/>", "<html>", "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 20<<20)} {
		if _, err := images.Run(t.Context(), call); !knowledge.IsCode(err, knowledge.CodeProviderFailed) {
			t.Errorf("%d bytes that are no picture: %v", len(answer), err)
		}
	}
	for _, arguments := range []string{`{}`, `{"prompt":""}`, `{"prompt":"x","size":"big"}`, `{"prompt":"x","size":"10x10"}`, `{"prompt":"x","n":9}`, `{"prompt":"` + strings.Repeat("x", 4001) + `"}`} {
		if err := images.CheckArguments(arguments); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%.40s: %v", arguments, err)
		}
	}
}
