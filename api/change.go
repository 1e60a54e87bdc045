package api

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// changeOf is any part of a T as the JSON that was sent. It keeps apart what a T
// cannot: a field that was not sent, one that was set to zero, and one that was
// set to null.
type changeOf[T any] json.RawMessage

// Schema implements huma.SchemaProvider: a change is checked as a T is.
func (changeOf[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// UnmarshalJSON keeps what a T can be read from.
func (c *changeOf[T]) UnmarshalJSON(data []byte) error {
	var read T
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*c = slices.Clone(data)
	return nil
}

// MarshalJSON returns the JSON as it was sent.
func (c changeOf[T]) MarshalJSON() ([]byte, error) { return json.RawMessage(c).MarshalJSON() }
