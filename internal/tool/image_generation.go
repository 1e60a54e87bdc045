package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// imageLimit bounds a call.
	imageLimit = 5 * time.Minute
	// maxPrompt bounds the description of a picture, in code points.
	maxPrompt = 4000
	// maxPicture bounds a picture, in bytes.
	maxPicture = 20 << 20
)

// Painter makes a picture of a description. model is the project's, "" = the
// instance's; key is the same for every attempt of a call.
type Painter func(ctx context.Context, model, prompt, size, key string) ([]byte, error)

// NewImageGeneration returns the tool that makes pictures. A picture costs, so a call is
// not repeated.
func NewImageGeneration(paint Painter, files Files) Tool {
	return Tool{
		Name:        knowledge.ToolImageGeneration,
		Description: "Make a picture of a description. The user can open it at the link that comes back. Do not use it for plots of data.",
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"prompt":{"type":"string","minLength":1,"maxLength":%d,`+
			`"description":"What the picture shows, in full words"},"size":{"type":"string","pattern":"^[1-9][0-9]{2,3}x[1-9][0-9]{2,3}$",`+
			`"description":"Width and height in pixels, as 1024x1024; leave it out for the usual one"}},"required":["prompt"],"additionalProperties":false}`, maxPrompt)),
		Limit: imageLimit, Once: true,
		Offered: func(r knowledge.Request) bool { return r.Config.Tools.ImageGeneration != nil },
		Run: func(ctx context.Context, c Call) (Output, error) {
			var given struct {
				Prompt string `json:"prompt"`
				Size   string `json:"size"`
			}
			config := c.Request.Config.Tools.ImageGeneration
			if err := json.Unmarshal([]byte(c.Arguments), &given); err != nil || given.Prompt == "" || config == nil {
				return Output{}, knowledge.Errorf(knowledge.CodeInvalid, `the arguments must be {"prompt": "…", "size": "1024x1024"}`)
			}
			picture, err := paint(ctx, config.Model, given.Prompt, given.Size, c.IdempotencyKey())
			if err != nil {
				return Output{}, fmt.Errorf("make a picture: %w", err)
			}
			return keepPicture(ctx, c, files, picture)
		},
	}
}

// keepPicture stores a picture as a file of the run.
func keepPicture(ctx context.Context, c Call, files Files, picture []byte) (Output, error) {
	mediaType := http.DetectContentType(picture)
	format, isImage := strings.CutPrefix(mediaType, "image/")
	if !isImage || len(picture) > maxPicture {
		return Output{}, knowledge.Errorf(knowledge.CodeProviderFailed, "the model of pictures returned %d bytes that are not a picture, or too large a one", len(picture))
	}
	// The endpoint has charged for the picture, so a cancel does not discard it.
	file, err := files.Add(context.WithoutCancel(ctx), c, "picture."+format, picture)
	if err != nil {
		return Output{}, err
	}
	words := fmt.Sprintf("The picture is %s (%s, %d bytes). Show it to the user as ![description](%s)", file.Name, file.MediaType, file.Bytes, FilePath(c.Run, file.Name))
	return Output{Words: words, Files: []knowledge.RunFile{file}, Usage: knowledge.Usage{ModelCalls: 1}}, nil
}
