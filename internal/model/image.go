package model

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
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

// Image returns a picture that the endpoint makes, as a file, or another one where it has
// made none. A picture that comes as an address is CodeBadResponse: the client follows no
// addresses.
func (c *Client) Image(ctx context.Context, r ImageRequest) ([]byte, error) {
	var last error
	picture, err := First(ctx, Candidates(c.all(), r.Model, nil), c.note(ctx), func(at Candidate[*Client]) ([]byte, error) {
		picture, err := at.Client.image(ctx, at.Model(), r)
		if e, ok := errors.AsType[*Error](err); ok && !e.madeNothing() {
			last = err
			return nil, errRefused
		}
		return picture, err
	})
	if last != nil {
		return nil, last
	}
	return picture, err
}

// madeNothing reports whether a call failed before anything was made that costs, for a
// reason that lies with the endpoint.
func (e *Error) madeNothing() bool {
	switch e.Code {
	case CodeConnection:
		return e.reason() != ""
	case CodeBadRequest:
		return e.Model != ""
	case CodeTimeout, CodeFiltered, CodeTooLarge:
		return false
	}
	return e.Status >= http.StatusBadRequest
}

// image asks the endpoint alone.
func (c *Client) image(ctx context.Context, name string, r ImageRequest) ([]byte, error) {
	x := newExchange(ctx, c.endpoint)
	defer x.close()
	x.complete, x.limit, x.key, x.model = true, maxImageBytes, r.Key, name
	request := openai.ImageRequest{Model: c.endpoint.wireModel(name), Prompt: r.Prompt, Size: r.Size, N: 1}
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
