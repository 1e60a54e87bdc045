package source

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
)

const (
	// maxJSON bounds an answer in bytes.
	maxJSON = 64 << 20
	// maxDrained is how much of a refusal is read, so that its connection is used again.
	maxDrained = 64 << 10
)

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

// ReadJSON sends a request, three times at most, and reads its answer into a value. refused
// returns the error for an answer with a status other than 200.
func ReadJSON(ctx context.Context, send func() (*http.Response, error), refused func(*http.Response) error, into any) error {
	return Retry(ctx, func() error {
		answer, err := send()
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return refused(answer)
		}
		return DecodeJSON(answer.Body, into)
	})
}

// OpenBody sends a request, three times at most, and returns its answer with the body, which
// the caller closes: that ends the context of the request. refused is as for ReadJSON.
func OpenBody(ctx context.Context, send func(context.Context) (*http.Response, error), refused func(*http.Response) error) (answer *http.Response, body *Body, err error) {
	ctx, cancel := context.WithCancel(ctx)
	err = Retry(ctx, func() error {
		if answer, err = send(ctx); err != nil { //nolint:bodyclose // the caller closes it
			return err
		}
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		defer answer.Body.Close()
		err := refused(answer)
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxDrained))
		return err
	})
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return answer, NewBody(answer.Body, cancel), nil
}
