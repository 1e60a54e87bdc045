package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// The token in the url of a source is good for at least originalLife. It changes every
// originalStep, so that an answer that is read again soon has the same one.
const (
	originalLife = time.Hour
	originalStep = 10 * time.Minute
)

// originals reads the files that documents were made of, and holds their route.
type originals struct {
	edge    *edge.Edge
	store   Documents
	blobs   Blobs
	access  Access
	now     func() time.Time
	presign bool // answer with the address of the bytes in their bucket
}

// mount adds the route.
func (o *originals) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Public: true, Proves: true, Operation: huma.Operation{
		OperationID: "get-document-content", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/documents/{id}/content", Summary: "Read the original file", Tags: []string{"documents"},
		Description: "The url of a source contains a token, with which no key is needed. Range, If-Range and If-None-Match are supported.",
		Responses: map[string]*huma.Response{
			"200": {Description: "The uploaded file, unchanged", Content: originalTypes()},
			"206": {Description: "The part of the file that Range names"},
			"304": {Description: "Not modified: If-None-Match has the ETag of the file"},
			"307": {Description: "If blob.presign is set: the file is at the URL in Location, for five minutes"},
		},
	}}, o.getOriginal)
}

// getOriginal serves an original to the holder of a key, a JWT or a link. It
// authenticates the request itself.
func (o *originals) getOriginal(_ context.Context, _ knowledge.Principal, in *struct {
	DocumentPath
	Token   string `query:"token" doc:"The token of the url of a source; replaces a key"`
	Version int    `query:"version" minimum:"1" doc:"The original of an earlier version, as long as it is kept: a document under legal hold keeps those of all versions that were replaced meanwhile. It needs a key. Default: the version that readers see"`
}) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(out huma.Context) {
		r, w := humago.Unwrap(out)
		v, err := o.requestedVersion(r, in.ID, in.Token, in.Version)
		if err == nil && o.presign && r.Method == http.MethodGet {
			var redirected bool
			audit.Left(r.Context(), v.Document)
			if redirected, err = o.redirect(w, r, v); redirected {
				return
			}
		}
		if err == nil {
			audit.Left(r.Context(), v.Document)
			err = o.serve(w, r, v)
		}
		if err != nil {
			edge.WriteError(w, r, err)
		}
	}}, nil
}

// serve serves an original, or the part of it that Range names, so that a browser
// never runs what is in it. An original never changes, so its key makes its ETag.
func (o *originals) serve(w http.ResponseWriter, r *http.Request, v store.Version) error {
	original, err := o.open(r.Context(), v)
	if err != nil {
		return err
	}
	defer func() { _ = original.Close() }() // it was only read
	mediaType, disposition := contentHeaders(v)
	header, tag := w.Header(), sha256.Sum256([]byte(v.SourceKey))
	header.Set("Content-Type", mediaType)
	header.Set("Content-Disposition", disposition)
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("Cache-Control", "private, no-cache")
	header.Set("ETag", `"`+hex.EncodeToString(tag[:16])+`"`)
	http.ServeContent(w, r, "", time.Time{}, original)
	if err := original.Err(); err != nil {
		edge.RequestLog(r.Context()).InfoContext(r.Context(), "content was cut off", "document", v.Document, "error", err)
		panic(http.ErrAbortHandler) // so that what came does not look whole
	}
	return nil
}

// presigned is how long the address of an original in its bucket works.
const presigned = 5 * time.Minute

// redirect sends the client to the original in its bucket. It reports false if the store
// has no such addresses, or does not have the original.
func (o *originals) redirect(w http.ResponseWriter, r *http.Request, v store.Version) (bool, error) {
	if v.SourceKey == "" {
		return false, nil
	}
	if there, err := o.blobs.Exists(r.Context(), v.SourceKey); err != nil || !there {
		return false, err
	}
	mediaType, disposition := contentHeaders(v)
	address, err := o.blobs.Link(r.Context(), v.SourceKey, blob.Download{MediaType: mediaType, Disposition: disposition, Valid: presigned})
	if err != nil || address == "" {
		return false, err
	}
	w.Header().Set("Location", address)
	w.Header().Set("Cache-Control", "no-store") // the permission is checked each time
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusTemporaryRedirect)
	return true, nil
}

// requestedVersion returns the version whose original a request may read. If its token opens
// nothing, the key or the JWT beside it decides.
func (o *originals) requestedVersion(r *http.Request, id, token string, version int) (store.Version, error) {
	workspace := r.PathValue("workspaceId")
	if token != "" && version == 0 {
		v, err := o.versionByLink(r.Context(), workspace, id, token)
		if c := edge.Credentials(r); !knowledge.IsCode(err, knowledge.CodeUnauthorized) || c.None() {
			return v, err
		}
	}
	p, err := o.edge.PrincipalFromQuery(r, workspace)
	if err != nil {
		return store.Version{}, err
	}
	v, err := o.chosenVersion(r.Context(), edge.AsReader(r, p), id, version)
	if err == nil && v.Enrichment.Privacy.Redacts() && !p.Can(knowledge.ScopeWrite) {
		err = redactedOriginal(id)
	}
	return v, err
}

// redactedOriginal returns the error of readers who ask for the original of a document
// whose personal data was redacted.
func redactedOriginal(id string) error {
	return knowledge.Errorf(knowledge.CodeForbidden,
		"the original of document %q has personal data that was redacted: read documents/{id}/parsed, or use a key with the write scope", id)
}

// versionByLink returns the published version of the document that a token is for, if who asked
// for the link may read it now.
func (o *originals) versionByLink(ctx context.Context, workspace, id, token string) (store.Version, error) {
	link, p, err := o.access.VerifyOriginal(ctx, token, id, o.now())
	if err != nil {
		return store.Version{}, err
	}
	if link.Workspace != workspace {
		return store.Version{}, knowledge.NotFound("document", id)
	}
	edge.ByLink(ctx, link)
	d, err := o.store.Document(ctx, p, id)
	if err != nil {
		return store.Version{}, fmt.Errorf("read document %s: %w", id, err)
	}
	if d.PublishedVersion == 0 || d.Status == knowledge.StatusInactive || d.Status == knowledge.StatusDeleting {
		return store.Version{}, knowledge.NotFound("document", id)
	}
	v, err := o.store.VersionFor(ctx, p, id, d.PublishedVersion)
	if err == nil && v.Enrichment.Privacy.Redacts() {
		err = redactedOriginal(id)
	}
	return v, err
}

// originals describes the bytes of every kind of file that is read, and of those
// whose kind is not known.
func originalTypes() map[string]*huma.MediaType {
	content := map[string]*huma.MediaType{}
	for _, f := range extract.Formats() {
		if f.IsRead() && f.Name != "source code" {
			content[f.MediaType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		}
	}
	content["application/octet-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	return content
}

// readableVersion returns the version that readers see. If none is published, it
// returns the newest one to a principal with the write scope.
func (o *originals) readableVersion(ctx context.Context, p knowledge.Principal, id string) (store.Version, error) {
	d, err := o.store.Document(ctx, p, id)
	if err != nil {
		return store.Version{}, fmt.Errorf("read document %s: %w", id, err)
	}
	wanted := d.PublishedVersion
	if wanted == 0 && p.Can(knowledge.ScopeWrite) {
		wanted = d.Version
	}
	v, err := o.store.VersionFor(ctx, p, id, wanted)
	if err != nil {
		return v, fmt.Errorf("read version %d of document %s: %w", wanted, id, err)
	}
	return v, nil
}

// chosenVersion returns a version of a document; 0 = the one that readers see. Without the
// write scope, a version that was never published is not found.
func (o *originals) chosenVersion(ctx context.Context, p knowledge.Principal, id string, version int) (store.Version, error) {
	if version == 0 {
		return o.readableVersion(ctx, p, id)
	}
	if _, err := o.store.Document(ctx, p, id); err != nil {
		return store.Version{}, fmt.Errorf("read document %s: %w", id, err)
	}
	v, err := o.store.VersionFor(ctx, p, id, version)
	seen := p.Can(knowledge.ScopeWrite) || v.Status == knowledge.StatusPublished || v.Status == knowledge.StatusInactive
	if knowledge.IsCode(err, knowledge.CodeNotFound) || err == nil && !seen {
		return v, knowledge.Errorf(knowledge.CodeNotFound, "document %q has no version %d that you may read: GET documents/{id}/versions lists them", id, version)
	}
	if err != nil {
		return v, fmt.Errorf("read version %d of document %s: %w", version, id, err)
	}
	return v, nil
}

// open opens the original of a version.
func (o *originals) open(ctx context.Context, v store.Version) (*blob.Content, error) {
	if v.SourceKey == "" { // it was refused at the upload
		return nil, knowledge.Errorf(knowledge.CodeNotFound, "the original of document %q was not stored", v.Document)
	}
	if v.Enrichment.Privacy.DropOriginal && v.Status == knowledge.StatusPublished {
		return nil, knowledge.Errorf(knowledge.CodeNotFound, "the original of document %q was deleted when it was published, as privacy.keepOriginal of its project says", v.Document)
	}
	original, err := o.blobs.OpenContent(ctx, v.SourceKey)
	if errors.Is(err, blob.ErrNotFound) && v.Status == knowledge.StatusInactive {
		return nil, knowledge.Errorf(knowledge.CodeNotFound, "the original of version %d of document %q was deleted when a newer version took its place", v.Version, v.Document).WithCause(err)
	}
	if errors.Is(err, blob.ErrNotFound) {
		return nil, knowledge.Errorf(knowledge.CodeNotFound, "the original of document %q has not arrived yet", v.Document).WithCause(err)
	}
	if err != nil {
		return nil, fmt.Errorf("open original of document %s: %w", v.Document, err)
	}
	return original, nil
}

// contentHeaders returns the Content-Type and the Content-Disposition of a version's original.
func contentHeaders(v store.Version) (mediaType, disposition string) {
	mediaType, disposition = v.MediaType, "attachment"
	if mediaType == "" {
		mediaType = "application/octet-stream"
	}
	if f, ok := extract.FormatOf(mediaType); ok && f.IsSafe {
		disposition = "inline"
	}
	return mediaType, mime.FormatMediaType(disposition, map[string]string{"filename": v.Name})
}
