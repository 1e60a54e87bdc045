package advice

import (
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// StillWorking is how long a step may take before a person should look. The slowest ones
// transcribe recordings.
const StillWorking = time.Hour

// Unchanged is the cause of a document that nothing was heard of for StillWorking.
const Unchanged = "unchanged for more than an hour"

// AfterRepair comes before a step that helps only once the cause is repaired.
const AfterRepair = "after a repair: "

// OfAddress reports whether a document failed while its address was fetched, and only
// fetching it again helps.
func OfAddress(e knowledge.DocumentError, externalID string) bool {
	return e.Stage == knowledge.StageFetch && strings.Contains(externalID, "://") && !e.MayRetry()
}

// Advice is what a person can do about the failure of a document.
type Advice struct {
	Repair string // what comes first
	Action string // of cairn documents, which follows Repair; "" = Repair is an upload
}

// OnFailure returns the advice that fits the cause of a failure. If a code has several causes,
// its message tells which one it is.
func OnFailure(e knowledge.DocumentError) Advice {
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
		return Advice{"remove documents, or raise the limit of the project that the message names, then: ", again}
	case knowledge.CodeProviderFailed, knowledge.CodeRateLimited:
		return Advice{"see that the endpoint of the model answers (cairn doctor asks it), then: ", again}
	case knowledge.CodeUnavailable:
		return Advice{"see that the server's disk has space and its services run, then: ", again}
	case knowledge.CodeInternal:
		if again == "reingest" {
			return Advice{"report it with the server's log; after an update of Cairn: ", again}
		}
		return Advice{"the server's log has the cause; after a repair: ", again}
	case knowledge.CodeConsentMissing:
		return Advice{"record the consents (cairn consents add), then: ", again}
	case knowledge.CodeCanceled:
		return Advice{"start it again: ", again}
	case knowledge.CodeStepFailed:
		return Advice{"mend the step that the message names (docs/pipeline.md), then: ", again}
	case knowledge.CodeStepRejected:
		return Advice{"if the step of the project is wrong to reject it, change the step, then: ", again}
	case knowledge.CodeConflict: // the vectors of the model have another length than the index
		return Advice{AfterRepair, again}
	}
	if e.MayRetry() {
		return Advice{AfterRepair, again}
	}
	return Advice{Repair: newFile(e.Code)}
}

// missingPart is the advice on a program that is not installed, or a model that is not
// configured.
func missingPart(message string) Advice {
	switch {
	case strings.Contains(message, "models.transcription"):
		return Advice{"set models.transcription in the server's configuration, such as {base_url: https://api.openai.com/v1, model: whisper-1, key_env: OPENAI_API_KEY}, and restart it, then: ", "retry"}
	case strings.Contains(message, "models.chat"): // the version keeps the model that it was made with
		return Advice{"set ai.model of the project, or models.chat in the server's configuration, to a model that reads pictures, then: ", "reingest"}
	case strings.Contains(message, "apt-get install"):
		return Advice{"install it on the server, then: ", "retry"}
	}
	return Advice{"do what the message says, then: ", "retry"}
}

// overLimit is the advice on a file that was not parsed within the limits. Those of time and
// memory are settings.
func overLimit(message string) Advice {
	if strings.HasPrefix(message, "parsing ") || strings.Contains(message, "too long to parse") {
		return Advice{"raise limits.parse_seconds or limits.parse_memory, then: ", "reingest"}
	}
	return Advice{Repair: "split or simplify the file and upload it"}
}

// tooLarge is the advice on a file that is larger than the server's limit, or than a reader's
// or a model's, which is no setting.
func tooLarge(message string) Advice {
	if strings.Contains(message, "malware scanner") {
		return Advice{"raise StreamMaxLength, MaxScanSize and MaxFileSize in clamd.conf and restart clamd, then: ", "reingest"}
	}
	if strings.Contains(message, "larger than the limit of") {
		return Advice{"raise limits.file_bytes, or limits.text_bytes of a text, and restart the server, then: ", "reingest"}
	}
	return Advice{Repair: "split the file and upload its parts"}
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
	case knowledge.CodePIIFound:
		return "take the personal data out and upload the file"
	case knowledge.CodeRejected:
		return "look at where the file came from, and upload a clean one"
	case knowledge.CodeGone, knowledge.CodeNotFound:
		return "upload the file again"
	case knowledge.CodeUnauthorized, knowledge.CodeForbidden:
		return "give access to the source, or upload the file"
	}
	return "upload an intact file"
}
