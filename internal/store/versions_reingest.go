package store

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ReingestVersion inserts the next version of a document, with the original and the
// attributes of its newest version, and the version's run. The override of the newest
// version applies to the project's configuration. All is read in the same transaction. A
// document that is being removed, or whose newest original was not stored, is a conflict.
func (s *versionStore) ReingestVersion(ctx context.Context, p knowledge.Principal, documentID, runID string, config knowledge.ProjectConfig, now time.Time) (knowledge.Document, Version, error) {
	if err := requireWorkspace(p); err != nil {
		return knowledge.Document{}, Version{}, err
	}
	now = s.orNow(now)
	var a addition
	err := s.write(ctx, "reingest document "+documentID, func(ctx context.Context, tx transaction) error {
		doc, err := managed(ctx, tx, p, documentID)
		if err != nil {
			return err
		}
		a = addition{NewVersion: NewVersion{DocumentID: documentID, RunID: runID, Now: now}, doc: *doc, there: true}
		if err := a.copyVersion(ctx, tx, doc.Version, config); err != nil {
			return err
		}
		return a.insert(ctx, tx)
	})
	if err != nil {
		return knowledge.Document{}, Version{}, err
	}
	return a.result()
}

// copyVersion copies the original, the attributes and the override of a version.
func (a *addition) copyVersion(ctx context.Context, tx transaction, number int, config knowledge.ProjectConfig) error {
	if a.doc.RemovingUpto > 0 {
		return knowledge.Errorf(knowledge.CodeConflict, "this document is being removed")
	}
	a.Workspace, a.Project, a.ExternalID = a.doc.Workspace, a.doc.Project, a.doc.ExternalID
	ref := knowledge.VersionRef{Workspace: a.Workspace, Project: a.Project, Document: a.DocumentID, Version: number}
	var version versionRow
	if err := loadVersion(ctx, tx, ref, &version); err != nil {
		return err
	}
	if version.SourceKey == "" { // it was refused at the upload
		return knowledge.Errorf(knowledge.CodeConflict, "the original of document %q was not stored: upload the file again", a.DocumentID)
	}
	var made knowledge.VersionEnrichment
	if err := decode(field{version.Enrichment, &made}); err != nil {
		return err
	}
	if made.Privacy.DropOriginal && version.Status == string(knowledge.StatusPublished) {
		return knowledge.Errorf(knowledge.CodeConflict, "the original of document %q was deleted when it was published, as its project asks: upload the file again", a.DocumentID)
	}
	if err := version.dropFound(); err != nil {
		return err
	}
	a.attributes, a.Name, a.MediaType, a.Bytes = version.attributes, version.Name, version.MediaType, version.Bytes
	a.SourceKey, a.SourceURL, a.Digest, a.UploadedBy = version.SourceKey, version.SourceURL, version.Digest, version.UploadedBy
	a.Parent = knowledge.VersionRef{Document: a.doc.Parent, Version: a.doc.ParentVersion}
	err := decode(field{version.Override, &a.Override})
	if err == nil {
		a.Splitter, err = a.Override.ApplyTo(config)
		a.Enrichment = a.Override.EnrichmentIn(config)
	}
	return err
}
