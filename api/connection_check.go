package api

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/knowledge"
	objects "github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// previewBody describes a sync whose first run is asked for.
type previewBody struct {
	Scope       SyncScope `json:"scope,omitzero" doc:"Each type of connection accepts its own fields only. Default: everything"`
	Include     []string  `json:"include,omitempty" doc:"Patterns of the paths to follow, such as reports/**/*.pdf. Default: all"`
	Exclude     []string  `json:"exclude,omitempty" doc:"Patterns of the paths to leave out"`
	Permissions string    `json:"permissions,omitempty" enum:"mirror,none" default:"none" doc:"mirror: also count the files that nobody in the workspace would see"`
}

type connectionCheckInput struct {
	ConnectionPath
	Body *previewBody `nameHint:"SyncPreviewRequest" doc:"A sync: what its first run would take in is counted too. Default: only the credentials are checked"`
}

// connectionCheck is what a service says to a connection.
type connectionCheck struct {
	OK      bool             `json:"ok"`
	Error   *connectionError `json:"error" doc:"What an administrator has to change; null: nothing"`
	Preview *syncPreview     `json:"preview" doc:"What the first run of the sync in the request would take in; null: the request had none, or the service refused"`
}

type connectionError struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
}

// syncPreview is what the first run of a sync would take in.
type syncPreview struct {
	Files    int64    `json:"files" doc:"Files that it would read"`
	Bytes    int64    `json:"bytes" doc:"Of those whose size the service tells"`
	Excluded int64    `json:"excluded" doc:"Files that include and exclude leave out"`
	Hidden   int64    `json:"hidden" doc:"Of files, those that nobody in the workspace would see, because their rights in the service have no counterpart here"`
	Complete bool     `json:"complete" doc:"Whether the whole place was listed. A large or slow place is listed for 20 seconds or 2,000 files, and the numbers are the least ones"`
	Examples []string `json:"examples" doc:"The paths of the first 10 files"`

	HiddenExamples []string `json:"hidden_examples" doc:"The paths of the first 10 files that nobody would see"`
}

type checkOutput struct{ Body connectionCheck }

func (cr *connectionRoutes) check(ctx context.Context, p knowledge.Principal, in *connectionCheckInput) (*checkOutput, error) {
	out := &checkOutput{}
	var refused *knowledge.Error
	var err error
	if in.Body == nil {
		refused, err = cr.syncs.Try(ctx, p, in.ID)
	} else {
		var found following.Preview
		if found, refused, err = cr.syncs.Preview(ctx, p, in.Body.sync(in.ID)); refused == nil {
			out.Body.Preview = viewPreview(found)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("check connection %s: %w", in.ID, err)
	}
	out.Body.OK = refused == nil
	if refused != nil {
		out.Body.Error = &connectionError{Code: refused.Code, Message: refused.Message}
	}
	return out, nil
}

// sync returns the sync of a connection that the body describes.
func (b previewBody) sync(connection string) store.Sync {
	return store.Sync{Connection: connection, Request: store.SyncRequest{
		Scope: objects.Scope(b.Scope), Include: b.Include, Exclude: b.Exclude, Mirror: b.Permissions == "mirror", RemoveVanished: true,
	}}
}

func viewPreview(v following.Preview) *syncPreview {
	return &syncPreview{Files: v.Files, Bytes: v.Bytes, Excluded: v.Excluded, Hidden: v.Hidden, Complete: v.Complete, Examples: orEmpty(v.Examples), HiddenExamples: orEmpty(v.HiddenExamples)}
}
