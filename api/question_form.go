package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
)

// questionForm is a question that comes as multipart/form-data: the fields of the JSON
// body, and its files. The files lie on disk until the whole form has come, because the
// fields that say whose they are may stand behind them.
type questionForm struct {
	fields map[string]json.RawMessage
	lists  map[string][]string // fields whose entries come one by one
	files  []formFile
	disk   *spoolFile
	stored int64           // bytes on disk
	limit  int64           // of a file, in bytes
	may    func() error    // returns why the caller may not upload
	seen   map[string]bool // fields that have come
}

// formFile is a file of a form, as it lies on disk.
type formFile struct {
	Name  string `json:"name"`
	Hash  string `json:"hash"` // of its bytes
	first int64
	bytes int64
}

// queryFields are the types of the fields of a question.
var queryFields = func() map[string]reflect.Kind {
	kinds := map[string]reflect.Kind{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[queryBody]()) {
		name, _, tagged := strings.Cut(field.Tag.Get("json"), ",")
		if !tagged && field.Anonymous { // whose own fields follow
			continue
		}
		kinds[name] = field.Type.Kind()
		if field.Type == reflect.TypeFor[[]string]() {
			kinds[name] = reflect.Array // whose entries may also be fields of their own
		}
	}
	return kinds
}()

// postQueryForm serves POST /query with a form: a question and its files.
func (q *questionRoutes) postQueryForm(w http.ResponseWriter, r *http.Request) {
	boundary, err := q.forms.boundary(r)
	if err == nil {
		err = checkChoices(r)
	}
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	body := edge.NewSteady(w, r, q.forms.requestBytes)
	form, err := q.readForm(r, multipart.NewReader(newPartHeaders(body, boundary), boundary))
	body.End()
	defer form.disk.remove()
	var b queryBody
	if err == nil {
		b, err = q.formBody(form)
	}
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	q.serveQuery(w, r, r.PathValue("workspaceId"), b, form)
}

// checkChoices refuses values of query parameters that huma refuses beside a JSON body.
func checkChoices(r *http.Request) error {
	for name, values := range map[string][]string{"delta": {"on", "off"}, "profile": {"ag-ui"}} {
		if r.URL.Query().Has(name) && !slices.Contains(values, r.URL.Query().Get(name)) {
			return knowledge.Invalid("query."+name, "must be %s", strings.Join(values, " or "))
		}
	}
	return nil
}

// readForm reads a form to its end. The caller removes the form's files, also after an
// error.
func (q *questionRoutes) readForm(r *http.Request, parts *multipart.Reader) (*questionForm, error) {
	f := &questionForm{fields: map[string]json.RawMessage{}, lists: map[string][]string{}, seen: map[string]bool{}, limit: q.fileBytes}
	f.may = func() error {
		p, err := q.edge.PrincipalFromQuery(r, r.PathValue("workspaceId"))
		if err == nil {
			err = mayUpload(p, "files[0]")
		}
		return err
	}
	var err error
	if f.disk, err = q.forms.newSpool(); err != nil {
		return f, err
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return f, edge.BodyError(err)
		}
		if part.FormName() == "files" {
			err = f.file(part)
		} else {
			err = f.field(part)
		}
		if err != nil {
			return f, err
		}
	}
}

// file writes a file to disk.
func (f *questionForm) file(part *multipart.Part) error {
	_, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	switch {
	case err != nil || parameters["filename"] == "":
		return knowledge.Invalid(fmt.Sprintf("body.files[%d]", len(f.files)), "must be a file with a name")
	case len(f.files) == knowledge.MaxAttachments:
		return knowledge.Invalid("body.files", "must have at most %d entries", knowledge.MaxAttachments)
	case len(f.files) == 0:
		if err := f.may(); err != nil {
			return err
		}
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f.disk, sum), io.LimitReader(part, f.limit+1))
	switch {
	case f.disk.failed != nil:
		return f.disk.failed
	case err != nil:
		return edge.BodyError(err)
	case n > f.limit:
		return knowledge.TooLarge("file", f.limit)
	}
	f.files = append(f.files, formFile{Name: parameters["filename"], Hash: hex.EncodeToString(sum.Sum(nil)), first: f.stored, bytes: n})
	f.stored += n
	return nil
}

// field keeps a field as the JSON that it would be in a body.
func (f *questionForm) field(part *multipart.Part) error {
	name := part.FormName()
	kind, known := queryFields[name]
	if !known {
		return knowledge.Invalid("body."+name, "is not a field of a question; files are sent in the field files")
	}
	value, err := fieldValue(part, name, edge.SmallBody)
	if err != nil {
		return err
	}
	list := kind == reflect.Array && !bytes.HasPrefix(bytes.TrimSpace(value), []byte("["))
	if f.seen[name] && !list {
		return knowledge.Invalid("body."+name, "must be given once")
	}
	f.seen[name] = true
	switch {
	case list:
		f.lists[name] = append(f.lists[name], string(value))
		f.fields[name], err = json.Marshal(f.lists[name])
	case kind == reflect.String:
		f.fields[name], err = json.Marshal(string(value))
	default:
		if err := edge.ParseJSON(value, new(any)); err != nil {
			return knowledge.Invalid("body."+name, "%v", err)
		}
		f.fields[name] = value
	}
	return err
}

// formBody returns the body that the fields of a form make up.
func (q *questionRoutes) formBody(f *questionForm) (b queryBody, err error) {
	body, err := json.Marshal(f.fields)
	if err != nil {
		return b, fmt.Errorf("encode a form: %w", err)
	}
	if len(body) > edge.SmallBody {
		return b, knowledge.TooLarge("fields of the form", edge.SmallBody)
	}
	return b, q.edge.DecodeJSON(body, &b)
}

// attachments returns the files as attachments, which read them from disk.
func (f *questionForm) attachments() []question.Attachment {
	return convert(f.files, func(x formFile) question.Attachment {
		return question.Attachment{Name: x.Name, File: io.NewSectionReader(f.disk.file, x.first, x.bytes)}
	})
}

// newSpool returns an empty file for what a request brings.
func (ff *fileForms) newSpool() (*spoolFile, error) {
	file, err := os.CreateTemp(ff.tempDir, "cairn-upload-")
	if err != nil {
		return nil, fmt.Errorf("keep an upload: %w", err)
	}
	return &spoolFile{file: file}, nil
}

// queryFormSchema describes the form of a question.
func queryFormSchema() *huma.Schema {
	text := func(description string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Description: description}
	}
	properties := map[string]*huma.Schema{
		"files": {Type: huma.TypeArray, MaxItems: new(knowledge.MaxAttachments), Items: &huma.Schema{Type: huma.TypeString, Format: "binary"}, Description: "Files for the question, each up to the limit of an upload"},
	}
	for name, kind := range queryFields {
		switch kind {
		case reflect.String:
			properties[name] = text("As in the JSON body")
		case reflect.Array:
			properties[name] = text("A JSON list; or repeat the field with an entry each")
		default:
			properties[name] = text("JSON, as in the JSON body")
		}
	}
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"text"}, Properties: properties}
}
