package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxMistakes bounds how many mistakes of one call the model is told.
const maxMistakes = 5

// CheckArguments returns the mistakes in the arguments of a call, as a *knowledge.Error
// for the model. It names places in the schema, and never the arguments themselves.
func (t Tool) CheckArguments(arguments string) error {
	schema, err := compile(t.Parameters)
	if err != nil {
		return fmt.Errorf("the schema of tool %s: %w", t.Name, err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if _, isObject := value.(map[string]any); err != nil || !isObject {
		return knowledge.Errorf(knowledge.CodeInvalid, "the arguments are not one JSON object%s", required(t.Parameters))
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(value))
	if !ok {
		return nil
	}
	mistakes := leaves(invalid)
	more := ""
	if n := len(mistakes) - maxMistakes; n > 0 {
		mistakes, more = mistakes[:maxMistakes], fmt.Sprintf("; and %d more", n)
	}
	return knowledge.Errorf(knowledge.CodeInvalid, "the arguments do not fit the schema of the tool: %s%s", strings.Join(mistakes, "; "), more)
}

// CheckSchema returns an error for a schema of arguments that cannot be used.
func CheckSchema(schema json.RawMessage) error {
	if _, err := compile(schema); err != nil {
		return err
	}
	var top struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(schema, &top); err != nil || top.Type != "object" {
		return errors.New(`it must have "type": "object"`)
	}
	return nil
}

// compile reads a schema. A tool without one takes any object.
func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, errors.New("it is not JSON")
	}
	const name = "tool:///arguments"
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(name, document); err != nil {
		return nil, fmt.Errorf("it is not a JSON schema: %w", err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("it is not a JSON schema: %w", err)
	}
	return compiled, nil
}

// noLoader refuses references to other schemas: a user's schema must not name files of
// this machine, nor addresses.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) {
	return nil, errors.New("a schema cannot refer to another one")
}

// required returns the names that a call must have, for the model.
func required(schema json.RawMessage) string {
	var top struct {
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(schema, &top); err != nil || len(top.Required) == 0 {
		return ""
	}
	return " with " + strings.Join(top.Required, ", ")
}

// leaves returns the mistakes that have no cause of their own.
func leaves(e *jsonschema.ValidationError) []string {
	if len(e.Causes) == 0 {
		return []string{mistake(e)}
	}
	var list []string
	for _, cause := range e.Causes {
		list = append(list, leaves(cause)...)
	}
	return list
}

// mistake describes a mistake by the words of the schema.
func mistake(e *jsonschema.ValidationError) string {
	_, place, _ := strings.Cut(e.SchemaURL, "#")
	place = strings.TrimPrefix(strings.ReplaceAll(place, "/properties/", "."), ".")
	if place == "" {
		place = "the arguments"
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return fmt.Sprintf("%s must have %s", place, strings.Join(k.Missing, ", "))
	case *kind.Type:
		return fmt.Sprintf("%s must be of type %s", place, strings.Join(k.Want, " or "))
	case *kind.AdditionalProperties:
		return fmt.Sprintf("%s must have no other properties than the schema's", place)
	default:
		return fmt.Sprintf("%s does not meet %s", place, strings.Join(e.ErrorKind.KeywordPath(), "/"))
	}
}
