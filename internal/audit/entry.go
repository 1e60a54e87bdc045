package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The outcomes of entries. A refused or failed request has the code of its error.
const (
	OutcomeOK = "ok"
	// OutcomeInterrupted is the outcome of a change whose process died before it answered.
	OutcomeInterrupted = "interrupted"
)

// Entry is a row of the audit of a workspace.
type Entry struct {
	Seq       int64           `json:"seq" doc:"The place in the chain of the workspace, from 1"`
	At        time.Time       `json:"at" doc:"When the request came"`
	Actor     string          `json:"actor" doc:"Who sent it: key:ID, user:NAME (a JWT), external:NAME (a visitor of an agent) or anonymous" example:"key:0d6a9a1f-2c11-4c5e-9b1f-7d3f2c1e0a35"`
	Action    string          `json:"action" doc:"The operationId of the route" example:"get-chunk"`
	Object    string          `json:"object" doc:"The id or name in the path of the request, or of what it made"`
	Outcome   string          `json:"outcome" doc:"ok, interrupted, or the code of the error" example:"ok"`
	RequestID string          `json:"request_id" doc:"The header Cairn-Request-Id of the answer"`
	Address   string          `json:"address" doc:"The network address of the sender"`
	Details   json.RawMessage `json:"details" doc:"What else is known: documents whose text left, the person for whom a key acted, the hash of a question"`
	Previous  string          `json:"previous" doc:"The hash of the entry before"`
	Hash      string          `json:"hash" doc:"SHA-256 of all other fields"`
}

// Details is the JSON of an entry's details.
type Details struct {
	Status         int      `json:"status,omitempty"`
	For            string   `json:"for,omitempty"` // user:NAME or external:NAME, for whom a key acted
	Session        bool     `json:"session,omitempty"`
	Link           bool     `json:"link,omitempty"`      // the token of a link stood in for credentials
	Replayed       bool     `json:"replayed,omitempty"`  // the stored answer to an earlier request
	Part           int      `json:"part,omitempty"`      // of an answer that was sent in parts: the second and later ones
	Path           []string `json:"path,omitempty"`      // what the path names beside the object
	Objects        []string `json:"objects,omitempty"`   // what the request made or changed beside the object, the first 500
	Documents      []string `json:"documents,omitempty"` // whose text left
	Run            string   `json:"run,omitempty"`
	QuestionSHA256 string   `json:"question_sha256,omitempty"`
	Question       string   `json:"question,omitempty"`
	Workspace      string   `json:"workspace,omitempty"` // that a refused request named
	Upto           int64    `json:"upto,omitempty"`      // the last entry that a cut removed
}

// encode returns details as an entry has them.
func (d Details) encode() json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		panic(err) // texts and numbers always marshal
	}
	return bytes.TrimSpace(b.Bytes())
}

// Objects returns what the entry names, each once: its object, and in its details the
// documents, the run and the rest of the path.
func (e Entry) Objects() []string {
	var d Details
	_ = json.Unmarshal(e.Details, &d) // details of another version name nothing
	seen, list := map[string]bool{"": true}, []string{}
	for _, name := range slices.Concat([]string{e.Object, d.Run}, d.Path, d.Objects, d.Documents) {
		if !seen[name] {
			seen[name], list = true, append(list, name)
		}
	}
	return list
}

// Genesis returns what stands in place of the hash before the first entry of a workspace.
func Genesis(workspace string) string { return hexOf([]byte("cairn audit\n" + workspace)) }

// Sum returns the hash that the entry must have.
func (e Entry) Sum() string {
	data, err := json.Marshal([]any{
		e.Previous, e.Seq, e.At.UnixMicro(), e.Actor, e.Action, e.Object, e.Outcome, e.RequestID, e.Address, string(e.Details),
	})
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return hexOf(data)
}

// Link returns the entry in its place behind another one.
func (e Entry) Link(seq int64, previous string) Entry {
	e.Seq, e.Previous = seq, previous
	e.Hash = e.Sum()
	return e
}

func hexOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// maxText bounds the texts of an entry that a client chooses, in code points.
const maxText = 200

// clean returns a text that every database stores.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if utf8.RuneCountInString(text) > maxText {
		text = string([]rune(text)[:maxText-1]) + "…"
	}
	return text
}

// Row is an entry that has no place in a chain yet.
type Row struct {
	ID        string `json:"id"`
	Workspace string `json:"workspace"`
	Entry     Entry  `json:"entry"`
}
