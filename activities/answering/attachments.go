package answering

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/record"
)

// Attaching holds the activity that waits for what is attached to a question.
type Attaching struct {
	stepLog

	Blobs   step.Blobs
	Library Library
}

// attachments tells models of what is attached to a question.
type attachments struct {
	Blobs   step.Blobs
	Library Library
}

// AttachmentInput waits for a document that is attached to a question, until a time.
type AttachmentInput struct {
	knowledge.RunRef
	Document string    `json:"document"`
	Until    time.Time `json:"until"`
}

// The pauses between two looks at a document.
const (
	firstAttachmentLook = 50 * time.Millisecond
	lastAttachmentLook  = time.Second
)

// AwaitAttachment blocks until the ingestion of a document has ended, or it is too late.
// A document that fails does not fail the question.
func (a *Attaching) AwaitAttachment(ctx context.Context, in AttachmentInput) (knowledge.AttachedDocument, error) {
	defer step.Heartbeat(ctx)()
	attached := knowledge.AttachedDocument{DocumentID: in.Document}
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return attached, a.fail(ctx, in.RunRef, err)
	}
	for pause := firstAttachmentLook; ; pause = min(2*pause, lastAttachmentLook) {
		d, err := a.Library.Document(ctx, request.Principal, in.Document) // nobody reads it here
		switch {
		case knowledge.IsCode(err, knowledge.CodeNotFound) || err == nil && d.Status == knowledge.StatusDeleting:
			attached.Status, attached.Code = knowledge.StatusError, knowledge.CodeNotFound
			return attached, nil
		case err != nil:
			return attached, a.fail(ctx, in.RunRef, fmt.Errorf("wait for attachment %s: %w", in.Document, err))
		}
		attached.Status = d.Status
		if d.Error != nil {
			attached.Code = d.Error.Code
		}
		if d.Status != knowledge.StatusPending || !time.Now().Before(in.Until) {
			return attached, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return attached, ctx.Err()
		}
	}
}

// withAttachments adds to a filled-in system prompt what is attached to the question, and
// returns the pictures among it. Names are read with the permission of the moment.
func (a *attachments) withAttachments(ctx context.Context, r knowledge.Request, waited []knowledge.AttachedDocument, system string) (string, []model.Picture, error) {
	var files []prompt.Attachment
	var pictures []model.Picture
	room := maxShownBytes
	for _, w := range waited {
		d, file, err := a.attachedFile(ctx, r, w)
		if knowledge.IsCode(err, knowledge.CodeNotFound) {
			continue
		}
		if err != nil {
			return system, nil, err
		}
		if slices.Contains(modelPictures, d.MediaType) && len(pictures) < maxShown {
			data, err := a.attachedPicture(ctx, r, d, int64(room))
			if err != nil {
				return system, nil, err
			}
			if data != nil {
				room -= len(data)
				file.Shown = true
				pictures = append(pictures, model.Picture{Label: "The attached picture " + prompt.Quoted(d.Name) + ":", MediaType: d.MediaType, Data: data})
			}
		}
		files = append(files, file)
	}
	return prompt.WithAttachments(system, files), pictures, nil
}

// attachedFile returns an attachment as models are told of it. One that the principal may
// not read, or no longer, is CodeNotFound.
func (a *attachments) attachedFile(ctx context.Context, r knowledge.Request, w knowledge.AttachedDocument) (knowledge.Document, prompt.Attachment, error) {
	d, err := a.Library.Document(ctx, r.Principal.Reader(), w.DocumentID)
	if err != nil {
		return d, prompt.Attachment{}, fmt.Errorf("read attachment %s: %w", w.DocumentID, err)
	}
	file := prompt.Attachment{Name: d.Name}
	switch {
	case w.Status == knowledge.StatusPending:
		file.Failure = "it could not be read in time"
	case w.Status == knowledge.StatusError && d.Error != nil:
		file.Failure = d.Error.Message
	case w.Status == knowledge.StatusError:
		file.Failure = "it could not be read"
	}
	return d, file, nil
}

// attachedFiles returns the attachments as models are told of them.
func (a *attachments) attachedFiles(ctx context.Context, r knowledge.Request, waited []knowledge.AttachedDocument) ([]prompt.Attachment, error) {
	var files []prompt.Attachment
	for _, w := range waited {
		_, file, err := a.attachedFile(ctx, r, w)
		if knowledge.IsCode(err, knowledge.CodeNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// modelPictures are the media types of pictures that models take.
var modelPictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// attachedPicture returns the original of a picture, nil if it is gone, too large, or shows
// what was redacted.
func (a *attachments) attachedPicture(ctx context.Context, r knowledge.Request, d knowledge.Document, limit int64) ([]byte, error) {
	v, err := a.Library.VersionFor(ctx, r.Principal.Reader(), d.ID, d.Version)
	if knowledge.IsCode(err, knowledge.CodeNotFound) || err == nil && (v.SourceKey == "" || v.Enrichment.Privacy.Redacts()) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the version of attachment %s: %w", d.ID, err)
	}
	reader, size, err := a.Blobs.Open(ctx, v.SourceKey)
	if err != nil || size > limit {
		if err == nil {
			err = reader.Close()
		}
		return nil, noBlob(err)
	}
	defer reader.Close()
	data, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("read attachment %s: %w", d.ID, err)
	}
	return data, nil
}

// noBlob returns nil for a missing blob.
func noBlob(err error) error {
	if err == nil || errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	return fmt.Errorf("open an attachment: %w", err)
}
