package source

import (
	"encoding/json"
	"io"
)

// maxJSON bounds an answer in bytes.
const maxJSON = 64 << 20

// DecodeJSON reads an answer of a service. One that ends early is an error that can be
// retried.
func DecodeJSON(body io.Reader, into any) error {
	data, err := io.ReadAll(io.LimitReader(body, maxJSON))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return Unavailable(err)
	}
	return nil
}
