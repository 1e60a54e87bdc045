package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Published reports whether readers see the version.
type Published struct {
	Done  bool
	Moved bool // the project has other generations than the version was written in: write those, and try again
}

// publish sets published_version, and with it everything that readers know of the
// document. Its conditions: the document is not being removed, the version is newer
// than the published one, its subjects have consented where the project requires it, and its
// run has not given it up. The last two arguments are the
// claim of an import, which must still hold; a version that was not claimed has none.
const publish = `UPDATE documents AS d SET
	published_version = v.version, name = v.name, tags = v.tags, metadata = v.metadata, found = v.found, classification = v.classification,
	access = v.access, external_user_id = v.external_user_id, conversation_id = v.conversation_id, subjects = v.subjects, media_type = v.media_type, bytes = v.bytes,
	chunk_count = v.chunk_count, page_count = v.page_count, warnings = v.warnings, language = v.language, updated_at = ?1,
	status = CASE WHEN d.version = v.version THEN 'published' ELSE d.status END,
	stage = CASE WHEN d.version = v.version THEN 'publish' ELSE d.stage END,
	progress = CASE WHEN d.version = v.version THEN 1 ELSE d.progress END,
	error = CASE WHEN d.version = v.version THEN '' ELSE d.error END
FROM document_versions AS v
WHERE v.document_id = ?2 AND v.version = ?3 AND v.workspace = ?4 AND v.project = ?5 AND v.status = 'pending'
	AND (?6 = '' OR v.run_id = ?6 AND v.source_key = ?7) AND ` + consented + `
	AND d.id = v.document_id AND d.removed = FALSE AND d.removing_upto = 0 AND d.published_version < v.version`

// Publication is a version that is to be published.
type Publication struct {
	Ref    knowledge.VersionRef
	Of     knowledge.Generations // in which its vectors are in the index
	RunID  string                // of End
	Chunks []knowledge.Chunk     // all of them, of a short document; nil = PutChunksPart has written them
	End    *RunEnd               // of the run, if readers see the version then; nil = the run is not ended
	Used   knowledge.RunUsage    // by the run
}

// Publish is PublishVersion for chunks that are written already, and without an end of
// the run.
func (s *versionStore) Publish(ctx context.Context, ref knowledge.VersionRef) (Published, error) {
	return s.PublishVersion(ctx, Publication{Ref: ref})
}

// PublishVersion writes the chunks of a version, switches readers to it in one
// update, and ends its run, in one transaction. It writes nothing, and the run
// continues, if the document is being removed, a newer version is published, the
// version was given up, or the project's generations have changed since the version was
// written. Repeating it has the same result.
func (s *versionStore) PublishVersion(ctx context.Context, p Publication) (Published, error) {
	var result Published
	rows, err := newChunkRows(p.Ref, 0, p.Chunks)
	if err != nil {
		return result, err
	}
	doing := fmt.Sprintf("publish version %d of document %s", p.Ref.Version, p.Ref.Document)
	err = s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
		result = Published{}
		switched, err := s.publish(ctx, tx, p.Ref, p.Of, claim{}, &result)
		if err == nil && switched && p.Chunks != nil {
			err = replaceChunks(ctx, tx, p.Ref, 0, math.MaxInt32, rows)
		}
		switch used := p.Used.Encode(); {
		case err != nil || !result.Done:
		case p.End != nil:
			end := *p.End
			end.Usage = used
			_, err = endRun(ctx, tx, p.Ref.Workspace, p.RunID, end)
		case used != nil:
			_, err = tx.exec(ctx, "UPDATE runs SET usage = ? WHERE id = ? AND workspace = ? AND status = 'running'", string(used), p.RunID, p.Ref.Workspace)
		}
		return err
	})
	if err != nil {
		return Published{}, err
	}
	return result, nil
}

// claim is by whom, and with which original, a version was claimed. Another claim of the
// version has another original. The zero value is no claim.
type claim struct{ run, source string }

// publish switches readers to a version, if the claim holds. It reports whether it did;
// result.Done is also true if readers saw the version before.
func (s *versionStore) publish(ctx context.Context, tx transaction, ref knowledge.VersionRef, of knowledge.Generations, by claim, result *Published) (switched bool, err error) {
	var doc documentRow
	there, err := loadDocument(ctx, tx, ref.Document, &doc)
	if err != nil {
		return false, err
	}
	if !there || doc.Workspace != ref.Workspace || doc.Project != ref.Project {
		return false, knowledge.NotFound("document", ref.Document)
	}
	if doc.PublishedVersion < ref.Version {
		now, err := s.names.of(ctx, tx, ref.Workspace, ref.Project)
		if err != nil {
			return false, err
		}
		if result.Moved = !now.In(of); result.Moved {
			return false, nil
		}
	}
	now := micros(s.now())
	switched, err = changed(tx.exec(ctx, publish, now, ref.Document, ref.Version, ref.Workspace, ref.Project, by.run, by.source))
	if err != nil {
		return false, err
	}
	if !switched {
		result.Done = doc.PublishedVersion == ref.Version && !doc.Removed && doc.RemovingUpto == 0 // already
		if doc.PublishedVersion < ref.Version {
			if err := requireConsents(ctx, tx, ref); err != nil {
				return false, err
			}
		}
		return false, endOvertaken(ctx, tx, ref, doc.PublishedVersion)
	}
	result.Done = true
	if err := updateWords(ctx, tx, &doc); err != nil {
		return false, err
	}
	if err := markPublished(ctx, tx, ref, doc.PublishedVersion, now); err != nil {
		return false, err
	}
	return true, doc.announcePublished(ctx, tx, ref.Version, now)
}

// updateWords rewrites the tags and the tokens of a document if publishing a version
// has changed its attributes from the attributes of the row before. The first version of a
// document never changes them: they are the document's since the upload.
func updateWords(ctx context.Context, tx transaction, before *documentRow) error {
	if before.Version == 1 {
		return recapture(ctx, tx, before)
	}
	var doc documentRow
	if _, err := loadDocument(ctx, tx, before.ID, &doc); err != nil || doc.attributes == before.attributes {
		return err
	}
	return doc.setWords(ctx, tx, true)
}

// markPublished marks the version as published, and the one before as inactive.
func markPublished(ctx context.Context, tx transaction, ref knowledge.VersionRef, previous int, now int64) error {
	_, err := tx.exec(ctx, `UPDATE document_versions SET status = 'published', stage = 'publish', error = '', sealed_password = '', updated_at = ?
		WHERE document_id = ? AND version = ?`, now, ref.Document, ref.Version)
	if err != nil || previous == 0 {
		return err
	}
	_, err = tx.exec(ctx, "UPDATE document_versions SET status = 'inactive' WHERE document_id = ? AND version < ? AND status = 'published'", ref.Document, ref.Version)
	return err
}

// endOvertaken ends a pending version that is older than the published one.
func endOvertaken(ctx context.Context, tx transaction, ref knowledge.VersionRef, published int) error {
	if published <= ref.Version {
		return nil
	}
	_, err := tx.NewUpdate().Model((*versionRow)(nil)).Set("status = 'inactive', sealed_password = ''").
		Where("document_id = ? AND version = ? AND status = 'pending'", ref.Document, ref.Version).Exec(ctx)
	return err
}

// FailVersion ends a version with an error of its run. The document shows the error if
// this is its newest version; a published older version stays published. It changes
// nothing if the version belongs to another run by now.
func (s *versionStore) FailVersion(ctx context.Context, ref knowledge.VersionRef, runID string, e knowledge.DocumentError) error {
	text, err := encodeError(&e)
	if err != nil {
		return err
	}
	doing := fmt.Sprintf("fail version %d of document %s", ref.Version, ref.Document)
	return s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
		var row versionRow
		if err := loadVersion(ctx, tx, ref, &row); err != nil {
			return err
		}
		if row.RunID != runID {
			return nil
		}
		if status := knowledge.Status(row.Status); status != knowledge.StatusPending && status != knowledge.StatusError {
			return nil // published, or superseded by a newer one
		}
		now := micros(s.now())
		_, err := tx.NewUpdate().Model((*versionRow)(nil)).
			Set("status = 'error', stage = ?, error = ?, sealed_password = '', updated_at = ?", e.Stage, text, now).
			Where("document_id = ? AND version = ?", ref.Document, ref.Version).Exec(ctx)
		if err != nil {
			return err
		}
		_, err = tx.NewUpdate().Model((*documentRow)(nil)).
			Set("status = 'error', stage = ?, error = ?, updated_at = ?", e.Stage, text, now).
			Set("acknowledged_version = CASE WHEN status = 'error' THEN acknowledged_version ELSE 0 END"). // a repetition is no new failure
			Where("id = ? AND version = ?", ref.Document, ref.Version).Exec(ctx)
		return err
	})
}

// RetryVersion makes the newest version pending again, with a new run, if its error
// can be overcome by a retry. A version that waits for its next try it returns as it
// is. Otherwise it is a conflict.
func (s *versionStore) RetryVersion(ctx context.Context, p knowledge.Principal, documentID, runID string, now time.Time) (Version, error) {
	if err := requireWrite(p); err != nil {
		return Version{}, err
	}
	now = s.orNow(now)
	var row versionRow
	err := s.write(ctx, "retry document "+documentID, func(ctx context.Context, tx transaction) error {
		doc, err := managed(ctx, tx, p, documentID)
		if err != nil {
			return err
		}
		ref := knowledge.VersionRef{Workspace: doc.Workspace, Project: doc.Project, Document: doc.ID, Version: doc.Version}
		if err := loadVersion(ctx, tx, ref, &row); err != nil {
			return err
		}
		if doc.waits() {
			return nil
		}
		if err := retryable(doc, &row); err != nil {
			return err
		}
		row.RunID, row.Begun, row.Status, row.Error, row.UpdatedAt = runID, false, string(knowledge.StatusPending), "", micros(now)
		if _, err := tx.NewUpdate().Model(&row).Column("run_id", "begun", "status", "error", "updated_at").WherePK().Exec(ctx); err != nil {
			return err
		}
		_, err = tx.NewUpdate().Model((*documentRow)(nil)).Set("status = 'pending', error = '', waiting = '', updated_at = ?", micros(now)).
			Where("id = ?", documentID).Exec(ctx)
		if err != nil {
			return err
		}
		return insertRun(ctx, tx, Run{
			ID: runID, Workspace: row.Workspace, Project: row.Project, Kind: knowledge.KindIngest, FirstOffset: notBegun, Status: knowledge.RunRunning, Owner: p.Owner(),
			WorkflowID: knowledge.KindIngest.WorkflowID(row.Workspace, documentID), Subject: documentID, Version: row.Version, CreatedAt: now,
		})
	})
	if err != nil {
		return Version{}, err
	}
	return row.version()
}

// retryable returns the conflict that prevents a retry of a version, or nil.
func retryable(doc *documentRow, row *versionRow) error {
	var failed knowledge.DocumentError
	if err := decode(field{row.Error, &failed}); err != nil {
		return err
	}
	switch {
	case doc.RemovingUpto > 0:
		return knowledge.Errorf(knowledge.CodeConflict, "this document is being removed")
	case row.Status == string(knowledge.StatusPending):
		return knowledge.Errorf(knowledge.CodeConflict, "this document is being ingested and does not wait for a retry: check its status again")
	case row.Status != string(knowledge.StatusError):
		return knowledge.Errorf(knowledge.CodeConflict, "only a document that failed can be tried again; this one is %s", doc.status())
	case row.SourceKey == "" && row.SourceURL == "": // an import could not read it
		return knowledge.Errorf(knowledge.CodeConflict, "the original of this document was not stored: retry the import that brings it")
	case failed.Code == knowledge.CodeConflict && !failed.Retryable: // the version keeps vectors of a length that the index does not have
		return knowledge.Errorf(knowledge.CodeConflict, "trying again would fail the same way (conflict): repair what the document's error names, and reingest the document")
	case !failed.MayRetry():
		return knowledge.Errorf(knowledge.CodeConflict, "trying again would fail the same way (%s): upload a corrected file", failed.Code)
	}
	return nil
}
