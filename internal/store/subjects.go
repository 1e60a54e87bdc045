package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// A subject is a person whom a version of a document names as one that it is about.

// encodeSubjects returns subjects as a column.
func encodeSubjects(subjects []string) (string, error) {
	return encodeUnlessZero(unique(subjects), len(subjects) == 0)
}

// putSubjects writes the rows by which the version is found by its subjects. had says that
// there may be some.
func (r *versionRow) putSubjects(ctx context.Context, tx transaction, had bool) error {
	if had {
		if _, err := tx.exec(ctx, "DELETE FROM document_subjects WHERE document_id = ? AND version = ?", r.DocumentID, r.Version); err != nil {
			return err
		}
	}
	var subjects []string
	if err := decode(field{r.Subjects, &subjects}); err != nil {
		return fmt.Errorf("decode the subjects of document %s: %w", r.DocumentID, err)
	}
	for _, subject := range subjects {
		_, err := tx.exec(ctx, "INSERT INTO document_subjects (document_id, version, subject, workspace) VALUES (?, ?, ?, ?)", r.DocumentID, r.Version, subject, r.Workspace)
		if err != nil {
			return err
		}
	}
	return nil
}

// documentsAbout returns the ids of the documents whose published version, or a later one,
// names a subject, and that are not being removed.
func documentsAbout(ctx context.Context, db querier, workspace, subject string) ([]string, error) {
	return texts(ctx, db, `SELECT DISTINCT d.id FROM document_subjects AS s JOIN documents AS d ON d.id = s.document_id
		WHERE s.workspace = ? AND s.subject = ? AND s.version >= d.published_version AND d.removed = FALSE AND d.removing_upto < d.version ORDER BY d.id`, workspace, subject)
}

// texts reads a column of texts.
func texts(ctx context.Context, db querier, query string, args ...any) ([]string, error) {
	rows, err := db.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// consentRequired is the condition on a version v that its project requires consents.
const consentRequired = `EXISTS (SELECT 1 FROM projects AS p WHERE p.workspace = v.workspace AND p.id = v.project AND p.config LIKE '%"consentRequired":true%')`

// unconsented is the condition on a row s of document_subjects that the person has no consent
// that holds.
const unconsented = "NOT EXISTS (SELECT 1 FROM consents AS c WHERE c.workspace = s.workspace AND c.subject = s.subject AND c.withdrawn_at = 0)"

// consented is the condition that the project of a version v requires no consents, or that
// there is one of each of its subjects.
const consented = `NOT EXISTS (SELECT 1 FROM document_subjects AS s WHERE s.document_id = v.document_id AND s.version = v.version AND ` + unconsented + " AND " + consentRequired + ")"

// requireConsents returns CodeConsentMissing for a version that is not consented.
func requireConsents(ctx context.Context, db querier, ref knowledge.VersionRef) error {
	people, err := texts(ctx, db, `SELECT s.subject FROM document_versions AS v JOIN document_subjects AS s ON s.document_id = v.document_id AND s.version = v.version
		WHERE v.document_id = ? AND v.version = ? AND v.workspace = ? AND v.project = ? AND `+unconsented+" AND "+consentRequired+" ORDER BY s.subject",
		ref.Document, ref.Version, ref.Workspace, ref.Project)
	if err == nil && len(people) > 0 {
		err = knowledge.ConsentMissing(people)
	}
	return err
}

// CheckConsents returns CodeConsentMissing for a version whose project requires consents, if a
// subject of it has none.
func (s *consentStore) CheckConsents(ctx context.Context, ref knowledge.VersionRef) error {
	if err := requireConsents(ctx, s.reader, ref); err != nil {
		return fmt.Errorf("check the consents of document %s: %w", ref.Document, failure(err))
	}
	return nil
}

// CheckSubjects is CheckConsents for a version of a project that is yet to be added, with these
// subjects.
func (s *consentStore) CheckSubjects(ctx context.Context, workspace, project string, subjects []string) error {
	if len(subjects) == 0 {
		return nil
	}
	required, err := texts(ctx, s.reader, `SELECT p.id FROM projects AS p WHERE p.workspace = ? AND p.id = ? AND p.config LIKE '%"consentRequired":true%'`, workspace, project)
	if err != nil || len(required) == 0 {
		return failure(err)
	}
	var missing []string
	for _, subject := range unique(subjects) {
		found, err := texts(ctx, s.reader, "SELECT c.id FROM consents AS c WHERE c.workspace = ? AND c.subject = ? AND c.withdrawn_at = 0 LIMIT 1", workspace, subject)
		if err != nil {
			return failure(err)
		}
		if len(found) == 0 {
			missing = append(missing, subject)
		}
	}
	if len(missing) > 0 {
		return knowledge.ConsentMissing(missing)
	}
	return nil
}
