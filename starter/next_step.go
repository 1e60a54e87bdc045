package main

import (
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// nextStep returns what a person can do about a document that is not published, "" if
// nothing has to be done.
func nextStep(d client.Document) string {
	retry := "cairn documents retry " + d.ID
	switch {
	case d.Waiting != nil && d.Status == knowledge.StatusPending:
		return "wait, or after a repair: " + retry
	case d.Error == nil || d.Status != knowledge.StatusError:
		return ""
	}
	switch d.Error.Code {
	case knowledge.CodeEncrypted:
		return "upload the file again with its password, or without one"
	case knowledge.CodeNeedsComponent:
		return "install it on the server, then: " + retry
	case knowledge.CodeParseLimit:
		return "raise limits.parse_seconds or limits.parse_memory, then: cairn documents reingest " + d.ID
	}
	if d.Error.MayRetry() {
		return "after a repair: " + retry
	}
	if d.Error.Stage == knowledge.StageFetch && strings.Contains(d.ExternalID, "://") { // its address
		return "after a repair: cairn ingest " + d.ExternalID
	}
	if d.Error.Code == knowledge.CodeConflict { // the vectors of the model have another length than the index
		return "after a repair: cairn documents reingest " + d.ID
	}
	return fmt.Sprintf("upload a sound file under the external id %s, or: cairn documents remove %s", d.ExternalID, d.ID)
}
