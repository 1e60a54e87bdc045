package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// The token in the url of a source is good for at least originalLife. It changes every
// originalStep, so that an answer that is read again soon has the same one.
const (
	originalLife = time.Hour
	originalStep = 10 * time.Minute
)

// originalURL returns the address of an original, with a token for a reader that can
// send no header. The link is good as long as the principal's key or JWT is.
func (s *Server) originalURL(p knowledge.Principal, document string) string {
	expires := s.now().Add(originalLife + originalStep).Truncate(originalStep)
	token := s.deps.Access.SignOriginal(p, document, expires)
	return s.link("/workspaces/" + p.Workspace() + "/documents/" + document + "/content?token=" + url.QueryEscape(token))
}

// getOriginal serves an original to the holder of a key, a JWT or a link. It
// authenticates the request itself.
func (s *Server) getOriginal(_ context.Context, _ knowledge.Principal, in *struct {
	DocumentPath
	Token string `query:"token" doc:"The token of the url of a source; replaces a key"`
}) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(out huma.Context) {
		r, w := humago.Unwrap(out)
		v, err := s.openVersion(r, in.ID, in.Token)
		if err == nil && s.cfg.Presign && r.Method == http.MethodGet {
			var redirected bool
			if redirected, err = s.redirect(w, r, v); redirected {
				return
			}
		}
		if err == nil {
			err = s.serveOriginal(w, r, v)
		}
		if err != nil {
			edge.WriteError(w, r, err)
		}
	}}, nil
}

// serveOriginal serves an original, or the part of it that Range names, so that a browser
// never runs what is in it. An original never changes, so its key makes its ETag.
func (s *Server) serveOriginal(w http.ResponseWriter, r *http.Request, v store.Version) error {
	original, err := s.openOriginal(r.Context(), v)
	if err != nil {
		return err
	}
	defer func() { _ = original.Close() }() // it was only read
	mediaType, disposition := shownAs(v)
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
func (s *Server) redirect(w http.ResponseWriter, r *http.Request, v store.Version) (bool, error) {
	if v.SourceKey == "" {
		return false, nil
	}
	if there, err := s.deps.Blobs.Exists(r.Context(), v.SourceKey); err != nil || !there {
		return false, err
	}
	mediaType, disposition := shownAs(v)
	address, err := s.deps.Blobs.Link(r.Context(), v.SourceKey, blob.Download{MediaType: mediaType, Disposition: disposition, Valid: presigned})
	if err != nil || address == "" {
		return false, err
	}
	w.Header().Set("Location", address)
	w.Header().Set("Cache-Control", "no-store") // the permission is checked each time
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusTemporaryRedirect)
	return true, nil
}

// openVersion returns the version whose original a request may read. If its token opens
// nothing, the key or the JWT beside it decides.
func (s *Server) openVersion(r *http.Request, id, token string) (store.Version, error) {
	workspace := r.PathValue("workspaceId")
	if token != "" {
		v, err := s.linkedVersion(r.Context(), workspace, id, token)
		if c := edge.Credentials(r); !knowledge.IsCode(err, knowledge.CodeUnauthorized) || c.Key == "" && c.Bearer == "" {
			return v, err
		}
	}
	p, err := s.edge.Principal(r, workspace, edge.ActingFromQuery(r))
	if err != nil {
		return store.Version{}, err
	}
	return s.readableVersion(r.Context(), edge.AsReader(r, p), id)
}

// linkedVersion returns the published version of the document that a token is for.
func (s *Server) linkedVersion(ctx context.Context, workspace, id, token string) (store.Version, error) {
	link, err := s.deps.Access.VerifyOriginal(ctx, token, id, s.now())
	if err != nil {
		return store.Version{}, err
	}
	if link.Workspace != workspace {
		return store.Version{}, knowledge.NotFound("document", id)
	}
	p := access.ForDocumentRun(workspace, "", link)
	d, err := s.deps.Store.Document(ctx, p, id)
	if err != nil {
		return store.Version{}, fmt.Errorf("read document %s: %w", id, err)
	}
	if d.PublishedVersion == 0 || d.Status == knowledge.StatusInactive || d.Status == knowledge.StatusDeleting {
		return store.Version{}, knowledge.NotFound("document", id)
	}
	return s.deps.Store.VersionFor(ctx, p, id, d.PublishedVersion)
}
