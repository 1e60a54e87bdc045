package main

import (
	"fmt"

	"github.com/cairn-rag/cairn/internal/advice"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// nextStep returns what a person can do about a document that is not published, "" if
// nothing has to be done.
func nextStep(d client.Document) string {
	switch {
	case d.Waiting != nil && d.Status == knowledge.StatusPending:
		return "wait, or after a repair: cairn documents retry " + d.ID
	case d.Error == nil || d.Status != knowledge.StatusError || d.Acknowledged:
		return ""
	}
	if advice.OfAddress(*d.Error, d.ExternalID) {
		return advice.AfterRepair + "cairn ingest " + d.ExternalID
	}
	a := advice.OnFailure(*d.Error)
	if a.Action == "" {
		return fmt.Sprintf("%s under the external id %s, or: cairn documents remove %s", a.Repair, d.ExternalID, d.ID)
	}
	return fmt.Sprintf("%scairn documents %s %s", a.Repair, a.Action, d.ID)
}

// nextOfAll returns what a person can do about all documents with the cause of one.
func nextOfAll(d client.Document, code string) string {
	if d.Waiting != nil {
		return advice.AfterRepair + "cairn documents retry --all --code " + code
	}
	if d.Error == nil {
		return ""
	}
	if advice.OfAddress(*d.Error, d.ExternalID) {
		return advice.AfterRepair + "cairn ingest with each address, or: cairn documents acknowledge --all --code " + code
	}
	a := advice.OnFailure(*d.Error)
	if a.Action == "" {
		return fmt.Sprintf("for each: %s under its external id, or: cairn documents acknowledge --all --code %s", a.Repair, code)
	}
	return fmt.Sprintf("%scairn documents %s --all --code %s", a.Repair, a.Action, code)
}
