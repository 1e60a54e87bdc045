package origin

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// DifyConfig configures a Dify.
type DifyConfig struct {
	Config // with a key of the knowledge API
	// AppKey is the key of the app whose conversations are read. Defaults to none.
	AppKey string
	// Users are the users of the app whose conversations are read: Dify tells nobody who
	// they are.
	Users []string
}

// Dify is an installation of Dify, or its cloud.
type Dify struct {
	web   *web
	app   *web // nil without conversations
	users []string
}

// pageLimit is the number of items that a page of Dify or RAGFlow may have.
const pageLimit = 100

// NewDify returns an installation of Dify. It sends no request.
func NewDify(cfg DifyConfig) (*Dify, error) {
	cfg.URL = strings.TrimSuffix(strings.TrimRight(cfg.URL, "/"), "/v1")
	w, err := newWeb(cfg.Config, "Dify", "/v1/datasets", "Make a new one in Dify under Knowledge > Service API.")
	if err != nil {
		return nil, err
	}
	d := &Dify{web: w, users: cfg.Users}
	if cfg.AppKey != "" {
		cfg.Key = cfg.AppKey
		d.app, err = newWeb(cfg.Config, "Dify", "/v1/info", "Make a new key of the app in Dify under API access.")
	}
	return d, err
}

type dataset struct {
	ID   string      `json:"id"`
	Name string      `json:"name"`
	Tags []namedItem `json:"tags"`
}

type namedItem struct {
	Name string `json:"name"`
}

type difyDocument struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Position   int    `json:"position"`
	SourceType string `json:"data_source_type"`
	SourceInfo struct {
		UploadFileID string `json:"upload_file_id"`
	} `json:"data_source_info"`
	CreatedAt moment `json:"created_at"`
	WordCount int    `json:"word_count"`
	Metadata  []struct {
		Name  string `json:"name"`
		Value any    `json:"value"`
	} `json:"doc_metadata"`
}

// difyPages returns the items of all pages of a list of Dify.
func difyPages[T any](ctx context.Context, w *web, path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for number := 1; ; number++ {
			var p struct {
				Data    []T  `json:"data"`
				HasMore bool `json:"has_more"`
			}
			if err := w.get(ctx, path, url.Values{"page": {strconv.Itoa(number)}, "limit": {strconv.Itoa(pageLimit)}}, &p); err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range p.Data {
				if !yield(item, nil) {
					return
				}
			}
			if !p.HasMore || len(p.Data) == 0 {
				return
			}
		}
	}
}

// Documents implements System.
func (d *Dify) Documents(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for set, err := range difyPages[dataset](ctx, d.web, "/v1/datasets") {
			if err != nil {
				yield(Document{}, fmt.Errorf("list the knowledge bases: %w", err))
				return
			}
			for one, err := range difyPages[difyDocument](ctx, d.web, "/v1/datasets/"+url.PathEscape(set.ID)+"/documents") {
				if err != nil {
					err = fmt.Errorf("list the documents of the knowledge base %q: %w", set.Name, err)
				}
				if !yield(d.document(set, one), err) {
					return
				}
			}
		}
	}
}

func (d *Dify) document(set dataset, one difyDocument) Document {
	tags := []string{set.Name}
	for _, tag := range set.Tags {
		tags = append(tags, tag.Name)
	}
	metadata := map[string]any{"system": "Dify", "collection": set.Name}
	for _, m := range one.Metadata {
		if m.Name != "" && m.Value != nil && !slices.Contains(difyOwnMetadata(), m.Name) {
			metadata[m.Name] = m.Value
		}
	}
	return Document{
		ID: "dify/" + set.ID + "/" + one.ID, Name: one.Name, Collection: set.Name, Tags: tags, Metadata: metadata,
		Version: fmt.Sprintf("%s %d %d", one.SourceInfo.UploadFileID, int64(one.CreatedAt), one.WordCount),
		Open:    func(ctx context.Context) (Content, error) { return d.open(ctx, set, one) },
	}
}

// difyOwnMetadata are the fields that Dify fills itself, with what Cairn knows of a document
// anyway.
func difyOwnMetadata() []string {
	return []string{"document_name", "uploader", "upload_date", "last_update_date", "source"}
}

// open reads the original of a document or, if there is none, the text of its segments.
func (d *Dify) open(ctx context.Context, set dataset, one difyDocument) (Content, error) {
	path := "/v1/datasets/" + url.PathEscape(set.ID) + "/documents/" + url.PathEscape(one.ID)
	if one.SourceType == "upload_file" {
		content, err := d.original(ctx, path, one.Name)
		if err == nil || !isGone(err) {
			return content, err
		}
	}
	text := written(func(w io.Writer) error { return d.segments(ctx, w, path) })
	return Content{ReadCloser: text, Name: textName(one.Name), TextOnly: true}, nil
}

// original reads the file of a document from the address that Dify signs for it. Which route
// answers with the address depends on Dify's version.
func (d *Dify) original(ctx context.Context, path, name string) (Content, error) {
	var file struct {
		Name        string `json:"name"`
		URL         string `json:"url"`
		DownloadURL string `json:"download_url"`
	}
	err := d.web.get(ctx, path+"/upload-file", nil, &file)
	if isGone(err) {
		err = d.web.get(ctx, path+"/download", nil, &file)
	}
	if err != nil {
		return Content{}, err
	}
	address := file.DownloadURL
	if address == "" {
		address = file.URL
	}
	res, err := d.web.open(ctx, address) //nolint:bodyclose // Content.Close closes it
	if err != nil {
		return Content{}, err
	}
	if file.Name != "" {
		name = file.Name
	}
	return Content{ReadCloser: res.Body, Name: name}, nil
}

// segments writes the text of a document's segments, in their order.
func (d *Dify) segments(ctx context.Context, w io.Writer, path string) error {
	type segment struct {
		Content string `json:"content"`
		Answer  string `json:"answer"`
	}
	for s, err := range difyPages[segment](ctx, d.web, path+"/segments") {
		if err != nil {
			return err
		}
		text := s.Content + "\n\n"
		if s.Answer != "" {
			text += s.Answer + "\n\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}
