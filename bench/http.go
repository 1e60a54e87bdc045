package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// connections keeps as many connections open as there are clients.
var connections = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// remote is an API of Cairn that the bench asks.
type remote struct{ url, key string }

func (s *server) remote() remote { return remote{url: s.Endpoints().API, key: s.Key()} }

// send makes a request to the server.
func (s *server) send(ctx context.Context, method, path string, body, out any) error {
	return s.remote().send(ctx, method, path, body, out)
}

// send makes a request to the server and decodes the JSON of the answer into
// out, if out is not nil.
func (r remote) send(ctx context.Context, method, path string, body, out any) error {
	response, err := r.open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	return json.NewDecoder(response.Body).Decode(out)
}

// open makes a request to the server. The caller closes the body of the answer.
func (r remote) open(ctx context.Context, method, path string, body any) (*http.Response, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, r.url+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+r.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := connections.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return response, nil
}
