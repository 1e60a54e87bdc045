package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// The purposes of signed links. They separate the signatures from each other and from
// others with the same secret.
const (
	runPurpose      = "cairn run token 1\n"
	originalPurpose = "cairn original token 1\n"
	runFilePurpose  = "cairn run file token 1\n"
)

// linkToken is the content of a signed link.
type linkToken struct {
	Workspace string `json:"w"`
	ID        string `json:"r"` // of what the link opens
	Expires   int64  `json:"e"` // Unix seconds
}

// SignRun returns a token with which its holder may follow one run until
// expires.
func (a *Authenticator) SignRun(workspace, run string, expires time.Time) string {
	return a.sign(runPurpose, linkToken{workspace, run, expires.Unix()})
}

// VerifyRun returns the workspace of the run that a token is for. A forged or
// expired token, or one for another run, is CodeUnauthorized.
func (a *Authenticator) VerifyRun(token, run string, now time.Time) (workspace string, err error) {
	return a.verify(runPurpose, token, run, now)
}

// SignOriginal returns a token with which its holder may read the original of one
// document until expires.
func (a *Authenticator) SignOriginal(workspace, document string, expires time.Time) string {
	return a.sign(originalPurpose, linkToken{workspace, document, expires.Unix()})
}

// VerifyOriginal is VerifyRun for a token of SignOriginal.
func (a *Authenticator) VerifyOriginal(token, document string, now time.Time) (workspace string, err error) {
	return a.verify(originalPurpose, token, document, now)
}

// SignRunFile returns a token with which its holder may read one file of a run until
// expires.
func (a *Authenticator) SignRunFile(workspace, run, name string, expires time.Time) string {
	return a.sign(runFilePurpose, linkToken{workspace, run + "/" + name, expires.Unix()})
}

// VerifyRunFile is VerifyRun for a token of SignRunFile.
func (a *Authenticator) VerifyRunFile(token, run, name string, now time.Time) (workspace string, err error) {
	return a.verify(runFilePurpose, token, run+"/"+name, now)
}

func (a *Authenticator) sign(purpose string, t linkToken) string {
	body, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(a.mac(purpose, body))
}

func (a *Authenticator) verify(purpose, token, id string, now time.Time) (workspace string, err error) {
	refused := unauthorized("this link is not valid or has expired: ask for it again with an API key")
	first, second, _ := strings.Cut(token, ".")
	body, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		return "", refused
	}
	mac, err := base64.RawURLEncoding.DecodeString(second)
	if err != nil || len(a.secret) == 0 || !hmac.Equal(mac, a.mac(purpose, body)) {
		return "", refused
	}
	var t linkToken
	if err := json.Unmarshal(body, &t); err != nil || t.ID != id || t.Workspace == "" || now.Unix() >= t.Expires {
		return "", refused
	}
	return t.Workspace, nil
}

func (a *Authenticator) mac(purpose string, body []byte) []byte {
	h := hmac.New(sha256.New, a.secret)
	h.Write([]byte(purpose))
	h.Write(body)
	return h.Sum(nil)
}
