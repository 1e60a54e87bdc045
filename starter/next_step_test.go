package main

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// nextSteps has the failures of documents: at least one of each code.
var nextSteps = []struct {
	code      knowledge.Code
	retryable bool
	message   string
	one, all  string // the step for the document d, and for all with this failure
}{
	{
		knowledge.CodeNeedsComponent, false, "reading a recording needs a model that transcribes it: set models.transcription, restart, and retry the document; or upload it with its transcript",
		"set models.transcription in the server's configuration, such as {base_url: https://api.openai.com/v1, model: whisper-1, key_env: OPENAI_API_KEY}, and restart it, then: cairn documents retry d",
		"then: cairn documents retry --all --code needs_component",
	},
	{
		knowledge.CodeNeedsComponent, false, "the chat model m does not read pictures; set ai.model of the project, or models.chat of the server, to a model that sees pictures, and reingest the document",
		"set ai.model of the project, or models.chat in the server's configuration, to a model that reads pictures, then: cairn documents reingest d",
		"then: cairn documents reingest --all --code needs_component",
	},
	{
		knowledge.CodeNeedsComponent, false, "reading a Word document needs LibreOffice on the server: apt-get install libreoffice-writer, restart, and retry the document",
		"install it on the server, then: cairn documents retry d", "install it on the server, then: cairn documents retry --all --code needs_component",
	},
	{knowledge.CodeNeedsComponent, false, "this version does not have it", "do what the message says, then: cairn documents retry d", "retry --all --code needs_component"},
	{knowledge.CodeParseLimit, false, "parsing took longer than 1m0s; split the document or make it simpler", "raise limits.parse_seconds or limits.parse_memory, then: cairn documents reingest d", "reingest --all --code parse_limit"},
	{knowledge.CodeParseLimit, false, "parsing the PDF takes more memory than is allowed; split it or make it simpler", "raise limits.parse_seconds or limits.parse_memory, then: cairn documents reingest d", "reingest --all --code parse_limit"},
	{knowledge.CodeParseLimit, true, "the document took too long to parse", "raise limits.parse_seconds or limits.parse_memory, then: cairn documents reingest d", "reingest --all --code parse_limit"},
	{knowledge.CodeParseLimit, false, "the PDF has more than 20000 pages, which is the limit; split it", "split or simplify the file and upload it under the external id x, or: cairn documents remove d", "for each: split or simplify"},
	{knowledge.CodeTooLarge, false, "the file is larger than the limit of 100 bytes", "raise limits.file_bytes, or limits.text_bytes of a text, and restart the server, then: cairn documents reingest d", "reingest --all --code too_large"},
	{knowledge.CodeTooLarge, false, "the file is larger than the malware scanner looks at", "raise StreamMaxLength, MaxScanSize and MaxFileSize in clamd.conf and restart clamd, then: cairn documents reingest d", "reingest --all --code too_large"},
	{knowledge.CodeTooLarge, false, "the recording is too long for the model that transcribes; split it", "split the file and upload its parts under the external id x, or: cairn documents remove d", "for each: split the file"},
	{knowledge.CodeLimitReached, false, "the project has its 3 documents: remove some, or raise limits.documents, and retry", "remove documents, or raise the limit of the project that the message names, then: cairn documents retry d", "retry --all --code limit_reached"},
	{knowledge.CodeProviderFailed, false, "the model's endpoint refused our credentials", "see that the endpoint of the model answers (cairn doctor asks it), then: cairn documents retry d", "retry --all --code provider_failed"},
	{knowledge.CodeRateLimited, true, "the model's endpoint limits requests", "see that the endpoint of the model answers (cairn doctor asks it), then: cairn documents retry d", "retry --all --code rate_limited"},
	{knowledge.CodeUnavailable, true, "the disk is full; free some space and retry", "see that the server's disk has space and its services run, then: cairn documents retry d", "retry --all --code unavailable"},
	{knowledge.CodeInternal, true, "something went wrong on our side", "the server's log has the cause; after a repair: cairn documents retry d", "retry --all --code internal"},
	{knowledge.CodeInternal, false, "the reader of this kind of file failed", "report it with the server's log; after an update of Cairn: cairn documents reingest d", "reingest --all --code internal"},
	{knowledge.CodeCanceled, true, "canceled on request", "start it again: cairn documents retry d", "retry --all --code canceled"},
	{knowledge.CodeConflict, false, "the vectors have another length", "after a repair: cairn documents reingest d", "reingest --all --code conflict"},
	{knowledge.CodeEncrypted, false, "the PDF asks for a password", "upload the file with its password (cairn ingest --password), or without one, under the external id x, or: cairn documents remove d", "for each: upload the file with its password"},
	{knowledge.CodeEmpty, false, "there is no text in the document", "upload a file with text in it under the external id x, or: cairn documents remove d", "cairn documents acknowledge --all --code empty"},
	{knowledge.CodeUnsupportedFormat, false, "this looks like a program, which is not supported", "convert the file to a kind of docs/formats.md and upload it under the external id x, or: cairn documents remove d", "acknowledge --all --code unsupported_format"},
	{knowledge.CodeMalformed, false, "the file is not valid JSON", "correct what the message names and upload the file under the external id x, or: cairn documents remove d", "acknowledge --all --code malformed"},
	{knowledge.CodeInvalid, false, "the kind has no pages", "correct what the message names and upload the file under the external id x, or: cairn documents remove d", "acknowledge --all --code invalid"},
	{knowledge.CodeCorrupt, false, "the file is damaged", "upload an intact file under the external id x, or: cairn documents remove d", "acknowledge --all --code corrupt"},
	{knowledge.CodeRejected, false, "the malware scanner found something in the file", "look at where the file came from, and upload a clean one under the external id x, or: cairn documents remove d", "acknowledge --all --code rejected"},
	{knowledge.CodePIIFound, false, "there is personal data in it", "take the personal data out and upload the file under the external id x, or: cairn documents remove d", "acknowledge --all --code pii_found"},
	{knowledge.CodeConsentMissing, false, "there is no consent of ann", "record the consents (cairn consents add), then: cairn documents retry d", "retry --all --code consent_missing"},
	{knowledge.CodeStepFailed, false, "the step \"clean\" failed: its code ended with status 1", "mend the step that the message names (docs/pipeline.md), then: cairn documents retry d", "retry --all --code step_failed"},
	{knowledge.CodeStepRejected, false, "a draft", "if the step of the project is wrong to reject it, change the step, then: cairn documents retry d", "retry --all --code step_rejected"},
	{knowledge.CodeGone, false, "the archive is no longer stored", "upload the file again under the external id x, or: cairn documents remove d", "acknowledge --all --code gone"},
	{knowledge.CodeNotFound, false, "the object is not there", "upload the file again under the external id x, or: cairn documents remove d", "acknowledge --all --code not_found"},
	{knowledge.CodeForbidden, false, "the source refused access", "give access to the source, or upload the file under the external id x, or: cairn documents remove d", "acknowledge --all --code forbidden"},
	{knowledge.CodeUnauthorized, false, "the source refused the credentials", "give access to the source, or upload the file under the external id x, or: cairn documents remove d", "acknowledge --all --code unauthorized"},
	{knowledge.CodeMethodNotAllowed, false, "no document has this", "upload an intact file under the external id x, or: cairn documents remove d", "acknowledge --all --code method_not_allowed"},
}

// TestNextStepFitsTheCause has the advice on each code that the API knows.
func TestNextStepFitsTheCause(t *testing.T) {
	t.Parallel()
	seen := map[knowledge.Code]bool{}
	for _, test := range nextSteps {
		seen[test.code] = true
		t.Run(string(test.code)+"_"+test.message, func(t *testing.T) {
			t.Parallel()
			d := client.Document{ID: "d", Name: "n", ExternalID: "x", Status: knowledge.StatusError, Error: &knowledge.DocumentError{
				Code: test.code, Stage: knowledge.StageExtract, Message: test.message, Retryable: test.retryable,
			}}
			for _, show := range [][]client.Document{{d}, {d, d}} {
				want := test.one
				if len(show) > 1 {
					want = test.all
				}
				if found := stuck(show); len(found) != 1 || !strings.Contains(found[0].Next, want) || len(show) == 1 && found[0].Next != want {
					t.Errorf("of %d documents it advises %+v, want %q", len(show), found, want)
				}
			}
		})
	}
	for _, kind := range edge.Codes() {
		if !seen[kind.Code] {
			t.Errorf("no advice on %s is tested", kind.Code)
		}
	}
}
