package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Document is a document as the API returns it. RunID is set in answers that
// started a run.
type Document struct {
	ID               string                   `json:"id"`
	ExternalID       string                   `json:"externalId"`
	Name             string                   `json:"name"`
	MediaType        string                   `json:"mediaType"`
	Bytes            int64                    `json:"bytes"`
	Status           knowledge.Status         `json:"status"`
	Stage            knowledge.Stage          `json:"stage"`
	Progress         float64                  `json:"progress"`
	Version          int                      `json:"version"`
	PublishedVersion int                      `json:"publishedVersion"`
	Error            *knowledge.DocumentError `json:"error"`
	Acknowledged     bool                     `json:"acknowledged"`
	Waiting          *knowledge.Waiting       `json:"waiting"`
	ChunkCount       int                      `json:"chunkCount"`
	PageCount        int                      `json:"pageCount"`
	Warnings         []knowledge.Warning      `json:"warnings"`
	Language         string                   `json:"language"`
	Tags             []string                 `json:"tags"`
	Metadata         map[string]any           `json:"metadata"`
	Classification   string                   `json:"classification"`
	Subjects         []string                 `json:"subjects,omitempty"`
	Access           *knowledge.Access        `json:"access"`
	CreatedAt        time.Time                `json:"createdAt"`
	UpdatedAt        time.Time                `json:"updatedAt"`
	OperatorURL      string                   `json:"operatorUrl"`
	RunID            string                   `json:"runId"`
	Unchanged        bool                     `json:"unchanged"` // of an upload: the newest version is the same

	Raw map[string]json.RawMessage `json:"-"` // every field of the API's answer, for MarshalJSON
}

// UnmarshalJSON decodes an answer over the document's present fields.
func (d *Document) UnmarshalJSON(data []byte) error {
	type fields Document
	if err := json.Unmarshal(data, (*fields)(d)); err != nil {
		return err
	}
	return json.Unmarshal(data, &d.Raw)
}

// MarshalJSON returns the API's answer with its own fields only, including
// empty ones and those that this client does not know.
func (d Document) MarshalJSON() ([]byte, error) { return json.Marshal(d.Raw) }

// Upload is a file to ingest.
type Upload struct {
	Project    string
	Name       string
	ExternalID string // "" = a new document each time
	Tags       []string
	Force      bool          // make a new version of an unchanged document too
	Password   string        // of an encrypted file, "" = none
	Choice     *ImportChoice // of a zip; nil = all files in it
	Transcript *Transcript   // of a recording; nil = none
	// Open returns the file's content. Each call starts at its beginning.
	Open func() (io.ReadCloser, error)
}

// Transcript is the transcript that is sent with a recording. Its name is the name of the
// recording with the extension vtt or srt.
type Transcript struct {
	Name string
	Open func() (io.ReadCloser, error) // as Upload.Open
}

// Uploaded is what a file became: a document whose ingestion has started, or, if it is
// an archive, the import of the files in it.
type Uploaded struct {
	Document *Document
	Import   *Import
}

// UploadFile uploads one file that is no archive, as Upload does.
func (c *Client) UploadFile(ctx context.Context, u Upload) (Document, error) {
	uploaded, err := c.Upload(ctx, u)
	if err != nil {
		return Document{}, err
	}
	if uploaded.Document == nil {
		return Document{}, fmt.Errorf("upload %s: it is an archive, and became the import %s", u.Name, uploaded.Import.ID)
	}
	return *uploaded.Document, nil
}

// Upload uploads one file without holding it in memory, and returns what it became. If
// the connection is lost, it repeats the upload until Config.Patience has passed.
func (c *Client) Upload(ctx context.Context, u Upload) (Uploaded, error) {
	var uploaded Uploaded
	key := knowledge.NewID()
	err := c.retryRequest(ctx, func() (err error) {
		uploaded, err = c.uploadOnce(ctx, u, key)
		return err
	})
	if err != nil {
		return Uploaded{}, fmt.Errorf("upload %s: %w", u.Name, err)
	}
	return uploaded, nil
}

func (c *Client) uploadOnce(ctx context.Context, u Upload, key string) (Uploaded, error) {
	content, err := u.Open()
	if err != nil {
		return Uploaded{}, err
	}
	defer content.Close()
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	// Every try uses the same boundary: a repeated request must have the same
	// bytes.
	if err := form.SetBoundary("cairn-" + key); err != nil {
		return Uploaded{}, err
	}
	written := make(chan error, 1)
	go func() {
		err := writeForm(form, u, content)
		writer.CloseWithError(err)
		written <- err
	}()
	header := http.Header{"Content-Type": {form.FormDataContentType()}, idempotencyHeader: {key}}
	var answer struct {
		Documents []Document `json:"documents"`
		Import    *Import    `json:"import"`
	}
	got, err := c.exchange(ctx, http.MethodPost, c.inWorkspace("projects", u.Project, "files"), nil, header, reader, &answer)
	_ = reader.Close() // ends the writer when the server answers early
	if readErr := <-written; readErr != nil && !errors.Is(readErr, io.ErrClosedPipe) {
		return Uploaded{}, readErr // reading the file failed; the server received a part of it
	}
	switch {
	case err != nil:
		return Uploaded{}, err
	case answer.Import != nil && len(answer.Documents) == 0:
		return Uploaded{Import: answer.Import}, nil
	case len(answer.Documents) != 1:
		return Uploaded{}, fmt.Errorf("the server answered with %d documents for one file", len(answer.Documents))
	}
	d := withRun(answer.Documents[0], got)
	return Uploaded{Document: &d}, nil
}

// writeForm writes the fields before the file, so that the server has them when
// the file's bytes arrive.
func writeForm(form *multipart.Writer, u Upload, content io.Reader) error {
	if u.ExternalID != "" {
		if err := form.WriteField("externalId", u.ExternalID); err != nil {
			return err
		}
	}
	if len(u.Tags) > 0 {
		tags, err := json.Marshal(u.Tags)
		if err != nil {
			return err
		}
		if err := form.WriteField("tags", string(tags)); err != nil {
			return err
		}
	}
	if u.Force {
		if err := form.WriteField("force", "true"); err != nil {
			return err
		}
	}
	if u.Password != "" {
		override, err := json.Marshal(withPassword(u.Password))
		if err != nil {
			return err
		}
		if err := form.WriteField("override", string(override)); err != nil {
			return err
		}
	}
	if u.Choice != nil {
		choice, err := json.Marshal(u.Choice)
		if err != nil {
			return err
		}
		if err := form.WriteField("import", string(choice)); err != nil {
			return err
		}
	}
	part, err := form.CreateFormFile("files", u.Name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, content); err != nil {
		return err
	}
	if u.Transcript != nil {
		if err := u.Transcript.write(form); err != nil {
			return err
		}
	}
	return form.Close()
}

func (t *Transcript) write(form *multipart.Writer) error {
	content, err := t.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	part, err := form.CreateFormFile("files", t.Name)
	if err != nil {
		return err
	}
	_, err = io.Copy(part, content)
	return err
}

// Content is the content of a document that is not uploaded as a file.
type Content struct {
	Text string `json:"text,omitempty"`
	URL  string `json:"url,omitempty"`
}

// NewDocument is a document whose content is text, or an address that the
// server fetches.
type NewDocument struct {
	Project    string   `json:"-"`
	Name       string   `json:"name,omitempty"`
	ExternalID string   `json:"externalId,omitempty"`
	Content    Content  `json:"content"`
	Tags       []string `json:"tags,omitempty"`
	Force      *bool    `json:"force,omitempty"` // false = make no new version of an unchanged document
	Password   string   `json:"-"`               // of an encrypted file, "" = none
}

func withPassword(password string) map[string]string { return map[string]string{"password": password} }

// AddDocument starts the ingestion of a document that is not a file.
func (c *Client) AddDocument(ctx context.Context, d NewDocument) (Document, error) {
	body := struct {
		NewDocument

		Override map[string]string `json:"override,omitempty"`
	}{NewDocument: d}
	if d.Password != "" {
		body.Override = withPassword(d.Password)
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return Document{}, fmt.Errorf("add document %s: %w", d.Name, err)
	}
	var answer Document
	header := http.Header{"Content-Type": {"application/json"}, idempotencyHeader: {knowledge.NewID()}}
	err = c.retryRequest(ctx, func() error {
		got, err := c.exchange(ctx, http.MethodPost, c.webhook("document"), projectQuery(d.Project), header, bytes.NewReader(encoded), &answer)
		answer = withRun(answer, got)
		return err
	})
	if err != nil {
		return Document{}, fmt.Errorf("add document %s: %w", d.Name, err)
	}
	return answer, nil
}

// DocumentQuery filters a list of documents. Zero fields do not filter.
type DocumentQuery struct {
	Project    string
	Status     string
	ExternalID string
	Named      string // an id or its beginning, an external id, or a name
	Tags       []string
	Page       int // 0 = first
	Limit      int // 0 = the server's 500
}

// DocumentList is one page of a project's documents.
type DocumentList struct {
	Documents []Document `json:"documents"`
	Page      int        `json:"page"`
	Limit     int        `json:"limit"`
	Total     int        `json:"total"`

	StaleEmbeddings *StaleEmbeddings `json:"staleEmbeddings"` // of the project, on its first page; nil = none
}

// Documents returns one page of a project's documents.
func (c *Client) Documents(ctx context.Context, q DocumentQuery) (DocumentList, error) {
	query := projectQuery(q.Project)
	query.Set("page", strconv.Itoa(q.Page))
	setString(query, "status", q.Status)
	setString(query, "externalId", q.ExternalID)
	setString(query, "named", q.Named)
	for _, tag := range q.Tags {
		query.Add("tags", tag)
	}
	if q.Limit > 0 {
		query.Set("limit", strconv.Itoa(q.Limit))
	}
	var list DocumentList
	_, err := c.call(ctx, http.MethodGet, c.webhook("documents"), query, nil, &list)
	return list, err
}

// Document returns one document.
func (c *Client) Document(ctx context.Context, id string) (Document, error) {
	var d Document
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("documents", id), nil, nil, &d)
	return d, err
}

// Parsed returns a document as it was read, in the format json or markdown.
func (c *Client) Parsed(ctx context.Context, id, format string) (string, error) {
	path := c.inWorkspace("documents", id, "parsed")
	res, err := c.send(ctx, http.MethodGet, path, url.Values{"format": {format}}, nil, nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return "", fmt.Errorf("read document %s: %w", id, err)
	}
	return string(text), nil
}

// RemoveDocument starts the removal of a document.
func (c *Client) RemoveDocument(ctx context.Context, id string) (Document, error) {
	return c.act(ctx, http.MethodDelete, id)
}

// RetryDocument resumes an ingestion that failed, from its failed stage.
func (c *Client) RetryDocument(ctx context.Context, id string) (Document, error) {
	return c.act(ctx, http.MethodPost, id, "retry")
}

// ReingestDocument creates a new version from the stored original.
func (c *Client) ReingestDocument(ctx context.Context, id string) (Document, error) {
	return c.act(ctx, http.MethodPost, id, "reingest")
}

func (c *Client) act(ctx context.Context, method, id string, action ...string) (Document, error) {
	var d Document
	header, err := c.call(ctx, method, c.inWorkspace(append([]string{"documents", id}, action...)...), nil, nil, &d)
	if err != nil {
		return Document{}, err
	}
	return withRun(d, header), nil
}

// withRun sets the run from the header of an answer that started one.
func withRun(d Document, header http.Header) Document {
	if run := header.Get(runHeader); run != "" {
		d.RunID = run
		raw := map[string]json.RawMessage{"runId": json.RawMessage(strconv.Quote(run))}
		maps.Copy(raw, d.Raw)
		d.Raw = raw
	}
	return d
}

// runHeader is the header with the id of the run that a request started.
const runHeader = "Cairn-Run-Id"

func projectQuery(project string) url.Values {
	query := url.Values{}
	setString(query, "projectId", project)
	return query
}

func setString(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}
