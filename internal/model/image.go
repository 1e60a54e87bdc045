package model

import (
	"context"
	"encoding/base64"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// maxImageBytes bounds the answer with a picture, which is in base64.
const maxImageBytes = 32 << 20

// ImageRequest asks for a picture.
type ImageRequest struct {
	Model  string // "" = the endpoint's
	Prompt string
	Size   string // "1024x1024"; "" = the endpoint's default
	// Key is the same for every attempt. An endpoint that knows Idempotency-Key makes
	// one picture for it.
	Key string
}

// Image returns a picture that the endpoint makes, as a file. A picture that comes as an
// address is CodeBadResponse: the client follows no addresses.
func (c *Client) Image(ctx context.Context, r ImageRequest) ([]byte, error) {
	x := newExchange(ctx, c.endpoint)
	defer x.close()
	x.complete, x.limit, x.key = true, maxImageBytes, r.Key
	name := r.Model
	if name == "" {
		name = c.endpoint.Model
	}
	x.model = name
	request := openai.ImageRequest{Model: name, Prompt: r.Prompt, Size: r.Size, N: 1}
	if !strings.HasPrefix(name, "gpt-image") { // these know no other, and refuse the field
		request.ResponseFormat = openai.CreateImageResponseFormatB64JSON
	}
	res, err := c.api.CreateImage(x.ctx, request)
	if err != nil {
		return nil, x.callError("make a picture", err)
	}
	if len(res.Data) == 0 || res.Data[0].B64JSON == "" {
		return nil, x.badAnswer(CodeBadResponse, "the answer has no picture in base64")
	}
	picture, err := base64.StdEncoding.DecodeString(res.Data[0].B64JSON)
	if err != nil {
		return nil, x.badAnswer(CodeBadResponse, "the picture is not base64")
	}
	return picture, nil
}
