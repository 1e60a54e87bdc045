package origin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// RAGFlow is an installation of RAGFlow.
type RAGFlow struct{ web *web }

// NewRAGFlow returns an installation of RAGFlow. It sends no request.
func NewRAGFlow(cfg Config) (*RAGFlow, error) {
	cfg.URL = strings.TrimSuffix(strings.TrimRight(cfg.URL, "/"), "/api/v1")
	w, err := newWeb(cfg, "RAGFlow", "/api/v1/datasets", "Make a new one in RAGFlow under your avatar > API.")
	return &RAGFlow{w}, err
}

// The codes of answers, whose status is 200 also for a failure.
const (
	ragflowData           = 102 // it is not there, or is somebody else's
	ragflowAuthentication = 109
)

// get decodes the data of an answer. What is not there and what the key may not read is an
// *Error with status 404.
func (r *RAGFlow) get(ctx context.Context, path string, query url.Values, out any) error {
	var answer struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := r.web.get(ctx, path, query, &answer); err != nil {
		return err
	}
	if answer.Code != 0 {
		return r.failure(path, answer.Code, answer.Message)
	}
	if err := json.Unmarshal(answer.Data, out); err != nil {
		return fmt.Errorf("decode the answer of RAGFlow to %s: %w", path, err)
	}
	return nil
}

func (r *RAGFlow) failure(path string, code int, message string) error {
	switch code {
	case ragflowAuthentication, http.StatusUnauthorized:
		return &KeyError{System: r.web.name, Renew: r.web.renew}
	case ragflowData:
		return &Error{Status: http.StatusNotFound, Text: fmt.Sprintf("it is gone, or the key may not read it (RAGFlow answered %s: %s)", path, message)}
	}
	return &Error{Status: http.StatusUnprocessableEntity, Text: fmt.Sprintf("RAGFlow answered %s with code %d: %s", path, code, message)}
}

// listed is a page of a list: the list itself, or an object with it.
type listed[T any] []T

func (l *listed[T]) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] != '{' {
		return json.Unmarshal(data, (*[]T)(l))
	}
	var in struct {
		Docs     []T `json:"docs"`
		Chunks   []T `json:"chunks"`
		Chats    []T `json:"chats"`
		Sessions []T `json:"sessions"`
	}
	err := json.Unmarshal(data, &in)
	for _, list := range [][]T{in.Docs, in.Chunks, in.Chats, in.Sessions} {
		*l = append(*l, list...)
	}
	return err
}

// ragflowPages returns the items of all pages of a list, oldest first: what is added
// meanwhile comes last. An empty page is the last one, since RAGFlow may make pages smaller
// than it is asked for; a page that is the same again comes from a list without pages.
func ragflowPages[T any](ctx context.Context, r *RAGFlow, path string, ordered bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var before json.RawMessage
		for number := 1; ; number++ {
			query := url.Values{"page": {strconv.Itoa(number)}, "page_size": {strconv.Itoa(pageLimit)}}
			if ordered {
				query.Set("orderby", "create_time")
				query.Set("desc", "false")
			}
			var raw json.RawMessage
			var items listed[T]
			err := r.get(ctx, path, query, &raw)
			if err == nil {
				err = json.Unmarshal(raw, &items)
			}
			if err != nil {
				yield(*new(T), err)
				return
			}
			if len(items) == 0 || bytes.Equal(raw, before) {
				return
			}
			before = raw
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

type ragflowDocument struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Size       int64          `json:"size"`
	CreateTime moment         `json:"create_time"`
	MetaFields map[string]any `json:"meta_fields"`
}

// Documents implements System.
func (r *RAGFlow) Documents(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for set, err := range ragflowPages[dataset](ctx, r, "/api/v1/datasets", true) {
			if err != nil {
				yield(Document{}, fmt.Errorf("list the datasets: %w", err))
				return
			}
			for one, err := range ragflowPages[ragflowDocument](ctx, r, "/api/v1/datasets/"+url.PathEscape(set.ID)+"/documents", true) {
				if err != nil {
					err = fmt.Errorf("list the documents of the dataset %q: %w", set.Name, err)
				}
				if !yield(r.document(set, one), err) {
					return
				}
			}
		}
	}
}

func (r *RAGFlow) document(set dataset, one ragflowDocument) Document {
	metadata := map[string]any{}
	maps.Copy(metadata, one.MetaFields)
	metadata["system"], metadata["collection"] = "RAGFlow", set.Name
	return Document{
		ID: "ragflow/" + set.ID + "/" + one.ID, Name: one.Name, Collection: set.Name, Tags: []string{set.Name}, Metadata: metadata,
		Version: fmt.Sprintf("%d %d", int64(one.CreateTime), one.Size),
		Open:    func(ctx context.Context) (Content, error) { return r.open(ctx, set, one) },
	}
}

// open reads the original of a document or, if it is gone, the text of its chunks.
func (r *RAGFlow) open(ctx context.Context, set dataset, one ragflowDocument) (Content, error) {
	path := "/api/v1/datasets/" + url.PathEscape(set.ID) + "/documents/" + url.PathEscape(one.ID)
	res, err := r.web.open(ctx, path)
	if err == nil && isJSON(res) && res.Header.Get("Content-Disposition") == "" {
		err = r.refusal(path, res)
	}
	switch {
	case err == nil:
		return Content{ReadCloser: res.Body, Name: one.Name}, nil
	case !isGone(err):
		return Content{}, err
	}
	text := written(func(w io.Writer) error { return r.chunks(ctx, w, path) })
	return Content{ReadCloser: text, Name: textName(one.Name), TextOnly: true}, nil
}

// refusal returns the error of an answer that has no file.
func (r *RAGFlow) refusal(path string, res *http.Response) error {
	defer res.Body.Close()
	var answer struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, largestPage)).Decode(&answer); err != nil {
		return &Error{Text: fmt.Sprintf("the answer of RAGFlow to %s is no JSON: %v", path, err)}
	}
	return r.failure(path, answer.Code, answer.Message)
}

// chunks writes the text of a document's chunks, as RAGFlow orders them.
func (r *RAGFlow) chunks(ctx context.Context, w io.Writer, path string) error {
	type chunk struct {
		Content string `json:"content"`
	}
	for c, err := range ragflowPages[chunk](ctx, r, path+"/chunks", false) {
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, c.Content+"\n\n"); err != nil {
			return err
		}
	}
	return nil
}
