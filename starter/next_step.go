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
	switch {
	case d.Waiting != nil && d.Status == knowledge.StatusPending:
		return "wait, or after a repair: cairn documents retry " + d.ID
	case d.Error == nil || d.Status != knowledge.StatusError || d.Acknowledged:
		return ""
	}
	if isAddress(d) && !d.Error.MayRetry() {
		return afterRepair + "cairn ingest " + d.ExternalID
	}
	a := adviceOn(*d.Error)
	if a.action == "" {
		return fmt.Sprintf("%s under the external id %s, or: cairn documents remove %s", a.repair, d.ExternalID, d.ID)
	}
	return fmt.Sprintf("%scairn documents %s %s", a.repair, a.action, d.ID)
}

// nextOfAll returns what a person can do about all documents with the cause of one.
func nextOfAll(d client.Document, code string) string {
	if d.Waiting != nil {
		return afterRepair + "cairn documents retry --all --code " + code
	}
	if d.Error == nil {
		return ""
	}
	if isAddress(d) && !d.Error.MayRetry() {
		return afterRepair + "cairn ingest with each address, or: cairn documents acknowledge --all --code " + code
	}
	a := adviceOn(*d.Error)
	if a.action == "" {
		return fmt.Sprintf("for each: %s under its external id, or: cairn documents acknowledge --all --code %s", a.repair, code)
	}
	return fmt.Sprintf("%scairn documents %s --all --code %s", a.repair, a.action, code)
}

// isAddress reports whether a document failed while its address was fetched.
func isAddress(d client.Document) bool {
	return d.Error.Stage == knowledge.StageFetch && strings.Contains(d.ExternalID, "://")
}

const afterRepair = "after a repair: "

// advice is what a person can do about a failure.
type advice struct {
	repair string // what comes first
	action string // of cairn documents, which follows repair; "" = repair is an upload
}

// adviceOn returns the advice that fits the cause of a failure. If a code has several causes,
// its message tells which one it is.
func adviceOn(e knowledge.DocumentError) advice {
	again := "reingest"
	if e.MayRetry() {
		again = "retry"
	}
	switch e.Code {
	case knowledge.CodeNeedsComponent:
		return missingPart(e.Message)
	case knowledge.CodeParseLimit:
		return overLimit(e.Message)
	case knowledge.CodeTooLarge:
		return tooLarge(e.Message)
	case knowledge.CodeLimitReached:
		return advice{"remove documents, or raise the limit of the project that the message names, then: ", again}
	case knowledge.CodeProviderFailed, knowledge.CodeRateLimited:
		return advice{"see that the endpoint of the model answers (cairn doctor asks it), then: ", again}
	case knowledge.CodeUnavailable:
		return advice{"see that the server's disk has space and its services run, then: ", again}
	case knowledge.CodeInternal:
		if again == "reingest" {
			return advice{"report it with the server's log; after an update of Cairn: ", again}
		}
		return advice{"the server's log has the cause; after a repair: ", again}
	case knowledge.CodeCanceled:
		return advice{"start it again: ", again}
	case knowledge.CodeConflict: // the vectors of the model have another length than the index
		return advice{afterRepair, again}
	}
	if e.MayRetry() {
		return advice{afterRepair, again}
	}
	return advice{repair: newFile(e.Code)}
}

// missingPart is the advice on a program that is not installed, or a model that is not
// configured.
func missingPart(message string) advice {
	switch {
	case strings.Contains(message, "models.transcription"):
		return advice{"set models.transcription in the server's configuration, such as {base_url: https://api.openai.com/v1, model: whisper-1, key_env: OPENAI_API_KEY}, and restart it, then: ", "retry"}
	case strings.Contains(message, "models.chat"): // the version keeps the model that it was made with
		return advice{"set ai.model of the project, or models.chat in the server's configuration, to a model that reads pictures, then: ", "reingest"}
	case strings.Contains(message, "apt-get install"):
		return advice{"install it on the server, then: ", "retry"}
	}
	return advice{"do what the message says, then: ", "retry"}
}

// overLimit is the advice on a file that was not parsed within the limits. Those of time and
// memory are settings.
func overLimit(message string) advice {
	if strings.HasPrefix(message, "parsing ") || strings.Contains(message, "too long to parse") {
		return advice{"raise limits.parse_seconds or limits.parse_memory, then: ", "reingest"}
	}
	return advice{repair: "split or simplify the file and upload it"}
}

// tooLarge is the advice on a file that is larger than the server's limit, or than a reader's
// or a model's, which is no setting.
func tooLarge(message string) advice {
	if strings.Contains(message, "larger than the limit of") {
		return advice{"raise limits.file_bytes, or limits.text_bytes of a text, and restart the server, then: ", "reingest"}
	}
	return advice{repair: "split the file and upload its parts"}
}

// newFile returns which file to upload in place of one that cannot be ingested.
func newFile(code knowledge.Code) string {
	switch code {
	case knowledge.CodeEncrypted:
		return "upload the file with its password (cairn ingest --password), or without one,"
	case knowledge.CodeEmpty:
		return "upload a file with text in it"
	case knowledge.CodeUnsupportedFormat:
		return "convert the file to a kind of docs/formats.md and upload it"
	case knowledge.CodeMalformed, knowledge.CodeInvalid:
		return "correct what the message names and upload the file"
	case knowledge.CodeGone, knowledge.CodeNotFound:
		return "upload the file again"
	case knowledge.CodeUnauthorized, knowledge.CodeForbidden:
		return "give access to the source, or upload the file"
	}
	return "upload a sound file"
}
