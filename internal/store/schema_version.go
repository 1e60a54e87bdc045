package store

import (
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// firstVersion is the number of the first migration, which makes the tables as commit
// da499b6 left them. Older tables are refused: the migrations of that commit bring them
// to this version.
const firstVersion = 43

// sameVersion returns an error if the tables are not of this program's version. Older ones can
// be migrated while a process waits for it.
func sameVersion(current, needed int64) error {
	if err := migratable(current, needed); err != nil {
		return err
	}
	if current < needed {
		return unavailable(fmt.Sprintf("its tables have version %d, and this program needs version %d: run cairn migrate of this version of cairn, or cairn up where that is the server", current, needed), nil)
	}
	return nil
}

// migratable returns an error if the migrations from version current to needed are not
// known: a newer program has migrated the tables, or an old one has made them and their
// migrations are gone.
func migratable(current, needed int64) error {
	switch {
	case current > needed:
		return knowledge.Errorf(knowledge.CodeConflict, "its tables have version %d, and this program knows version %d: use the version of cairn that migrated them", current, needed)
	case current > 0 && current < firstVersion:
		return knowledge.Errorf(knowledge.CodeConflict, "its tables have version %d, and this program migrates tables of version %d and later: run cairn migrate of commit da499b6 first", current, firstVersion)
	}
	return nil
}
