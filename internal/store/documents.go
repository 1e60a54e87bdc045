package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// documentStore has the documents: what clients see and change of them, and which of them
// the index still has to follow.
type documentStore struct{ *database }

// maxTags is how many tags a document has at most.
const maxTags = 64

// documentRow is a document. Its attributes and its facts (media type, bytes,
// counts, language) are the published version's, or of the newest while
// none is published. Status, stage, progress and error are the newest version's;
// waiting is of the version that is ingested now, for which the newest waits too.
type documentRow struct {
	bun.BaseModel `bun:"table:documents,alias:d"`
	attributes
	ID               string  `bun:"id,pk"`
	Workspace        string  `bun:"workspace"`
	Project          string  `bun:"project"`
	ExternalID       string  `bun:"external_id"`
	MediaType        string  `bun:"media_type"`
	Bytes            int64   `bun:"bytes"`
	Status           string  `bun:"status"` // pending, published or error
	Stage            string  `bun:"stage"`
	Progress         float64 `bun:"progress"`
	Version          int     `bun:"version"`
	PublishedVersion int     `bun:"published_version"`
	Error            string  `bun:"error"`
	Waiting          string  `bun:"waiting"` // counts while the status is pending
	ChunkCount       int     `bun:"chunk_count"`
	PageCount        int     `bun:"page_count"`
	Warnings         string  `bun:"warnings"`
	Language         string  `bun:"language"`
	LegalHold        bool    `bun:"legal_hold"`
	Holds            int64   `bun:"holds"` // that nobody has lifted
	Inactive         bool    `bun:"inactive"`
	RemovingUpto     int     `bun:"removing_upto"` // 0 = not being removed
	RemovingRun      string  `bun:"removing_run"`
	RemovingSince    int64   `bun:"removing_since"`
	Removed          bool    `bun:"removed"`        // a tombstone
	StaleInIndex     int64   `bun:"stale_in_index"` // since when; 0 = the index says what the attributes are
	IndexChange      int64   `bun:"index_change"`   // number of the newest change that the index has to follow
	IndexWriter      string  `bun:"index_writer"`   // that writes it there; "" = none
	IndexWriterUntil int64   `bun:"index_writer_until"`
	Parent           string  `bun:"parent"`         // of an attachment
	ParentVersion    int     `bun:"parent_version"` // the last one that contained it
	Events           int64   `bun:"events"`         // number of its newest event for webhooks, over all its lives
	WebhookErrors    string  `bun:"webhook_errors"`
	Acknowledged     int     `bun:"acknowledged_version"` // whose failure a person knows; 0 = none
	Withdrawn        string  `bun:"withdrawn"`            // the consent whose withdrawal waits for the end of a hold; "" = none
	UploaderKey      string  `bun:"uploader_key"`         // that brought the document; "" = none
	UploaderUser     string  `bun:"uploader_user"`        // for whom
	CreatedAt        int64   `bun:"created_at"`
	UpdatedAt        int64   `bun:"updated_at"`

	Webhooks string `bun:"webhooks,scanonly"` // of its project, if loadDocument or loadDocuments read the row
}

// status is the status that clients see: a removal or a deactivation hides the status of
// the newest version.
func (r *documentRow) status() knowledge.Status {
	switch {
	case r.RemovingUpto > 0:
		return knowledge.StatusDeleting
	case r.Inactive:
		return knowledge.StatusInactive
	}
	return knowledge.Status(r.Status)
}

// failed reports whether the newest version has failed.
func (r *documentRow) failed() bool {
	return r.Status == string(knowledge.StatusError) && r.RemovingUpto == 0
}

// waits reports whether a step waits for its next try.
func (r *documentRow) waits() bool {
	return r.Waiting != "" && r.RemovingUpto == 0 && r.Status == string(knowledge.StatusPending)
}

func (r *documentRow) document() (knowledge.Document, error) {
	d := knowledge.Document{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, ExternalID: r.ExternalID, Name: r.Name,
		MediaType: r.MediaType, Bytes: r.Bytes, Status: r.status(), Stage: knowledge.Stage(r.Stage),
		Progress: r.Progress, Version: r.Version, PublishedVersion: r.PublishedVersion,
		ChunkCount: r.ChunkCount, PageCount: r.PageCount, Language: r.Language,
		Classification: r.Classification, ExternalUserID: r.ExternalUserID, ConversationID: r.ConversationID,
		LegalHold: r.held(), ParentID: r.Parent, CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
	}
	fields := []field{{r.Tags, &d.Tags}, {r.Metadata, &d.Metadata}, {r.Subjects, &d.Subjects}, {r.Access, &d.Access}, {r.Error, &d.Error}, {r.Warnings, &d.Warnings}, {r.WebhookErrors, &d.WebhookErrors}}
	if r.waits() {
		fields = append(fields, field{r.Waiting, &d.Waiting})
	}
	d.Acknowledged = r.Acknowledged > 0 && r.failed() && r.Acknowledged == r.Version
	err := decode(fields...)
	if err != nil {
		return d, fmt.Errorf("decode document %s: %w", r.ID, err)
	}
	return d, nil
}

// field is a JSON column and where its value goes.
type field struct {
	text string
	into any
}

// decode reads JSON columns; an empty one leaves its value as it is.
func decode(fields ...field) error {
	for _, f := range fields {
		if f.text == "" || decodeCommon(f) {
			continue
		}
		if err := json.Unmarshal([]byte(f.text), f.into); err != nil {
			return err
		}
	}
	return nil
}

// decodeCommon sets the values that most documents have, which saves a search most
// of its decoding. It reports whether it did.
func decodeCommon(f field) bool {
	switch into := f.into.(type) {
	case *[]string:
		if f.text == "[]" {
			*into = []string{}
			return true
		}
	case *map[string]any:
		if f.text == "{}" {
			*into = map[string]any{}
			return true
		}
	case *knowledge.Access:
		if f.text == `{"workspace":true}` {
			*into = knowledge.Access{Workspace: true}
			return true
		}
	}
	return false
}

// encode returns v as a JSON column.
func encode(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

// encodeError returns a JSON column, which is empty for no error.
func encodeError(e *knowledge.DocumentError) (string, error) {
	if e == nil {
		return "", nil
	}
	return encode(e)
}

// documentsWithWebhooks begins the statements of loadDocument and loadDocuments.
var documentsWithWebhooks = "SELECT " + documentTable.list() + ", " + webhooksOf + " FROM documents AS d WHERE "

// loadDocument reads the row of a document, tombstones too, with the webhooks of its
// project.
func loadDocument(ctx context.Context, db querier, id string, row *documentRow) (bool, error) {
	return first(ctx, db, append(documentTable.targets(row), &row.Webhooks), documentsWithWebhooks+"d.id = ?", id)
}

// loadDocuments is loadDocument for all documents d of a condition.
func loadDocuments(ctx context.Context, db querier, where string, args ...any) ([]documentRow, error) {
	found, err := db.query(ctx, documentsWithWebhooks+where, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var rows []documentRow
	for found.Next() {
		var row documentRow
		if err := found.Scan(append(documentTable.targets(&row), &row.Webhooks)...); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// replaceWords replaces the tags or the tokens by which a document is found; had
// says that there may be some.
func replaceWords(ctx context.Context, tx transaction, had bool, documentID, table, column string, words []string) error {
	if had {
		if _, err := tx.exec(ctx, "DELETE FROM "+table+" WHERE document_id = ?", documentID); err != nil {
			return err
		}
	}
	for _, word := range unique(words) {
		if _, err := tx.exec(ctx, "INSERT INTO "+table+" (document_id, "+column+") VALUES (?, ?)", documentID, word); err != nil {
			return err
		}
	}
	return nil
}

// unique drops repeats and keeps the order.
func unique(words []string) []string {
	list := make([]string, 0, len(words))
	for _, w := range words {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}
