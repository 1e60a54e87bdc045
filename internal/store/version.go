package store

import (
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// sameVersion returns an error if the tables are not those of this program. Older ones can
// be migrated while a process waits for it.
func sameVersion(current, needed int64) error {
	if current < needed {
		return unavailable(fmt.Sprintf("its tables have version %d, and this program needs version %d: run cairn migrate of this version of cairn, or cairn up where that is the server", current, needed), nil)
	}
	return refuseNewer(current, needed)
}

// refuseNewer returns an error if a newer program has migrated the tables: this one does
// not know what they mean.
func refuseNewer(current, known int64) error {
	if current <= known {
		return nil
	}
	return knowledge.Errorf(knowledge.CodeConflict, "its tables have version %d, and this program knows version %d: use the version of cairn that migrated them", current, known)
}
