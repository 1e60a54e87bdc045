package api

import (
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// eventsLife is how long the token in an eventsUrl is good.
const eventsLife = time.Hour

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
	PublishedVersion int                      `json:"publishedVersion" doc:"The version that readers see; 0: none"`
	Error            *knowledge.DocumentError `json:"error" doc:"Why the newest version is not published"`
	Version          int                      `json:"version" doc:"The newest"`
	ChunkCount       int                      `json:"chunkCount"`
	PageCount        int                      `json:"pageCount"`
	Language         string                   `json:"language" doc:"ISO 639-3; und: not known"`
	Tags             []string                 `json:"tags"`
	Metadata         map[string]any           `json:"metadata"`
	Classification   string                   `json:"classification"`
	Access           documentAccess           `json:"access"`
	LegalHold        bool                     `json:"legalHold,omitempty"`
	ParentID         string                   `json:"parentId,omitempty" doc:"The document of which this one is an attachment. It has that document's access and is removed with it"`
	CreatedAt        time.Time                `json:"createdAt"`
	UpdatedAt        time.Time                `json:"updatedAt"`
	OperatorURL      string                   `json:"operatorUrl"`
	RunID            string                   `json:"runId,omitempty" doc:"Of the run that this answer started"`
	EventsURL        string                   `json:"eventsUrl,omitempty" doc:"Where that run's events are, for an hour without a key"`
}

// documentAccess is who may read a document.
type documentAccess struct {
	Workspace bool     `json:"workspace" doc:"Everybody in the workspace"`
	Users     []string `json:"users"`
	Groups    []string `json:"groups"`
}

// documentView gives a document as clients see it.
func (s *Server) documentView(d knowledge.Document) Document {
	workflow := knowledge.KindIngest.WorkflowID(d.Workspace, d.ID)
	if d.Status == knowledge.StatusDeleting {
		workflow = knowledge.KindRemove.WorkflowID(d.Workspace, d.ID)
	}
	metadata := d.Metadata
	if metadata == nil {
		metadata = map[string]any{}
	}
	readers := d.Access
	if d.ExternalUserID != "" || d.ConversationID != "" {
		readers = knowledge.Access{} // it is that user's or conversation's alone
	}
	return Document{
		ID: d.ID, ExternalID: d.ExternalID, Name: d.Name, MediaType: d.MediaType, Bytes: d.Bytes, Status: d.Status,
		Stage: d.Stage, Progress: d.Progress, PublishedVersion: d.PublishedVersion, Error: d.Error, Version: d.Version,
		ChunkCount: d.ChunkCount, PageCount: d.PageCount, Language: d.Language, Tags: notNil(d.Tags), Metadata: metadata,
		Classification: d.Classification, LegalHold: d.LegalHold, ParentID: d.ParentID, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
		Access:      documentAccess{Workspace: readers.Workspace, Users: notNil(readers.Users), Groups: notNil(readers.Groups)},
		OperatorURL: s.deps.Links.OperatorURL(workflow),
	}
}

// startedView is documentView with the run that was started.
func (s *Server) startedView(d knowledge.Document, run string) Document {
	view := s.documentView(d)
	view.RunID, view.EventsURL = run, s.eventsURL(d.Workspace, run)
	return view
}

// eventsURL is where a run's events are, with a token for a reader that can
// send no header.
func (s *Server) eventsURL(workspace, run string) string {
	// To the minute, so that a request which is repeated is given the same link.
	expires := s.now().Add(eventsLife + time.Minute).Truncate(time.Minute)
	token := s.deps.Access.SignRun(workspace, run, expires)
	return s.link("/runs/" + run + "/events?token=" + url.QueryEscape(token))
}

// link gives a path of the API as answers show it.
func (s *Server) link(path string) string { return strings.TrimRight(s.cfg.PublicURL, "/") + path }
