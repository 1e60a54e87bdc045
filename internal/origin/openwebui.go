package origin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// OpenWebUI is an installation of Open WebUI. Its documents are the files of the knowledge
// bases, and its conversations those of the user of the key.
type OpenWebUI struct{ web *web }

// NewOpenWebUI returns an installation of Open WebUI. It sends no request.
func NewOpenWebUI(cfg Config) (*OpenWebUI, error) {
	cfg.URL = strings.TrimSuffix(strings.TrimRight(cfg.URL, "/"), "/api/v1")
	w, err := newWeb(cfg, "Open WebUI", "/api/v1/knowledge/", "Make a new one in Open WebUI under Settings > Account > API keys.")
	return &OpenWebUI{w}, err
}

type knowledgeBase struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Files []knowledgeFile `json:"files"` // of older versions
}

type knowledgeFile struct {
	ID        string `json:"id"`
	Filename  string `json:"filename"`
	Hash      string `json:"hash"`
	UpdatedAt moment `json:"updated_at"`
	Meta      struct {
		Name        string `json:"name"`
		ContentType string `json:"content_type"`
		Data        map[string]any
	} `json:"meta"`
}

// page is a page of a list. Older versions answer with the whole list.
type page[T any] struct {
	Items []T
	Total int
	whole bool
}

func (p *page[T]) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		p.whole = true
		return json.Unmarshal(data, &p.Items)
	}
	var body struct {
		Items []T `json:"items"`
		Total int `json:"total"`
	}
	err := json.Unmarshal(data, &body)
	p.Items, p.Total = body.Items, body.Total
	return err
}

// pages returns the items of all pages of a list.
func pages[T any](ctx context.Context, w *web, path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := 0
		for number := 1; ; number++ {
			var p page[T]
			if err := w.get(ctx, path, url.Values{"page": {strconv.Itoa(number)}}, &p); err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if seen += len(p.Items); p.whole || len(p.Items) == 0 || seen >= p.Total {
				return
			}
		}
	}
}

// Documents implements System.
func (o *OpenWebUI) Documents(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for base, err := range pages[knowledgeBase](ctx, o.web, "/api/v1/knowledge/") {
			if err != nil {
				yield(Document{}, fmt.Errorf("list the knowledge bases: %w", err))
				return
			}
			for file, err := range o.files(ctx, base) {
				if err != nil {
					err = fmt.Errorf("list the files of the knowledge base %q: %w", base.Name, err)
				}
				if !yield(o.document(base, file), err) {
					return
				}
			}
		}
	}
}

// files returns the files of a knowledge base, which older versions list with the base itself.
func (o *OpenWebUI) files(ctx context.Context, base knowledgeBase) iter.Seq2[knowledgeFile, error] {
	path := "/api/v1/knowledge/" + url.PathEscape(base.ID)
	return func(yield func(knowledgeFile, error) bool) {
		first := true
		for file, err := range pages[knowledgeFile](ctx, o.web, path+"/files") {
			if first && lacksRoute(err) {
				break
			}
			if !yield(file, err) || err != nil {
				return
			}
			first = false
		}
		if !first {
			return
		}
		var whole knowledgeBase
		err := o.web.get(ctx, path, nil, &whole)
		if err != nil {
			yield(knowledgeFile{}, err)
			return
		}
		for _, file := range whole.Files {
			if !yield(file, nil) {
				return
			}
		}
	}
}

func (o *OpenWebUI) document(base knowledgeBase, file knowledgeFile) Document {
	name := file.Meta.Name
	if name == "" {
		name = file.Filename
	}
	version := file.Hash
	if version == "" && file.UpdatedAt > 0 {
		version = file.UpdatedAt.time().Format(time.RFC3339)
	}
	return Document{
		ID: "openwebui/" + base.ID + "/" + file.ID, Name: name, Collection: base.Name, Tags: []string{base.Name}, Version: version,
		Metadata: map[string]any{"system": "Open WebUI", "collection": base.Name},
		Open:     func(ctx context.Context) (Content, error) { return o.open(ctx, file.ID, name) },
	}
}

// open reads the original of a file or, if it is gone, the text that was made of it.
func (o *OpenWebUI) open(ctx context.Context, id, name string) (Content, error) {
	path := "/api/v1/files/" + url.PathEscape(id)
	res, err := o.web.open(ctx, path+"/content") //nolint:bodyclose // Content.Close closes it
	if err == nil {
		return Content{ReadCloser: res.Body, Name: name}, nil
	}
	if !isGone(err) {
		return Content{}, err
	}
	var text struct {
		Content string `json:"content"`
	}
	if o.web.get(ctx, path+"/data/content", nil, &text) != nil || strings.TrimSpace(text.Content) == "" {
		return Content{}, err // the first error says more
	}
	return Content{ReadCloser: io.NopCloser(strings.NewReader(text.Content)), Name: textName(name), TextOnly: true}, nil
}
