package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/importing"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/view"
)

// filesAnswer is the answer to an upload of files.
type filesAnswer struct {
	Documents []view.Document `json:"documents"`
	Import    *Import         `json:"import" doc:"The import of a zip, whose files become documents; null: there was no zip"`
}

// fileRoutes holds the route that takes files into a project.
type fileRoutes struct {
	store Tenants
	forms *fileForms
}

func (f *fileRoutes) mount(e *edge.Edge) { edge.HandleRaw(e, f.forms.route(), f.addFiles) }

// fileForms takes in the files of forms.
type fileForms struct {
	edge         *edge.Edge
	intake       *intake.Intake
	imports      *importing.Starter
	views        *views
	requestBytes int64 // limit of a form
	tempDir      string
}

// route describes an upload of files.
func (ff *fileForms) route() edge.Route {
	registry := ff.edge.OpenAPI().Components.Schemas
	text := &huma.Schema{Type: huma.TypeString}
	return edge.Route{Streams: true, Operation: huma.Operation{
		OperationID: "add-files", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/projects/{id}/files",
		Summary: "Upload files", Tags: []string{"documents"},
		Description: "If a file has an externalId and is equal to the newest version of that document, with the same settings, no version is created and the answer has unchanged: true. Among several files, a file of an unsupported kind becomes a document with status error; the others are ingested. A transcript (talk.vtt or talk.srt) beside a recording of the same name (talk.mp3) becomes part of its document and is used in place of a transcription by a model. A zip starts an import, whose documents are named by their path inside the zip. A later zip with the same name or externalId is the same source: its unchanged files are skipped.",
		Parameters: []*huma.Param{
			{Name: "workspaceId", In: "path", Required: true, Schema: text},
			{Name: "id", In: "path", Required: true, Schema: text, Description: "The project's id, or its name"},
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"files"}, Properties: map[string]*huma.Schema{
				"files":            {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
				"tags":             {Type: huma.TypeString, Description: "A JSON list; or repeat the field with a tag each"},
				"metadata":         {Type: huma.TypeString, Description: "A JSON object"},
				"classification":   {Type: huma.TypeString, MaxLength: new(128), Description: "As in POST /document"},
				"subjects":         {Type: huma.TypeString, Description: "A JSON list, as in POST /document"},
				"externalId":       {Type: huma.TypeString, Description: "For one file, your id of the document; for a zip, the name of the source"},
				"access":           {Type: huma.TypeString, Description: "A JSON object, as in POST /document"},
				"externalUserId":   {Type: huma.TypeString, MaxLength: new(256), Description: "Only this end user of your application can read the documents; with conversationId, the owner of the conversation"},
				"external_user_id": {Type: huma.TypeString, MaxLength: new(256), Description: "The same as externalUserId"},
				"conversationId":   {Type: huma.TypeString, MaxLength: new(256), Description: "Only this conversation can read the documents"},
				"override":         {Type: huma.TypeString, Description: "A JSON object, as in POST /document"},
				"force":            {Type: huma.TypeString, Enum: []any{"true", "false"}, Description: "true: make new versions of unchanged files too. Default: false"},
				"import":           {Type: huma.TypeString, Description: "For a zip: a JSON object with include, exclude, rules, remove_vanished and dry_run, as in POST /imports"},
				"parser":           {Type: huma.TypeString, Enum: []any{"crawler", "model"}, Description: "As in POST /document"},
			},
		}}}},
		Responses: map[string]*huma.Response{"202": {
			Description: "Accepted; the files are being ingested",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: registry.Schema(reflect.TypeFor[filesAnswer](), true, "")}},
		}},
	}}
}

// addFiles stores the files of a request as they stream by, and makes them
// documents when all of the request has arrived.
func (f *fileRoutes) addFiles(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	project, err := f.store.Project(r.Context(), p, r.PathValue("id"))
	if err != nil {
		edge.WriteError(w, r, fmt.Errorf("read project %s: %w", r.PathValue("id"), err))
		return
	}
	f.forms.receive(w, r, p, destination{project: project})
}

// destination is where files go.
type destination struct {
	project      knowledge.Project
	conversation string // to which they are attached, "" = the form may name one
}

func (ff *fileForms) receive(w http.ResponseWriter, r *http.Request, p knowledge.Principal, to destination) {
	boundary, err := ff.boundary(r)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	body := edge.NewSteady(w, r, ff.requestBytes)
	defer body.End()
	if r.Header.Get(edge.IdempotencyHeader) == "" {
		ff.take(w, r, p, to, multipart.NewReader(newPartHeaders(body, boundary), boundary))
		return
	}
	spooled, hash, err := ff.spool(newPartHeaders(body, boundary), boundary)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	defer spooled.remove()
	ff.edge.Once(w, r, &edge.Route{Anew: true}, hash, func(w http.ResponseWriter, r *http.Request) {
		ff.take(w, r, p, to, multipart.NewReader(spooled.file, boundary))
	})
}

// boundary returns the line that separates the parts of the request.
func (ff *fileForms) boundary(r *http.Request) (string, error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != "multipart/form-data":
		return "", knowledge.Errorf(knowledge.CodeUnsupportedFormat, "files are sent as multipart/form-data, in the field files")
	case parameters["boundary"] == "":
		return "", knowledge.Errorf(knowledge.CodeMalformed, "the Content-Type has no boundary")
	case r.ContentLength > ff.requestBytes:
		return "", knowledge.TooLarge("body", ff.requestBytes)
	}
	return parameters["boundary"], nil
}

func (ff *fileForms) take(w http.ResponseWriter, r *http.Request, p knowledge.Principal, to destination, parts *multipart.Reader) {
	ctx := r.Context()
	run := intakeRun(ctx)
	f := &form{
		project: to.project, run: run, batch: ff.intake.NewBatch(p, to.project, run), imports: ff.imports, decode: ff.edge.DecodeField,
		seen: map[string]bool{"conversationId": to.conversation != ""}, attributes: intake.Attributes{ConversationID: to.conversation},
	}
	err := f.read(ctx, parts)
	if err == nil {
		f.attributes.ExternalUserID, err = f.customer.Customer(p)
	}
	if err == nil {
		override := &overrideBody{Classification: f.overridden, Subjects: f.subjects}
		if f.attributes.Classification, err = override.classification(f.attributes.Classification); err == nil {
			f.attributes.Subjects, err = override.subjects(f.attributes.Subjects)
		}
	}
	var request *store.ImportRequest
	if err == nil {
		request, err = f.importRequest(ctx)
	}
	var taken []intake.Taken
	if err == nil && (f.archive == nil || f.files > 1) {
		taken, err = f.batch.Accept(ctx, f.attributes)
	}
	var started *store.Import
	if err == nil {
		started, err = f.startImport(ctx, p, request)
	}
	if err != nil {
		edge.KeepKey(ctx, f.batch.Begun())
		f.batch.Discard(ctx, err)
		if f.archive != nil {
			ff.imports.DropArchive(ctx, f.archive.key, err)
		}
		edge.WriteError(w, r, err)
		return
	}
	answer := filesAnswer{Documents: convert(taken, func(t intake.Taken) view.Document { return ff.views.acceptedDocument(p, t) })}
	w.Header().Set(runHeader, run.ID)
	if len(taken) > 0 { // the first file may be the transcript of another one
		w.Header().Set(runHeader, taken[0].Run)
	}
	if started != nil {
		shown := ff.views.importView(p, *started, nil)
		answer.Import = &shown
		if len(taken) == 0 {
			w.Header().Set(runHeader, started.RunID)
		}
	}
	edge.WriteJSON(w, http.StatusAccepted, answer)
}

// form is a request of files while it is read.
type form struct {
	project    knowledge.Project
	run        intake.Run
	batch      *intake.Batch
	imports    *importing.Starter
	archive    *archive // that has come, nil = none
	choice     ImportChoice
	decode     func(field string, value []byte, v any) error
	files      int             // that have come
	seen       map[string]bool // fields that have come
	attributes intake.Attributes
	customer   edge.CustomerFields // whose the documents are
	overridden *string             // the classification in the override
	subjects   []string            // those in the override
}

// read takes the parts as they come. Files are stored at once; the fields that
// describe them may come behind them.
func (f *form) read(ctx context.Context, parts *multipart.Reader) error {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return edge.BodyError(err)
		}
		if part.FormName() == "files" {
			err = f.file(ctx, part)
		} else {
			err = f.field(part)
		}
		if err != nil {
			return err
		}
	}
}

// file stores one file.
func (f *form) file(ctx context.Context, part *multipart.Part) error {
	_, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil || parameters["filename"] == "" {
		return knowledge.Invalid(fmt.Sprintf("body.files[%d]", f.files), "must be a file with a name")
	}
	f.files++
	content, err := f.takeArchive(ctx, parameters["filename"], edge.BodyReader{Reader: part})
	if err != nil || content == nil {
		return err
	}
	return f.batch.Add(ctx, parameters["filename"], f.attributes.ExternalID, content)
}
