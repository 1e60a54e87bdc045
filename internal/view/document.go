// Package view shows what is stored as clients see it, where several edges show the
// same: the API and webhooks. It checks no permission.
package view

import (
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Document is a document as clients see it.
type Document struct {
	ID               string                   `json:"id"`
	ExternalID       string                   `json:"externalId"`
	Name             string                   `json:"name"`
	MediaType        string                   `json:"mediaType"`
	Bytes            int64                    `json:"bytes"`
	Status           knowledge.Status         `json:"status" enum:"pending,published,error,inactive,deleting"`
	Stage            knowledge.Stage          `json:"stage"`
	Progress         float64                  `json:"progress" doc:"0 to 1"`
	PublishedVersion int                      `json:"publishedVersion" doc:"The version that readers see; 0 if there is none"`
	Error            *knowledge.DocumentError `json:"error" doc:"Why the newest version is not published"`
	Acknowledged     bool                     `json:"acknowledged,omitempty" doc:"A person has acknowledged the failure, so cairn doctor does not report it. A later failure is not acknowledged"`
	Waiting          *knowledge.Waiting       `json:"waiting,omitempty" doc:"Why the current step waits for its next attempt, and until when"`
	Warnings         []knowledge.Warning      `json:"warnings,omitempty" doc:"What was read with doubt, so that the text may be wrong or incomplete"`
	Version          int                      `json:"version" doc:"The number of the newest version"`
	ChunkCount       int                      `json:"chunkCount"`
	PageCount        int                      `json:"pageCount"`
	Language         string                   `json:"language" doc:"ISO 639-3; und: not known"`
	Tags             []string                 `json:"tags"`
	Metadata         map[string]any           `json:"metadata"`
	Classification   string                   `json:"classification"`
	Subjects         []string                 `json:"subjects,omitempty" doc:"The people whom the document is about"`
	Access           DocumentAccess           `json:"access"`
	LegalHold        bool                     `json:"legalHold,omitempty"`
	ParentID         string                   `json:"parentId,omitempty" doc:"The document that contains this one as an attachment. The attachment has the same access and is removed with it"`
	WebhookErrors    []knowledge.WebhookError `json:"webhookErrors,omitempty" doc:"The last response of each webhook about this document, if it was an error"`
	CreatedAt        time.Time                `json:"createdAt"`
	UpdatedAt        time.Time                `json:"updatedAt"`
	OperatorURL      string                   `json:"operatorUrl"`
	RunID            string                   `json:"runId,omitempty" doc:"The id of the run that this request started"`
	EventsURL        string                   `json:"eventsUrl,omitempty" doc:"The URL of the run's events; needs no key for an hour"`
	VisibleTo        *Readers                 `json:"visibleTo,omitempty" doc:"In answers to uploads: for whom the document is, once it is published"`
	Unchanged        bool                     `json:"unchanged,omitempty" doc:"In answers to uploads: the newest version is equal and was kept; nothing was started. The run is the run of that version"`
}

// DocumentAccess is who may read a document.
type DocumentAccess struct {
	Workspace bool     `json:"workspace" doc:"Everybody in the workspace may read the document"`
	Users     []string `json:"users"`
	Groups    []string `json:"groups"`
}

// Readers are those for whom a document is.
type Readers struct {
	DocumentAccess

	ExternalUserID string `json:"externalUserId,omitempty" doc:"Only this end user of the application reads the document"`
	ConversationID string `json:"conversationId,omitempty" doc:"Only the owner of this conversation reads the document, in it"`
}

// NewReaders returns the view of the readers of a document.
func NewReaders(r knowledge.Readers) Readers {
	return Readers{DocumentAccess: newAccess(r), ExternalUserID: r.ExternalUserID, ConversationID: r.ConversationID}
}

// newAccess returns who may read a document. One of an external user or of a conversation is
// theirs alone.
func newAccess(r knowledge.Readers) DocumentAccess {
	if r.ExternalUserID != "" || r.ConversationID != "" {
		r.Access = knowledge.Access{}
	}
	return DocumentAccess{Workspace: r.Access.Workspace, Users: notNil(r.Access.Users), Groups: notNil(r.Access.Groups)}
}

// NewDocument returns the view of a document. operatorURL returns the address of a
// workflow's page.
func NewDocument(d knowledge.Document, operatorURL func(workflowID string) string) Document {
	workflow := knowledge.KindIngest.WorkflowID(d.Workspace, d.ID)
	if d.Status == knowledge.StatusDeleting {
		workflow = knowledge.KindRemove.WorkflowID(d.Workspace, d.ID)
	}
	metadata := d.Metadata
	if metadata == nil {
		metadata = map[string]any{}
	}
	return Document{
		ID: d.ID, ExternalID: d.ExternalID, Name: d.Name, MediaType: d.MediaType, Bytes: d.Bytes, Status: d.Status,
		Stage: d.Stage, Progress: d.Progress, PublishedVersion: d.PublishedVersion, Error: d.Error, Acknowledged: d.Acknowledged, Waiting: d.Waiting, Warnings: d.Warnings, Version: d.Version,
		ChunkCount: d.ChunkCount, PageCount: d.PageCount, Language: d.Language, Tags: notNil(d.Tags), Metadata: metadata,
		Classification: d.Classification, Subjects: d.Subjects, LegalHold: d.LegalHold, ParentID: d.ParentID, WebhookErrors: d.WebhookErrors,
		CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
		Access:      newAccess(d.Readers()),
		OperatorURL: operatorURL(workflow),
	}
}

// notNil returns an empty list for nil, which would be null in JSON.
func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
