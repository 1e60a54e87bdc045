package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/quota"
)

// maxInputs bounds the texts of a request for embeddings.
const maxInputs = 2048

// largeBody bounds the bodies of requests that carry conversations, pictures or many
// texts.
const largeBody = 32 << 20

// EmbeddingRequest is the body of a request for embeddings.
type EmbeddingRequest struct {
	_              struct{} `json:"-" additionalProperties:"true"`
	Model          string   `json:"model" minLength:"1" doc:"The embedding model of the instance"`
	Input          inputs   `json:"input"`
	EncodingFormat string   `json:"encoding_format,omitempty" enum:"float,base64" doc:"Default: float"`
	Dimensions     int      `json:"dimensions,omitempty" minimum:"1" maximum:"65536" doc:"Default: the dimensions of the instance"`
}

// inputs are texts. JSON may have one string instead of a list.
type inputs []string

// Schema implements huma.SchemaProvider.
func (inputs) Schema(huma.Registry) *huma.Schema {
	one := 1
	most := maxInputs
	text := &huma.Schema{Type: huma.TypeString, MinLength: &one}
	return &huma.Schema{
		Description: "A text, or up to 2,048 texts. Arrays of tokens are refused: 422",
		OneOf:       []*huma.Schema{text, {Type: huma.TypeArray, Items: text, MinItems: &one, MaxItems: &most}},
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (in *inputs) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*in = inputs{""}
		return json.Unmarshal(data, &(*in)[0])
	}
	return json.Unmarshal(data, (*[]string)(in))
}

// EmbeddingList is the answer to a request for embeddings.
type EmbeddingList struct {
	Object string         `json:"object" enum:"list"`
	Data   []Embedding    `json:"data"`
	Model  string         `json:"model"`
	Usage  EmbeddingUsage `json:"usage"`
}

// Embedding is the vector of one text.
type Embedding struct {
	Object string `json:"object" enum:"embedding"`
	Index  int    `json:"index"`
	Vector vector `json:"embedding"`
}

// EmbeddingUsage counts the tokens of the texts.
type EmbeddingUsage struct {
	PromptTokens int `json:"prompt_tokens"`
	TotalTokens  int `json:"total_tokens"`
}

// vector is written as numbers, or as the base64 of their bytes in little-endian order.
type vector struct {
	numbers []float32
	base64  bool
}

// Schema implements huma.SchemaProvider.
func (vector) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeNumber}},
		{Type: huma.TypeString, Description: "With encoding_format base64: float32 numbers in little-endian order"},
	}}
}

// MarshalJSON implements json.Marshaler.
func (v vector) MarshalJSON() ([]byte, error) {
	if !v.base64 {
		return json.Marshal(v.numbers)
	}
	raw := make([]byte, 0, 4*len(v.numbers))
	for _, x := range v.numbers {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(raw))
}

func (s *Server) registerEmbeddings() {
	s.handle(edge.Route{Limit: largeBody, Operation: huma.Operation{
		OperationID: "create-embeddings", Method: http.MethodPost, Path: "/v1/embeddings", Summary: "Embed texts",
		RequestBody: request[EmbeddingRequest](s), Responses: answers[EmbeddingList](s, "One vector for each text, in their order"),
	}}, s.createEmbeddings)
}

func (s *Server) createEmbeddings(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	var b EmbeddingRequest
	if err := s.deps.Edge.DecodeBody(r, &b); err != nil {
		return noTokens(err)
	}
	if err := embeddingFields.check(r); err != nil {
		return err
	}
	embedder := s.deps.Models.Embedding
	endpoint := embedder.Endpoint()
	if b.Model != endpoint.Model {
		return unknownModel(b.Model, nil)
	}
	if b.Dimensions > 0 && b.Dimensions != endpoint.Dimensions {
		embedder = s.deps.Models.EmbeddingOf(b.Dimensions)
	}
	if p.Project() != "" && !endpoint.InProcess { // the texts go out unchanged
		project, err := s.deps.Questions.Project(r.Context(), p, "")
		if err == nil {
			err = checkForwarded(project)
		}
		if err != nil {
			return err
		}
	}
	out := EmbeddingList{Object: "list", Data: make([]Embedding, 0, len(b.Input)), Model: endpoint.Model}
	project := p.Project()
	if err := quota.CheckDay(r.Context(), p, project); err != nil {
		return err
	}
	vectors, used, err := embedAll(r.Context(), embedder, b.Input)
	if err != nil {
		return refusedByModel(err)
	}
	if err := quota.Charge(r.Context(), p, project, knowledge.Usage{EmbeddingTokens: used.PromptTokens, Cost: used.Cost, Currency: used.Currency}); err != nil {
		return err
	}
	tokens := used.PromptTokens
	for i, v := range vectors {
		out.Data = append(out.Data, Embedding{Object: "embedding", Index: i, Vector: vector{v, b.EncodingFormat == "base64"}})
	}
	out.Usage = EmbeddingUsage{tokens, tokens}
	edge.WriteJSON(w, http.StatusOK, out)
	return nil
}

// noTokens returns what a wrong input may be instead: the schema's message lacks that
// arrays of tokens are not supported.
func noTokens(err error) error {
	e := knowledge.AsError(err)
	if e.Code == knowledge.CodeInvalid && slices.ContainsFunc(e.Fields, func(f knowledge.Field) bool { return f.Location == "body.input" }) {
		return knowledge.Invalid("body.input", "must be a text that is not empty, or 1 to %d of them; arrays of tokens are not supported, because the model of this instance has its own tokenizer: send the texts", maxInputs)
	}
	return err
}

// embedAll embeds texts in as many requests as the endpoint needs, and counts their
// tokens; where the endpoint does not count them, it estimates them.
func embedAll(ctx context.Context, embedder Embedder, texts []string) (vectors [][]float32, used model.Usage, err error) {
	for rest := texts; len(rest) > 0; {
		n := embedder.MaxTexts(len(rest))
		some, usage, err := embedder.Embed(ctx, rest[:n])
		if err != nil {
			return nil, used, fmt.Errorf("embed %d texts: %w", n, err)
		}
		vectors, rest = append(vectors, some...), rest[n:]
		used.PromptTokens, used.Cost, used.Currency = used.PromptTokens+usage.PromptTokens, used.Cost+usage.Cost, usage.Currency
	}
	if used.PromptTokens == 0 {
		for _, text := range texts {
			used.PromptTokens += knowledge.EstimateTokens(text)
		}
	}
	return vectors, used, nil
}
