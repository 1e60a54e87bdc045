package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// storedUse is what the documents of an account are, without one document.
type storedUse struct {
	documents int
	bytes     int64
}

// keyTree are a key and the keys that it and they have made.
const keyTree = `(WITH RECURSIVE tree (id) AS (
	SELECT k.id FROM api_keys AS k WHERE k.id = ? UNION SELECT c.id FROM api_keys AS c JOIN tree ON c.created_by = tree.id) SELECT tree.id FROM tree)`

// storedBy counts the documents of an account, and their bytes.
func storedBy(ctx context.Context, db querier, workspace string, a knowledge.Account, except string) (used storedUse, err error) {
	where, args := "", []any{workspace, except}
	switch a.Kind {
	case knowledge.KeyAccount:
		where, args = " AND uploader_key IN "+keyTree+" AND uploader_key <> ''", append(args, a.ID)
	case knowledge.UserAccount:
		where, args = " AND uploader_user = ? AND uploader_user <> ''", append(args, a.ID)
	case knowledge.ProjectAccount:
		where, args = " AND project = ?", append(args, a.ID)
	}
	_, err = first(ctx, db, []any{&used.documents, &used.bytes},
		"SELECT count(*), COALESCE(SUM(bytes), 0) FROM documents WHERE workspace = ? AND removed = FALSE AND id <> ?"+where, args...)
	return used, err
}

// storing returns the accounts beside the project that limit what is stored.
func storing(accounts []knowledge.Account) []knowledge.Account {
	var list []knowledge.Account
	for _, a := range accounts {
		if a.Kind != knowledge.ProjectAccount && a.Limits.LimitsStored() {
			list = append(list, a)
		}
	}
	return list
}

// lockWorkspace makes transactions that add to a workspace run one after the other.
func lockWorkspace(ctx context.Context, tx transaction, workspace string) error {
	_, err := tx.exec(ctx, "UPDATE workspaces SET name = name WHERE id = ?", workspace)
	return err
}

// checkAccounts returns CodeLimitReached if an account has no room for a new version.
func (a *addition) checkAccounts(ctx context.Context, tx transaction) error {
	for _, account := range storing(a.Accounts) {
		used, err := storedBy(ctx, tx, a.Workspace, account, a.DocumentID)
		if err != nil {
			return err
		}
		added := 1
		if a.there && !a.doc.Removed {
			added = 0
		}
		if e := noRoom(account, used, added, a.Bytes); e != nil {
			return e
		}
	}
	return nil
}

// noRoom returns why an account that has used so much has no room for more, nil if it has.
func noRoom(account knowledge.Account, used storedUse, added int, bytes int64) *knowledge.Error {
	switch l := account.Limits; {
	case l.Documents > 0 && added > 0 && used.documents+added > l.Documents:
		return knowledge.Errorf(knowledge.CodeLimitReached, "%s has its %d documents: remove some, or raise its limits.documents", account.What(), l.Documents)
	case l.Bytes > 0 && used.bytes+bytes > l.Bytes:
		return knowledge.Errorf(knowledge.CodeLimitReached, "the document has %d bytes, and %s has room for %d of its %d: remove some documents, or raise its limits.bytes",
			bytes, account.What(), max(l.Bytes-used.bytes, 0), l.Bytes)
	}
	return nil
}

// CheckStored is CodeLimitReached if one of the accounts has no room for so many new documents
// with so many bytes. AddVersion and ClaimVersions check it again in their transactions.
func (s *versionStore) CheckStored(ctx context.Context, workspace string, accounts []knowledge.Account, added int, bytes int64) error {
	for _, account := range storing(accounts) {
		used, err := storedBy(ctx, s.reader, workspace, account, "")
		if err != nil {
			return fmt.Errorf("count the documents of %s: %w", account.What(), failure(err))
		}
		if e := noRoom(account, used, added, bytes); e != nil {
			return e
		}
	}
	return nil
}

// accountRoom is what the documents of an account may still be.
type accountRoom struct {
	account knowledge.Account
	used    storedUse
}

// roomsOf returns the rooms of the accounts of an import. Other transactions that add to them
// wait until this one ends.
func roomsOf(ctx context.Context, tx transaction, workspace string, accounts []knowledge.Account) ([]accountRoom, error) {
	limited := storing(accounts)
	if len(limited) == 0 {
		return nil, nil
	}
	if err := lockWorkspace(ctx, tx, workspace); err != nil {
		return nil, err
	}
	var rooms []accountRoom
	for _, account := range limited {
		used, err := storedBy(ctx, tx, workspace, account, "")
		if err != nil {
			return nil, err
		}
		rooms = append(rooms, accountRoom{account, used})
	}
	return rooms, nil
}

// uploadedBy returns the key and the user among accounts.
func uploadedBy(accounts []knowledge.Account) (key, user string) {
	for _, a := range accounts {
		switch {
		case a.Kind == knowledge.KeyAccount && key == "":
			key = a.ID
		case a.Kind == knowledge.UserAccount:
			user = a.ID
		}
	}
	return key, user
}
