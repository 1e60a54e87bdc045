package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The limits of what a request may ask of the form of an answer.
const (
	maxStops       = 4        // as OpenAI has it
	maxStopBytes   = 1000     // of one
	maxSchemaBytes = 64 << 10 // of a JSON schema
)

// The types of a format.
const (
	formatText   = "text"
	formatObject = "json_object"
	formatSchema = "json_schema"
)

// Format is the format of the answer of a chat completion.
type Format struct {
	_          struct{}        `json:"-" additionalProperties:"true"`
	Type       string          `json:"type,omitempty" doc:"text, json_object or json_schema"`
	JSONSchema json.RawMessage `json:"json_schema,omitempty" doc:"With json_schema: an object with name, schema, strict and description"`
}

// TextFormat is the format of the text of a response.
type TextFormat struct {
	_           struct{}        `json:"-" additionalProperties:"true"`
	Type        string          `json:"type,omitempty" doc:"text, json_object or json_schema"`
	Name        string          `json:"name,omitempty" doc:"With json_schema: a name of the format"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty" doc:"With json_schema: the schema"`
	Strict      *bool           `json:"strict,omitempty"`
}

// jsonSchema is a format with a schema as endpoints read it.
type jsonSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	Strict      *bool           `json:"strict,omitempty"`
}

// answerFormat returns the format of a chat completion as endpoints read it, nil for text.
func (f *Format) answerFormat(location string) (json.RawMessage, error) {
	if f == nil {
		return nil, nil
	}
	var schema jsonSchema
	if f.Type == formatSchema && json.Unmarshal(f.JSONSchema, &schema) != nil {
		return nil, knowledge.Invalid(location+".json_schema", "must be an object with a name and a schema")
	}
	return answerFormat(f.Type, schema, location, location+".json_schema")
}

// answerFormat returns the format of a response as endpoints read it, nil for text.
func (f *TextFormat) answerFormat(location string) (json.RawMessage, error) {
	if f == nil {
		return nil, nil
	}
	return answerFormat(f.Type, jsonSchema{Name: f.Name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}, location, location)
}

// formatName is the name of a format.
var formatName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// answerFormat checks a format that stands at location, and its schema that stands at inside.
func answerFormat(kind string, schema jsonSchema, location, inside string) (json.RawMessage, error) {
	switch kind {
	case "", formatText:
		return nil, nil
	case formatObject:
		return json.RawMessage(`{"type":"json_object"}`), nil
	case formatSchema:
	default:
		return nil, knowledge.Invalid(location+".type", "must be text, json_object or json_schema")
	}
	switch {
	case !formatName.MatchString(schema.Name):
		return nil, knowledge.Invalid(inside+".name", "must have 1 to 64 letters, digits, - and _")
	case !bytes.HasPrefix(bytes.TrimSpace(schema.Schema), []byte("{")):
		return nil, knowledge.Invalid(inside+".schema", "must be a JSON schema, an object")
	case len(schema.Schema) > maxSchemaBytes:
		return nil, knowledge.Invalid(inside+".schema", "must have at most %d bytes", maxSchemaBytes)
	}
	format, err := json.Marshal(map[string]any{"type": formatSchema, formatSchema: schema})
	if err != nil {
		return nil, fmt.Errorf("encode a format: %w", err)
	}
	return format, nil
}

// stopTexts returns the texts at which an answer ends.
func stopTexts(value any) ([]string, error) {
	const location = "body.stop"
	var texts []string
	switch value := value.(type) {
	case nil:
	case string:
		texts = []string{value}
	case []any:
		for _, one := range value {
			text, ok := one.(string)
			if !ok {
				return nil, knowledge.Invalid(location, "must be a text, or a list of texts")
			}
			texts = append(texts, text)
		}
	default:
		return nil, knowledge.Invalid(location, "must be a text, or a list of texts")
	}
	if len(texts) > maxStops {
		return nil, knowledge.Invalid(location, "must have at most %d texts", maxStops)
	}
	for _, text := range texts {
		if text == "" || len(text) > maxStopBytes {
			return nil, knowledge.Invalid(location, "must have texts of 1 to %d bytes", maxStopBytes)
		}
	}
	return texts, nil
}

// form returns what a chat completion asks of the form of its answer.
func (b ChatRequest) form() (form knowledge.AnswerForm, err error) {
	form.TopP = b.TopP
	if form.Stop, err = stopTexts(b.Stop); err == nil {
		form.Format, err = b.ResponseFormat.answerFormat("body.response_format")
	}
	return form, err
}

// form returns what a response asks of the form of its answer.
func (b ResponseRequest) form() (form knowledge.AnswerForm, err error) {
	form.TopP = b.TopP
	if b.Text != nil {
		form.Format, err = b.Text.Format.answerFormat("body.text.format")
	}
	return form, err
}
