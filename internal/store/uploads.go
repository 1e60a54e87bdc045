package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// UploadLease is how long an upload is believed to be under way after BeginUpload or
// RenewUpload.
const UploadLease = time.Minute

// Upload is an original whose bytes are being stored.
type Upload struct {
	SourceKey string // its blob key
	Document  string
}

// BeginUpload leases an original to this process, before its bytes are stored. AddVersion
// ends the lease if NewVersion.Leased is set.
func (s *leaseStore) BeginUpload(ctx context.Context, u Upload) error {
	return s.write(ctx, "begin an upload of document "+u.Document, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "INSERT INTO uploads (source_key, document_id, owner, leased_until) VALUES (?, ?, ?, ?)",
			u.SourceKey, u.Document, s.id, micros(s.now().Add(UploadLease)))
		return err
	})
}

// RenewUpload renews the lease of an upload of this process. An upload that has ended, or
// whose lease was lost, is CodeNotFound.
func (s *leaseStore) RenewUpload(ctx context.Context, sourceKey string) error {
	return s.write(ctx, "renew an upload", func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.exec(ctx, "UPDATE uploads SET leased_until = ? WHERE source_key = ? AND owner = ?",
			micros(s.now().Add(UploadLease)), sourceKey, s.id))
		if err == nil && !there {
			err = knowledge.Errorf(knowledge.CodeNotFound, "this upload has ended")
		}
		return err
	})
}

// EndUpload deletes the row of an upload whose bytes are deleted. It changes nothing if
// there is none.
func (s *leaseStore) EndUpload(ctx context.Context, sourceKey string) error {
	return s.write(ctx, "end an upload", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "DELETE FROM uploads WHERE source_key = ?", sourceKey)
		return err
	})
}

// endLease ends the upload of a version. A process that was slower than its lease gets
// CodeUnavailable: the bytes may be deleted.
func (a *addition) endLease(ctx context.Context, tx transaction, process string) error {
	if !a.Leased {
		return nil
	}
	there, err := changed(tx.exec(ctx, "DELETE FROM uploads WHERE source_key = ? AND owner = ?", a.SourceKey, process))
	if err == nil && !there {
		err = &knowledge.Error{Code: knowledge.CodeUnavailable, Message: "the upload was interrupted for too long, and its bytes may be gone: send it again", Retryable: true}
	}
	return err
}

// TakeLostUploads returns uploads whose leases end before a time, for the caller to delete
// their bytes and end them. Of several callers at once only one gets an upload. A caller
// that dies loses it after UploadLease.
func (s *leaseStore) TakeLostUploads(ctx context.Context, before time.Time, limit int) ([]Upload, error) {
	var lost []Upload
	err := s.write(ctx, "list lost uploads", func(ctx context.Context, tx transaction) error {
		lost = nil
		err := each(ctx, tx, "SELECT source_key, document_id FROM uploads WHERE leased_until < ? ORDER BY leased_until LIMIT ?", []any{micros(before), limit},
			func(rows *sql.Rows) error {
				var u Upload
				err := rows.Scan(&u.SourceKey, &u.Document)
				lost = append(lost, u)
				return err
			})
		for _, u := range lost {
			if err == nil { // not s.id: an upload of this process has lost its lease too
				_, err = tx.exec(ctx, "UPDATE uploads SET owner = ?, leased_until = ? WHERE source_key = ?", s.id+"/sweep", micros(s.now().Add(2*UploadLease)), u.SourceKey)
			}
		}
		return err
	})
	return lost, err
}
