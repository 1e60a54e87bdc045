package custom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/tool"
)

// maxResponse bounds what is read of a response.
const maxResponse = 4 * tool.MaxWords

// automation returns the tool that sends a request.
func (t *Tools) automation(name string, c knowledge.CustomTool, need knowledge.SecretNeed) tool.Tool {
	a := *c.Automation
	if a.Method == "" {
		a.Method = http.MethodPost
	}
	return tool.Tool{
		Name: name, Description: c.Description, Parameters: tool.Schema(c), Limit: Limit,
		Once: a.Method != http.MethodGet && a.Method != http.MethodHead,
		Run: func(ctx context.Context, call tool.Call) (tool.Output, error) {
			request, err := t.request(ctx, a, call, need)
			if err != nil {
				return tool.Output{}, err
			}
			return t.send(request)
		},
	}
}

// request returns the request of a call. Arguments that the address does not name are in
// the query of a GET, HEAD or DELETE, and else in the JSON body.
func (t *Tools) request(ctx context.Context, a knowledge.Automation, call tool.Call, need knowledge.SecretNeed) (*http.Request, error) {
	decoder := json.NewDecoder(strings.NewReader(call.Arguments))
	decoder.UseNumber()
	arguments := map[string]any{}
	if err := decoder.Decode(&arguments); err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the arguments are not one JSON object")
	}
	address, err := fill(a.URL, arguments)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if a.Method == http.MethodGet || a.Method == http.MethodHead || a.Method == http.MethodDelete {
		query := address.Query()
		for name, value := range arguments {
			query.Set(name, text(value))
		}
		address.RawQuery = query.Encode()
	} else {
		maps.Copy(arguments, a.Body) // the model cannot change the fields of the project
		encoded, err := json.Marshal(arguments)
		if err != nil {
			return nil, fmt.Errorf("encode the body: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, a.Method, address.String(), body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	need.Host = address.Hostname()
	if request.Header, err = t.header(ctx, a.Headers, need); err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if a.Method != http.MethodGet && a.Method != http.MethodHead {
		request.Header.Set("Idempotency-Key", call.IdempotencyKey())
		request.GetBody = nil // the transport does not send it again by itself
	}
	return request, nil
}

// fill puts arguments into an address, and removes them from arguments.
func fill(address string, arguments map[string]any) (*url.URL, error) {
	wrong, used := "", []string{}
	path, query, hasQuery := strings.Cut(address, "?")
	replace := func(in string, escape func(string) string) string {
		return tool.Placeholder.ReplaceAllStringFunc(in, func(placeholder string) string {
			name := strings.Trim(placeholder, "{}")
			value, ok := arguments[name]
			if filled := text(value); !ok || filled == "" || filled == "." || filled == ".." {
				wrong = name
			}
			used = append(used, name)
			return escape(text(value))
		})
	}
	filled := replace(path, url.PathEscape)
	if hasQuery {
		filled += "?" + replace(query, url.QueryEscape)
	}
	if wrong != "" {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the argument %s is part of an address: it must be given, and not be a dot", wrong)
	}
	for _, name := range used {
		delete(arguments, name)
	}
	u, err := url.Parse(filled)
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the arguments make no address")
	}
	return u, nil
}

// text returns an argument as a part of an address.
func text(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case json.Number:
		return value.String()
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "" // what was read from JSON always has a JSON form
	}
	return string(encoded)
}

// send sends a request and returns the response in words for the model.
func (t *Tools) send(request *http.Request) (tool.Output, error) {
	response, err := t.client.Do(request)
	if err != nil {
		if refused, ok := errors.AsType[*knowledge.Error](err); ok {
			return tool.Output{}, refused
		}
		return tool.Output{}, knowledge.Errorf(knowledge.CodeProviderFailed, "the server was not reached, or did not answer; a request that changes something may have happened")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	status := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", response.StatusCode, http.StatusText(response.StatusCode)))
	words := status + "\n"
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case err != nil && len(body) == 0:
		words += "[The response broke off.]"
	case !utf8.Valid(body) && !isText(kind):
		words += "[The response is not text.]"
	default:
		words += string(body)
	}
	output := tool.Output{Words: words, Summary: fmt.Sprintf("%s, %s", status, tool.Size(len(body)))}
	if response.StatusCode >= http.StatusBadRequest {
		output.Failure = "the address answered " + status
	}
	return output, nil
}

// isText reports whether a media type is of text.
func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.Contains(kind, "json") || strings.Contains(kind, "xml")
}
