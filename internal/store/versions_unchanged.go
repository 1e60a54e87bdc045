package store

import (
	"context"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// compare reads the newest version of the document, and reports in a.unchanged whether
// the upload is the same: its file, its attributes and all that decides what is made of
// them. A version that failed is never the same, so that uploading the file again is a
// new try.
func (a *addition) compare(ctx context.Context, tx transaction) error {
	if !a.SkipUnchanged || a.Digest == "" || a.fresh || a.attributes != a.inherited {
		return nil
	}
	newest := knowledge.VersionRef{Workspace: a.Workspace, Project: a.Project, Document: a.DocumentID, Version: a.doc.Version}
	err := loadVersion(ctx, tx, newest, &a.row)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return nil
	}
	if err == nil {
		a.unchanged, err = a.same(&a.row)
	}
	return err
}

// same reports whether a version has the upload's file, and was or is made as the upload
// would be.
func (a *addition) same(row *versionRow) (bool, error) {
	status := knowledge.Status(row.Status)
	if row.Digest != a.Digest || status != knowledge.StatusPending && status != knowledge.StatusPublished {
		return false, nil
	}
	override, err := encodeUnlessZero(a.Override, a.Override.IsZero())
	if err != nil || override != row.Override {
		return false, err
	}
	var splitter knowledge.Splitter
	var enrichment knowledge.VersionEnrichment
	if err := decode(field{row.Splitter, &splitter}, field{row.Enrichment, &enrichment}); err != nil {
		return false, err
	}
	otherwise, err := madeOtherwise(splitter, a.Splitter, enrichment, a.Enrichment)
	return !otherwise, err
}
