package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	openai "github.com/sashabaranov/go-openai"
)

// Embed gives one vector for each text, in the order of the texts. A count or a
// number that is not what was asked for is an *Error with CodeBadResponse; no
// vector is ever returned for another text. How long the vectors are is
// Endpoint.Dimensions or, if that is 0, the same for all. Another length than
// Endpoint.Dimensions is an *Error with CodeDimensions, which no retry helps.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	if len(texts) == 0 {
		return nil, Usage{}, nil
	}
	for {
		vectors, usage, again, err := c.embedOnce(ctx, texts)
		if !again {
			return vectors, usage, err
		}
	}
}

// embedOnce asks once. again says that the endpoint refused something that can
// be left out, which is remembered; at most two such rounds are possible.
func (c *Client) embedOnce(ctx context.Context, texts []string) (_ [][]float32, _ Usage, again bool, _ error) {
	x := newExchange(ctx, c.endpoint)
	defer x.close()
	x.complete = true
	req := openai.EmbeddingRequest{Input: texts, Model: openai.EmbeddingModel(c.endpoint.Model)}
	if !c.lacks.base64.Load() {
		req.EncodingFormat = openai.EmbeddingEncodingFormatBase64 // half the bytes of digits, a fraction of the parsing
		x.kept = new(bytes.Buffer)
	}
	if !c.lacks.dimensions.Load() {
		req.Dimensions = c.endpoint.Dimensions
	}
	kept := x.kept
	res, err := c.api.CreateEmbeddings(x.ctx, req)
	kind, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case kept != nil && mistyped && kind.Value == "array":
		// It answers with digits whatever it is asked for: read these.
		c.lacks.base64.Store(true)
		err = json.NewDecoder(kept).Decode(&res)
	case kept != nil && refuses(err, "encoding_format", "base64"):
		c.lacks.base64.Store(true)
		return nil, Usage{}, true, nil
	case req.Dimensions > 0 && refuses(err, "dimension", "matryoshka"):
		c.lacks.dimensions.Store(true)
		return nil, Usage{}, true, nil
	}
	if err != nil {
		return nil, Usage{}, false, x.explain("embed", err)
	}
	vectors, err := inOrder(res.Data, len(texts), c.endpoint.Dimensions)
	if errors.Is(err, errDimensions) { // and so would each repetition be, for as much money
		wrong := x.failure(CodeDimensions, false)
		wrong.Cause = err
		return nil, Usage{}, false, wrong
	}
	if err != nil {
		return nil, Usage{}, false, x.broken(CodeBadResponse, err.Error())
	}
	return vectors, Usage{PromptTokens: res.Usage.PromptTokens}, false, nil
}

// errDimensions is a vector of another length than was asked for.
var errDimensions = errors.New("a vector of another length than Endpoint.Dimensions")

// inOrder gives the vectors by their index and checks each of them. asked is
// their length, 0 = any.
func inOrder(data []openai.Embedding, count, asked int) ([][]float32, error) {
	if len(data) != count {
		return nil, fmt.Errorf("%d vectors for %d texts", len(data), count)
	}
	dimensions := cmp.Or(asked, len(data[0].Embedding))
	vectors := make([][]float32, count)
	numbered := false // some endpoints leave the index out: then the order counts
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
