package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// MaxBytes bounds what a step is sent, and what it answers.
	MaxBytes = 4 << 20
	// maxReason bounds the reason of a step that refuses, in code points.
	maxReason = 500
	// maxWords bounds an answer, a question and an instruction of a step, in code points.
	maxWords = 100_000
)

// Document is the document of a step.
type Document struct {
	ID       string         `json:"id"`
	Version  int            `json:"version"`
	Name     string         `json:"name"`
	MimeType string         `json:"mime_type"`
	Tags     []string       `json:"tags"`
	Metadata map[string]any `json:"metadata"`
}

// Block is a block of a document, named by its place among all blocks, 0 = first.
type Block struct {
	Index int                 `json:"index"`
	Kind  knowledge.BlockKind `json:"kind"`
	Level int                 `json:"level,omitempty"`
	Page  int                 `json:"page,omitempty"`
	Text  string              `json:"text"`
}

// Extracted is what a step at the place extracted is sent.
type Extracted struct {
	At       string   `json:"at"`
	Document Document `json:"document"`
	Blocks   []Block  `json:"blocks"`
}

// Attributes are what a step adds to a document. A key that the upload set keeps its value.
type Attributes struct {
	Metadata map[string]any `json:"metadata,omitempty"`
	Tags     []string       `json:"tags,omitempty"`
}

// Rejection refuses a document or an answer.
type Rejection struct {
	Reason string `json:"reason"`
}

// ExtractedAnswer is what it may answer. Blocks that are not named stay as they are.
type ExtractedAnswer struct {
	Blocks []ChangedBlock `json:"blocks,omitempty"`
	Attributes
	Reject *Rejection `json:"reject,omitempty"`
}

// ChangedBlock is a block with another text, or one that is left out.
type ChangedBlock struct {
	Index int     `json:"index"`
	Text  *string `json:"text,omitempty"`
	Drop  bool    `json:"drop,omitempty"`
}

// Chunk is a chunk of a document, by its ordinal.
type Chunk struct {
	Index    int      `json:"index"`
	Headings []string `json:"headings,omitempty"`
	Page     int      `json:"page,omitempty"`
	Text     string   `json:"text"`
}

// BeforeEmbedding is what a step at the place before_embedding is sent.
type BeforeEmbedding struct {
	At       string   `json:"at"`
	Document Document `json:"document"`
	Chunks   []Chunk  `json:"chunks"`
}

// BeforeEmbeddingAnswer is what it may answer. Chunks that are not named stay as they are.
type BeforeEmbeddingAnswer struct {
	Chunks []ChangedChunk `json:"chunks,omitempty"`
	Attributes
}

// ChangedChunk is a chunk that is embedded as another text, or left out.
type ChangedChunk struct {
	Index int     `json:"index"`
	Embed *string `json:"embed,omitempty"`
	Drop  bool    `json:"drop,omitempty"`
}

// Passage is a passage that was found for a question.
type Passage struct {
	ID         string  `json:"id"`
	DocumentID string  `json:"document_id,omitempty"`
	Document   string  `json:"document"`
	Page       int     `json:"page,omitempty"`
	Text       string  `json:"text"`
	Score      float64 `json:"score"`
}

// BeforePrompt is what a step at the place before_prompt is sent.
type BeforePrompt struct {
	At       string    `json:"at"`
	Question string    `json:"question"`
	Passages []Passage `json:"passages"`
}

// BeforePromptAnswer is what it may answer. Passages, if they are given, are the ids of those
// that the model reads, in their order.
type BeforePromptAnswer struct {
	Passages     *[]string `json:"passages,omitempty"`
	Instructions string    `json:"instructions,omitempty"`
	Question     string    `json:"question,omitempty"`
}

// Source is a source of an answer, by the number with which the answer cites it.
type Source struct {
	Number int `json:"number"`
	Passage
}

// AfterAnswer is what a step at the place after_answer is sent. The answer cites as [1].
type AfterAnswer struct {
	At       string   `json:"at"`
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Sources  []Source `json:"sources"`
}

// AfterAnswerAnswer is what it may answer.
type AfterAnswerAnswer struct {
	Answer *string    `json:"answer,omitempty"`
	Reject *Rejection `json:"reject,omitempty"`
}

// Encode encodes what a step is sent.
func Encode(input any) ([]byte, error) {
	data, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("encode the input of a step: %w", err)
	}
	if len(data) > MaxBytes {
		return nil, failed("there are more than %d MB for it", MaxBytes>>20)
	}
	return data, nil
}

// Decode reads what a step answered: one JSON object with the fields of T and no others, or
// nothing, which changes nothing.
func Decode[T any](output []byte) (answer T, err error) {
	if len(bytes.TrimSpace(output)) == 0 {
		return answer, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(output))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil {
		return answer, wrongShape(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return answer, failed("it answered with more than one JSON value")
	}
	return answer, nil
}

// wrongShape returns the failure of an answer that is not of the documented form. The words of
// the decoder name fields and types, and no values.
func wrongShape(err error) error {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return failed("it answered with something other than JSON")
	}
	return failed("its answer has another form than docs/pipeline.md says: %v", err)
}

// failed returns the failure of a step that another attempt would have too.
func failed(format string, args ...any) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeStepFailed, format, args...)
}

// check returns the refusal of a step, or what is wrong with it.
func (r *Rejection) check() error {
	switch {
	case r == nil:
		return nil
	case r.Reason == "" || utf8.RuneCountInString(r.Reason) > maxReason:
		return failed("the reason of its refusal must have 1 to %d characters", maxReason)
	}
	return &knowledge.Error{Code: knowledge.CodeStepRejected, Message: r.Reason}
}

func (a Attributes) check() error {
	wrong := append(knowledge.TagFields("tags", a.Tags), knowledge.MetadataFields("metadata", a.Metadata)...)
	if len(wrong) > 0 {
		return failed("%s", wrong[0].Location+" "+wrong[0].Message)
	}
	return nil
}

// IsZero reports whether the step adds nothing.
func (a Attributes) IsZero() bool { return len(a.Metadata)+len(a.Tags) == 0 }

// Add adds what a later step gave.
func (a *Attributes) Add(b Attributes) {
	if a.Metadata == nil && len(b.Metadata) > 0 {
		a.Metadata = map[string]any{}
	}
	maps.Copy(a.Metadata, b.Metadata)
	a.Tags = append(a.Tags, b.Tags...)
}

func tooLong(text string) bool { return utf8.RuneCountInString(text) > maxWords }
