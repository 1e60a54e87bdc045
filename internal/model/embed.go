package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Embed returns one vector for each text, in the order of the texts. A wrong
// number of vectors, or a number that is not finite, is an *Error with
// CodeBadResponse; more texts, or longer ones, than the endpoint takes are one with
// CodeTooLarge. All vectors have the length Endpoint.Dimensions or, if that
// is 0, the length of the first. A vector of another length than
// Endpoint.Dimensions is an *Error with CodeDimensions, which is not retryable.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	if len(texts) == 0 {
		return nil, Usage{}, nil
	}
	vectors, usage, first := c.embed(ctx, texts)
	err := first
	for _, other := range c.others {
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.Retryable && e.Code != CodeUnauthorized || ctx.Err() != nil {
			break
		}
		c.log.WarnContext(ctx, "an embedding endpoint failed; the next one is asked", "next", other.endpoint.Provider, "error", err)
		vectors, usage, err = other.embed(ctx, texts)
	}
	if err != nil {
		return nil, usage, first
	}
	return vectors, usage, nil
}

// embed asks the endpoint alone.
func (c *Client) embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	for {
		sent := c.pacer.send()
		vectors, usage, again, err := c.embedOnce(ctx, texts, sent)
		if !again {
			return vectors, usage, c.pacer.ended(sent, err)
		}
	}
}

// embedOnce sends one request. again reports that the endpoint refused an
// option, which is left out from then on; that happens at most twice.
func (c *Client) embedOnce(ctx context.Context, texts []string, sent *sending) (_ [][]float32, _ Usage, again bool, _ error) {
	x := newExchange(ctx, c.endpoint)
	defer x.close()
	x.complete = true
	x.model = c.endpoint.Model
	req := openai.EmbeddingRequest{Input: texts, Model: openai.EmbeddingModel(c.endpoint.wireModel(c.endpoint.Model))}
	if !c.refused.base64.Load() {
		req.EncodingFormat = openai.EmbeddingEncodingFormatBase64 // half the bytes of decimal digits, and faster to parse
		x.kept = new(bytes.Buffer)
	}
	if !c.refused.dimensions.Load() {
		req.Dimensions = c.endpoint.Dimensions
	}
	kept := x.kept
	res, err := c.api.CreateEmbeddings(x.ctx, req)
	if x.header != nil {
		c.pacer.observe(sent, time.Now(), x.status, x.header)
	}
	kind, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case kept != nil && mistyped && kind.Value == "array":
		// The endpoint ignores the format and sends digits: decode those.
		c.refused.base64.Store(true)
		err = json.NewDecoder(kept).Decode(&res)
	case kept != nil && refusedField(err, "encoding_format", "base64"):
		c.refused.base64.Store(true)
		return nil, Usage{}, true, nil
	case req.Dimensions > 0 && refusedField(err, "dimension", "matryoshka"):
		c.refused.dimensions.Store(true)
		return nil, Usage{}, true, nil
	}
	if err != nil {
		return nil, Usage{}, false, tooLarge(x.callError("embed", err))
	}
	vectors, err := inOrder(res.Data, len(texts), c.endpoint.Dimensions)
	if errors.Is(err, errDimensions) { // a retry would cost as much and fail in the same way
		wrong := x.failure(CodeDimensions, false)
		wrong.Cause = err
		return nil, Usage{}, false, wrong
	}
	if err != nil {
		return nil, Usage{}, false, x.badAnswer(CodeBadResponse, err.Error())
	}
	return vectors, c.endpoint.Prices.of(c.endpoint.Model, Usage{PromptTokens: res.Usage.PromptTokens}), false, nil
}

// largeWords are in the texts with which endpoints refuse too many or too long texts.
var largeWords = regexp.MustCompile(`(?i)batch|too (many|long|large)|maximum|max_`)

// tooLarge sets the code of an error if the endpoint refused the size of the request.
func tooLarge(err error) error {
	e, ok := errors.AsType[*Error](err)
	refused, withText := errors.AsType[*refusal](err)
	if !ok || !withText || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return err
	}
	if largeWords.MatchString(refused.text) {
		e.Code = CodeTooLarge
	}
	return err
}

// errDimensions reports a vector of another length than requested.
var errDimensions = errors.New("a vector of another length than Endpoint.Dimensions")

// inOrder checks the vectors and returns them by their index. asked is their
// length, 0 = any.
func inOrder(data []openai.Embedding, count, asked int) ([][]float32, error) {
	if len(data) != count {
		return nil, fmt.Errorf("%d vectors for %d texts", len(data), count)
	}
	dimensions := cmp.Or(asked, len(data[0].Embedding))
	vectors := make([][]float32, count)
	numbered := false // some endpoints send no index: then the order counts
	for _, d := range data {
		numbered = numbered || d.Index != 0
	}
	for i, d := range data {
		if numbered {
			i = d.Index
		}
		if i < 0 || i >= count || vectors[i] != nil {
			return nil, fmt.Errorf("index %d twice or out of range, of %d vectors", i, count)
		}
		switch length := len(d.Embedding); {
		case length == 0, length != dimensions && asked == 0:
			return nil, fmt.Errorf("a vector of %d dimensions beside one of %d", length, dimensions)
		case length != dimensions:
			return nil, fmt.Errorf("%w: %d instead of %d", errDimensions, length, asked)
		}
		for _, v := range d.Embedding {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("vector %d holds a number that is not finite", i)
			}
		}
		vectors[i] = d.Embedding
	}
	return vectors, nil
}
