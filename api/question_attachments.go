package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// attachmentBody is an attachment of a question: the id of a document, an http address, or
// an object.
type attachmentBody struct {
	ID      string           `json:"id,omitempty" maxLength:"200" doc:"The id of a document that the user may read; instead of url and content"`
	Name    string           `json:"name,omitempty" maxLength:"512" doc:"The name of a new document. Default: the last part of the URL, else untitled"`
	URL     string           `json:"url,omitempty" doc:"An http or https URL; the server fetches it"`
	Content *documentContent `json:"content,omitempty" doc:"One of text, url and base64, as in POST /document"`
}

// UnmarshalJSON also reads a string: an address or an id.
func (a *attachmentBody) UnmarshalJSON(data []byte) error {
	var short string
	if json.Unmarshal(data, &short) == nil {
		*a = attachmentBody{ID: short}
		if strings.HasPrefix(short, "http://") || strings.HasPrefix(short, "https://") {
			*a = attachmentBody{URL: short}
		}
		return nil
	}
	type body attachmentBody
	return json.Unmarshal(data, (*body)(a))
}

// Schema implements huma.SchemaProvider.
func (attachmentBody) Schema(r huma.Registry) *huma.Schema {
	type Attachment attachmentBody
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, MinLength: new(1), MaxLength: new(2048), Description: "The id of a document, or an http(s) URL"}, schemaOf[Attachment](r),
	}}
}

// attachments returns the attachments of a question.
func (b queryBody) attachments() ([]question.Attachment, error) {
	var list []question.Attachment
	for i, a := range b.Attachments {
		content := documentContent{}
		given := 0
		for _, set := range []bool{a.ID != "", a.URL != "", a.Content != nil} {
			if set {
				given++
			}
		}
		if given != 1 {
			return nil, knowledge.Invalid(fmt.Sprintf("body.attachments[%d]", i), "must have one of id, url and content")
		}
		if a.Content != nil {
			content = *a.Content
		}
		if a.URL != "" {
			content.URL = &a.URL
		}
		list = append(list, question.Attachment{ID: a.ID, Name: a.Name, Text: content.Text, URL: content.URL, Base64: content.Base64, MediaType: content.MediaType})
	}
	return list, nil
}

// attachmentView is what became of an attachment of a question.
type attachmentView struct {
	DocumentID string           `json:"documentId"`
	Name       string           `json:"name" doc:"Empty if the reader may not, or may no longer, see the document"`
	Status     knowledge.Status `json:"status" enum:"pending,published,error,inactive,deleting" doc:"The status of the document when the question continued. pending: the ingestion took longer than the question waits, or the question still waits"`
	Error      *attachmentError `json:"error,omitempty"`
}

// attachmentError is why an attachment could not be read.
type attachmentError struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
}

// attachmentUpdate shows where an attachment of the question stands.
func (r *renderer) attachmentUpdate(ctx context.Context, e stream.Event) (string, any, error) {
	var attached knowledge.AttachedDocument
	if err := json.Unmarshal(e.Data, &attached); err != nil {
		return "", nil, fmt.Errorf("attachment of run %s: %w", r.run.ID, err)
	}
	shown, err := r.attachment(ctx, attached)
	return stream.TopicAttachment, shown, err
}

func (r *renderer) attachments(ctx context.Context, list []knowledge.AttachedDocument) ([]attachmentView, error) {
	var shown []attachmentView
	for _, attached := range list {
		one, err := r.attachment(ctx, attached)
		if err != nil {
			return nil, err
		}
		shown = append(shown, one)
	}
	return shown, nil
}

func (r *renderer) attachment(ctx context.Context, attached knowledge.AttachedDocument) (attachmentView, error) {
	shown := attachmentView{DocumentID: attached.DocumentID, Status: attached.Status}
	if attached.Code != "" {
		shown.Error = &attachmentError{Code: attached.Code, Message: "the document could not be read"}
	}
	d, err := r.results.store.Document(ctx, r.principal, attached.DocumentID)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		return shown, nil
	case err != nil:
		return shown, fmt.Errorf("read attachment %s: %w", attached.DocumentID, err)
	}
	shown.Name = d.Name
	if shown.Error != nil && d.Error != nil && d.Error.Code == attached.Code {
		shown.Error.Message = d.Error.Message
	}
	return shown, nil
}

// questionAttachments takes in what comes with questions.
type questionAttachments struct {
	store  Store
	access Access
	intake *intake.Intake
}

// Attach implements question.Attachments.
func (q *questionAttachments) Attach(ctx context.Context, p knowledge.Principal, c store.Conversation, run string, list []question.Attachment) (knowledge.Principal, []string, error) {
	project, err := q.intake.Project(ctx, p, c.Project)
	if err != nil {
		return p, nil, err
	}
	if err := mayAttach(p, list); err != nil {
		return p, nil, err
	}
	if _, err := q.store.EnsureConversation(ctx, p, c); err != nil {
		return p, nil, fmt.Errorf("open conversation %s: %w", c.ID, err)
	}
	p, err = q.access.As(ctx, p, access.Acting{User: p.User(), ExternalUser: p.ExternalUser(), Session: c.ID})
	if err != nil {
		return p, nil, err
	}
	var ids []string
	var files []question.Attachment
	for i, a := range list {
		if a.File != nil {
			files = append(files, a)
			continue
		}
		if a.ID != "" {
			if _, err := q.store.Document(ctx, p, a.ID); err != nil {
				return p, nil, fmt.Errorf("read attachment %s: %w", a.ID, err)
			}
			ids = append(ids, a.ID)
			continue
		}
		// A request that is repeated finds what it has taken in before.
		upload := intake.Run{ID: knowledge.DerivedID("attachment", run, strconv.Itoa(i)), Repeated: true}
		taken, err := q.intake.Take(ctx, p, project, upload, intake.Document{
			Name: a.Name, Content: intake.Content{Text: a.Text, URL: a.URL, Base64: a.Base64, MediaType: a.MediaType},
			Attributes: intake.Attributes{ConversationID: c.ID},
		})
		if err != nil {
			return p, nil, fmt.Errorf("take in attachment %d: %w", i, err)
		}
		ids = append(ids, taken.Document.ID)
	}
	taken, err := q.attachFiles(ctx, p, project, c.ID, run, files)
	return p, append(ids, taken...), err
}

// attachFiles takes in the files of a form, as an upload of files into the conversation
// does: one of several whose kind is not supported becomes a document with an error. It
// returns the ids of their documents.
func (q *questionAttachments) attachFiles(ctx context.Context, p knowledge.Principal, project knowledge.Project, conversation, run string, files []question.Attachment) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	batch := q.intake.NewBatch(p, project, intake.Run{ID: knowledge.DerivedID("attachment", run, "files"), Repeated: true})
	var err error
	for _, f := range files {
		if err = batch.Add(ctx, f.Name, "", f.File); err != nil {
			break
		}
	}
	var taken []intake.Taken
	if err == nil {
		taken, err = batch.Accept(ctx, intake.Attributes{ConversationID: conversation})
	}
	if err != nil {
		batch.Discard(ctx, err)
		return nil, fmt.Errorf("take in attached files: %w", err)
	}
	return convert(taken, func(t intake.Taken) string { return t.Document.ID }), nil
}

// mayAttach refuses new attachments of a principal that may not upload.
func mayAttach(p knowledge.Principal, list []question.Attachment) error {
	for i, a := range list {
		if a.ID == "" {
			if err := mayUpload(p, fmt.Sprintf("attachments[%d]", i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayUpload refuses an attachment of a principal that may not upload.
func mayUpload(p knowledge.Principal, attachment string) error {
	if !p.Can(knowledge.ScopeWrite) {
		return knowledge.Errorf(knowledge.CodeForbidden, "%s is a new document, for which a key with the scope write is needed", attachment)
	}
	return nil
}
