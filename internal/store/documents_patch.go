package store

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// DocumentPatch is what to change; nil leaves as it is.
type DocumentPatch struct {
	Name           *string
	Tags           *[]string
	Metadata       *map[string]any
	Status         *knowledge.Status // inactive, or published to undo it
	Access         *knowledge.Access
	Classification *string
	Subjects       *[]string // the people whom it is about
	LegalHold      *bool

	Since *time.Time // when the caller's document was changed last; nil = whenever
}

// UpdateDocument changes attributes of a document, and returns the changed document.
// The change also applies to its pending versions, and a change of the access to its
// attachments. The caller writes the change to the index next, so this store gets the
// lease of LeaseStale, unless another process has it. A document that is being removed, or
// that was changed after patch.Since, is a conflict.
func (s *documentStore) UpdateDocument(ctx context.Context, p knowledge.Principal, id string, patch DocumentPatch) (knowledge.Document, error) {
	if err := requireWorkspace(p); err != nil {
		return knowledge.Document{}, err
	}
	var doc *documentRow
	err := s.write(ctx, "update document "+id, func(ctx context.Context, tx transaction) (err error) {
		if doc, err = managed(ctx, tx, p, id); err != nil {
			return err
		}
		if doc.RemovingUpto > 0 {
			return knowledge.Errorf(knowledge.CodeConflict, "this document is being removed")
		}
		if changed := fromMicros(doc.UpdatedAt); patch.Since != nil && !patch.Since.Equal(changed) {
			return knowledge.Errorf(knowledge.CodeConflict, "the document %q was changed meanwhile, at %s: read it again, and decide whether your change still holds", doc.ID, changed.Format(time.RFC3339))
		}
		if patch.concernsIndex() {
			doc.leaseIndex(s.id, s.now())
		}
		return patch.write(ctx, tx, doc, s.now())
	})
	if err != nil {
		return knowledge.Document{}, err
	}
	return doc.document()
}

// write applies the patch to a document, and its access to the attachments.
func (patch DocumentPatch) write(ctx context.Context, tx transaction, doc *documentRow, now time.Time) error {
	if err := patch.apply(doc); err != nil {
		return err
	}
	doc.UpdatedAt = micros(now)
	if patch.concernsIndex() {
		doc.StaleInIndex = doc.UpdatedAt
		doc.IndexChange++
	}
	if _, err := tx.NewUpdate().Model(doc).WherePK().Exec(ctx); err != nil {
		return err
	}
	if err := patch.pending(ctx, tx, doc); err != nil {
		return err
	}
	if patch.Tags != nil || patch.Access != nil {
		if err := doc.setWords(ctx, tx, true); err != nil {
			return err
		}
	}
	if err := doc.capture(ctx, tx); err != nil {
		return err
	}
	if err := doc.announce(ctx, tx, knowledge.WebhookUpdated, knowledge.NewID(), micros(now)); err != nil {
		return err
	}
	if patch.Access == nil {
		return nil
	}
	rows, err := children(ctx, tx, doc.ID)
	for i := range rows {
		if err == nil {
			err = DocumentPatch{Access: patch.Access}.write(ctx, tx, &rows[i], now)
		}
	}
	return err
}

// concernsIndex reports whether the index has to follow the patch.
func (patch DocumentPatch) concernsIndex() bool {
	return patch.Tags != nil || patch.Metadata != nil || patch.Classification != nil || patch.Access != nil
}

func (patch DocumentPatch) apply(doc *documentRow) error {
	if patch.Status != nil {
		switch *patch.Status {
		case knowledge.StatusInactive:
			doc.Inactive = true
		case knowledge.StatusPublished:
			if doc.PublishedVersion == 0 {
				return knowledge.Errorf(knowledge.CodeConflict, "nothing of this document is published yet: wait for its ingestion")
			}
			if doc.Withdrawn != "" {
				return knowledge.Errorf(knowledge.CodeConflict, "a consent for this document was withdrawn: it stays hidden while a legal hold keeps it")
			}
			doc.Inactive = false
		default:
			return invalid("body.status", "must be inactive or published")
		}
	}
	if patch.LegalHold != nil {
		doc.LegalHold = *patch.LegalHold
	}
	return patch.applyTo(&doc.attributes)
}

// applyTo changes the attributes of a document or of a version. Metadata that was found in
// the file stays, unless the patch names its key.
func (patch DocumentPatch) applyTo(a *attributes) (err error) {
	if patch.Name != nil {
		a.Name = *patch.Name
	}
	if patch.Classification != nil {
		a.Classification = *patch.Classification
	}
	if patch.Access != nil {
		if a.Access, err = encode(*patch.Access); err != nil {
			return err
		}
	}
	if patch.Subjects != nil {
		if a.Subjects, err = encodeSubjects(*patch.Subjects); err != nil {
			return err
		}
	}
	if patch.Tags == nil && patch.Metadata == nil {
		return nil
	}
	var found foundNames
	metadata, tags := map[string]any{}, []string{}
	if err := decode(field{a.Found, &found}, field{a.Metadata, &metadata}, field{a.Tags, &tags}); err != nil {
		return err
	}
	if patch.Tags != nil {
		tags, found.Tags = unique(*patch.Tags), nil
		if len(tags) > maxTags {
			return invalid("body.tags", "must be at most "+strconv.Itoa(maxTags))
		}
	}
	if patch.Metadata != nil {
		metadata, found.Keys = patch.metadata(metadata, found.Keys)
	}
	return a.encode(metadata, tags, found)
}

// metadata returns the metadata after the patch, and the keys of it that were found. keys
// are those that were found before.
func (patch DocumentPatch) metadata(before map[string]any, keys []string) (metadata map[string]any, kept []string) {
	metadata = map[string]any{}
	maps.Copy(metadata, *patch.Metadata)
	for _, key := range keys {
		if _, named := metadata[key]; named || *patch.Metadata == nil {
			continue
		}
		metadata[key] = before[key]
		if encoded, err := json.Marshal(metadata); err != nil || len(encoded) > knowledge.MaxMetadata {
			delete(metadata, key)
			continue
		}
		kept = append(kept, key)
	}
	maps.DeleteFunc(metadata, func(_ string, value any) bool { return value == nil })
	return metadata, kept
}

// pending writes the patched attributes into the published version and the newer ones,
// so that publishing one of them does not undo the patch. A patch of the access replaces
// the document's user and conversation too, since all three decide who sees it.
func (patch DocumentPatch) pending(ctx context.Context, tx transaction, doc *documentRow) error {
	columns := patch.columns()
	if len(columns) == 0 {
		return nil
	}
	var rows []versionRow
	err := tx.NewSelect().Model(&rows).Where("document_id = ? AND version >= ?", doc.ID, doc.PublishedVersion).Scan(ctx)
	for i := range rows {
		row := &rows[i]
		row.ExternalUserID, row.ConversationID = doc.ExternalUserID, doc.ConversationID
		if err == nil {
			err = patch.applyTo(&row.attributes)
		}
		if err == nil {
			_, err = tx.NewUpdate().Model(row).Column(columns...).WherePK().Exec(ctx)
		}
		if err == nil && patch.Subjects != nil {
			err = row.putSubjects(ctx, tx, true)
		}
	}
	return err
}

// columns returns the columns of a version that the patch changes.
func (patch DocumentPatch) columns() []string {
	var columns []string
	for _, changed := range []struct {
		named   bool
		columns []string
	}{
		{patch.Name != nil, []string{"name"}},
		{patch.Tags != nil || patch.Metadata != nil, []string{"tags", "metadata", "found"}},
		{patch.Classification != nil, []string{"classification"}},
		{patch.Subjects != nil, []string{"subjects"}},
		{patch.Access != nil, []string{"access", "external_user_id", "conversation_id"}},
	} {
		if changed.named {
			columns = append(columns, changed.columns...)
		}
	}
	return columns
}
