package notion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

const (
	defaultURL = "https://api.notion.com"
	// version is the first one in which a database may have several tables (data sources):
	// older ones refuse such databases.
	version = "2025-09-03"
	// perRequest is the largest number of items in an answer.
	perRequest = 100
	// maxRefusal bounds the answer that explains a refusal in bytes.
	maxRefusal = 64 << 10
)

// client speaks to Notion for one integration.
type client struct {
	http  *http.Client
	base  string // without "/" at its end
	token string
}

// list is a page of results.
type list[T any] struct {
	Results []T    `json:"results"`
	More    bool   `json:"has_more"`
	Next    string `json:"next_cursor"`
}

// errNoNext is the cause of the error for a list that does not tell its next page.
var errNoNext = errors.New("the next page of a list is none")

// after returns where a list continues behind a place, "" = nowhere.
func (l list[T]) after(place string) (string, error) {
	if !l.More {
		return "", nil
	}
	if l.Next == "" || l.Next == place || len(l.Next) > source.MaxToken/4 {
		return "", source.Unavailable(errNoNext)
	}
	return l.Next, nil
}

// get asks for an object.
func (c *client) get(ctx context.Context, path string, query url.Values, into any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.ask(ctx, http.MethodGet, path, nil, into)
}

// post sends a question, and reads its answer into a value.
func (c *client) post(ctx context.Context, path string, question, into any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return knowledge.Errorf(knowledge.CodeInternal, "the question to Notion cannot be written").WithCause(err)
	}
	return c.ask(ctx, http.MethodPost, path, body, into)
}

func (c *client) ask(ctx context.Context, method, path string, body []byte, into any) error {
	return source.ReadJSON(ctx, func() (*http.Response, error) { return c.send(ctx, method, path, body) }, refused, into)
}

func (c *client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+"/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the address of Notion is not valid").WithCause(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Notion-Version", version)
	request.Header.Set("User-Agent", "cairn")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, source.FromExchange(err)
	}
	return answer, nil
}

// download opens a file at its signed address, which gets no token. The caller closes the
// body.
func (c *client) download(ctx context.Context, address string) (*http.Response, *source.Body, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, nil, knowledge.Errorf(knowledge.CodeInvalid, "Notion names no address of the file")
	}
	return source.OpenBody(ctx, func(ctx context.Context) (*http.Response, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, knowledge.Errorf(knowledge.CodeInvalid, "the address of the file is not valid")
		}
		request.Header.Set("User-Agent", "cairn")
		answer, err := c.http.Do(request)
		if err != nil {
			return nil, source.FromExchange(err)
		}
		return answer, nil
	}, func(answer *http.Response) error {
		if answer.StatusCode == http.StatusForbidden {
			return knowledge.Errorf(knowledge.CodeForbidden, "the storage of Notion refused the file: its address has expired")
		}
		return source.FromStatus(answer.StatusCode, answer.Header, "file", u.Path)
	})
}

// errConflict is the cause of the error for an answer that another change got in the way of.
var errConflict = errors.New("conflict_error")

// refused returns the error for an answer that is none.
func refused(answer *http.Response) error {
	var says struct {
		Code string `json:"code"`
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
	if err == nil {
		err = json.Unmarshal(data, &says)
	}
	if err != nil {
		says.Code = "" // a proxy answered; its status says enough
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized:
		return knowledge.Errorf(knowledge.CodeForbidden, "Notion does not accept the secret: it must be the access token of an integration of the workspace, which has not been renewed or removed")
	case http.StatusForbidden:
		return knowledge.Errorf(knowledge.CodeForbidden, "Notion refused the request: open the settings of the integration and give it the capability \"Read content\"")
	case http.StatusNotFound, http.StatusGone:
		return knowledge.Errorf(knowledge.CodeNotFound, "Notion does not show this to the integration of the connection: open the page or one above it, then the menu •••, Connections, and add the integration")
	case http.StatusConflict:
		return source.Unavailable(errConflict)
	case http.StatusBadRequest:
		return knowledge.Errorf(knowledge.CodeInvalid, "Notion does not answer the request (%.64q): the page may contain what its interface does not support", says.Code)
	}
	return source.FromStatus(answer.StatusCode, answer.Header, "resource", "of Notion")
}
