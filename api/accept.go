package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// dispatchPatience is how long the start of a workflow may take.
const dispatchPatience = 10 * time.Second

// putOriginal finds out by its first bytes what a file is, and stores it. A kind
// that is not supported, or nothing at all, is refused before anything is
// stored; too much text is refused as soon as it has come. declared is the media
// type that came with the file, "" if none did.
func (s *Server) putOriginal(ctx context.Context, r io.Reader, declared string, nv *store.NewVersion) error {
	head := make([]byte, extract.HeadBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("read a file: %w", err)
	}
	head = head[:n]
	if nv.MediaType, err = extract.Sniff(nv.Name, declared, head); err != nil {
		return err
	}
	body := io.MultiReader(bytes.NewReader(head), r)
	if nv.MediaType != extract.TypePDF {
		body = &limited{what: "text of the file", r: body, left: s.cfg.TextBytes, limit: s.cfg.TextBytes}
	}
	ref, err := s.deps.Blobs.PutReader(ctx, nv.SourceKey, body)
	if err != nil {
		return fmt.Errorf("store a file: %w", err)
	}
	nv.Bytes = ref.Bytes
	return nil
}

// dropOriginal deletes the bytes of a document that was refused. Where it is not
// certain that nothing refers to them they stay, and the next start decides (worker.Uploads).
func (s *Server) dropOriginal(ctx context.Context, nv store.NewVersion, refusal error) {
	if nv.SourceKey == "" || newProblem(classify(refusal)).Status >= 500 {
		return
	}
	if err := s.deps.Blobs.Delete(context.WithoutCancel(ctx), nv.SourceKey); err != nil {
		requestLog(ctx).WarnContext(ctx, "delete the bytes of a refused document", "document", nv.DocumentID, "error", err)
	}
}

// identify gives the document its id: made of its externalId, or of the run and
// the place in the request, which are the same when the request is repeated.
func (s *Server) identify(nv *store.NewVersion, place int) {
	if nv.ExternalID != "" {
		nv.DocumentID = knowledge.DocumentID(nv.Workspace, nv.Project, nv.ExternalID)
		return
	}
	nv.DocumentID = knowledge.DerivedID("upload", nv.Workspace, nv.Project, nv.RunID, strconv.Itoa(place))
}

// accept puts a version on record and starts its ingestion.
func (s *Server) accept(ctx context.Context, nv store.NewVersion) (knowledge.Document, error) {
	d, v, err := s.deps.Store.AddVersion(ctx, nv)
	if err != nil {
		return d, fmt.Errorf("add document %s: %w", nv.DocumentID, err)
	}
	d.Name, d.Status = v.Name, v.Status // the answer is about what was sent
	if nv.Error != nil {
		return d, nil
	}
	s.dispatch(ctx, v)
	return d, nil
}

// begunBefore finds what an earlier try of the same request put on record, as it
// is now. Of a document that was removed since, its id is left.
func (s *Server) begunBefore(ctx context.Context, p knowledge.Principal, run string, again bool) (d knowledge.Document, begun bool, err error) {
	if !again {
		return d, false, nil
	}
	row, err := s.deps.Store.Run(ctx, p, run)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return d, false, nil
	}
	if err != nil {
		return d, false, fmt.Errorf("read run %s: %w", run, err)
	}
	d, err = s.deps.Store.Document(ctx, p, row.Subject)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		d = knowledge.Document{ID: row.Subject, Workspace: row.Workspace, Project: row.Project, Status: knowledge.StatusDeleting}
	case err != nil:
		return d, false, fmt.Errorf("read document %s: %w", row.Subject, err)
	}
	d.Version = row.Version // that the request made
	return d, true, nil
}

// dispatch starts an ingestion. The version is on record: where it cannot be
// started now, it is started later.
func (s *Server) dispatch(ctx context.Context, v store.Version) {
	log := requestLog(ctx).With("workspace", v.Workspace, "document", v.Document, "version", v.Version, "run", v.RunID)
	ctx, cancel := detached(ctx)
	defer cancel()
	if err := s.deps.Dispatch.Ingest(ctx, v); err != nil {
		log.WarnContext(ctx, "ingestion starts later", "error", err)
		return
	}
	log.InfoContext(ctx, "document taken in", "bytes", v.Bytes)
}

// detached is a context for what is to happen although the client may leave.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), dispatchPatience)
}

// checkRoom holds a project to the number of documents that it may have.
func (s *Server) checkRoom(ctx context.Context, p knowledge.Principal, project knowledge.Project, more ...store.NewVersion) error {
	limit := project.Config.Limits.Documents
	if limit == 0 {
		return nil
	}
	added := 0 // the rest are new versions of what is there
	for _, nv := range more {
		if _, err := s.deps.Store.Document(ctx, p, nv.DocumentID); err != nil {
			added++
		}
	}
	if added == 0 {
		return nil
	}
	total, err := s.deps.Store.CountDocuments(ctx, p, store.DocumentQuery{Project: project.ID})
	if err != nil {
		return err
	}
	if total+added > limit {
		return knowledge.Errorf(knowledge.CodeLimitReached, "project %q has %d of its %d documents, and this would be %d more: remove some, or raise limits.documents", project.ID, total, limit, added)
	}
	return nil
}
