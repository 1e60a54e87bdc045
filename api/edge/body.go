package edge

import (
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// BodyError returns the error that a client sees when its body could not be read.
func BodyError(err error) error {
	var codeError *knowledge.Error
	var tooLarge *http.MaxBytesError
	var timeout net.Error
	switch {
	case errors.As(err, &codeError):
		return err
	case errors.As(err, &tooLarge):
		return knowledge.TooLarge("body", tooLarge.Limit).WithCause(err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return knowledge.Errorf(knowledge.CodeMalformed, "the body did not arrive in time").WithCause(err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return knowledge.Errorf(knowledge.CodeMalformed, "the body ended before it was complete").WithCause(err)
	}
	return knowledge.Errorf(knowledge.CodeMalformed, "the body could not be read").WithCause(err)
}

// Body returns the body of a request that guard has read.
func Body(r *http.Request) []byte { return callOf(r.Context()).body }

// DecodeBody reads a JSON body into v, as strictly as huma does for its
// operations: a field that v does not have, a wrong type and a value out of
// range are invalid and named; what is not JSON is malformed.
func (e *Edge) DecodeBody(r *http.Request, v any) error {
	body := callOf(r.Context()).body
	if len(body) == 0 {
		return knowledge.Errorf(knowledge.CodeMalformed, "this request needs a JSON body")
	}
	return e.decode(r.Header.Get("Content-Type"), body, v)
}

// DecodeJSON reads JSON that stands for the whole body into v, as DecodeBody does.
func (e *Edge) DecodeJSON(body []byte, v any) error { return e.decode("application/json", body, v) }

func (e *Edge) decode(contentType string, body []byte, v any) error {
	var value any
	err := e.api.Unmarshal(contentType, body, &value)
	switch {
	case errors.Is(err, huma.ErrUnknownContentType):
		return knowledge.Errorf(knowledge.CodeUnsupportedFormat, "the body must be application/json")
	case err != nil:
		return knowledge.Errorf(knowledge.CodeMalformed, "the body %v", err)
	}
	if err := knowledge.InvalidFields(e.schemas.check(reflect.TypeOf(v).Elem(), value, "body")); err != nil {
		return err
	}
	if err := ParseJSON(body, v); err != nil {
		return knowledge.Invalid("body", "%v", err)
	}
	return nil
}

// bodySchemas checks parsed bodies against the types that they go into.
type bodySchemas struct {
	mu       sync.RWMutex
	registry huma.Registry
	schemas  map[reflect.Type]*huma.Schema
}

func newBodySchemas() *bodySchemas {
	return &bodySchemas{registry: newSchemas(), schemas: map[reflect.Type]*huma.Schema{}}
}

// DecodeField reads the JSON of one field of a form into v, as strictly as
// DecodeBody reads a body.
func (e *Edge) DecodeField(field string, data []byte, v any) error {
	var value any
	if err := ParseJSON(data, &value); err != nil {
		return knowledge.Invalid("body."+field, "%v", err)
	}
	if err := knowledge.InvalidFields(e.schemas.check(reflect.TypeOf(v).Elem(), value, "body", field)); err != nil {
		return err
	}
	if err := ParseJSON(data, v); err != nil {
		return knowledge.Invalid("body."+field, "%v", err)
	}
	return nil
}

// check returns what is wrong with a parsed value that stands at a path of the
// request.
func (b *bodySchemas) check(t reflect.Type, value any, at ...string) []knowledge.Field {
	schema := b.schema(t)
	b.mu.RLock()
	defer b.mu.RUnlock()
	path := huma.NewPathBuffer(nil, 0)
	for _, part := range at {
		path.Push(part)
	}
	result := &huma.ValidateResult{}
	huma.Validate(b.registry, schema, path, huma.ModeWriteToServer, value, result)
	var fields []knowledge.Field
	for _, err := range result.Errors {
		var detail *huma.ErrorDetail
		if errors.As(err, &detail) {
			fields = append(fields, fieldOf(detail))
		}
	}
	return fields
}

// fieldOf returns what huma found wrong with a value. Zero is often sent for the default,
// which is what a field has that is left out.
func fieldOf(d *huma.ErrorDetail) knowledge.Field {
	message := knowledge.Cut(d.Message, maxHumaMessage)
	if number, ok := d.Value.(float64); ok && number == 0 && strings.HasPrefix(message, "expected number >=") {
		message += "; leave it out for the default"
	}
	return knowledge.Field{Location: d.Location, Message: message}
}

func (b *bodySchemas) schema(t reflect.Type) *huma.Schema {
	b.mu.RLock()
	schema := b.schemas[t]
	b.mu.RUnlock()
	if schema != nil {
		return schema
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	schema = b.registry.Schema(t, true, t.Name())
	b.schemas[t] = schema
	return schema
}

// BodyReader reads a part of a body that is read elsewhere. It marks the errors of the
// body, which are the client's, so that they are told from errors of the store.
type BodyReader struct{ io.Reader }

// Read implements io.Reader.
func (b BodyReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = BodyError(err)
	}
	return n, err
}
