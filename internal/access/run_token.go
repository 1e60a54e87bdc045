package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// runTokenPurpose separates these signatures from others with the same secret.
const runTokenPurpose = "cairn run token 1\n"

// runToken is the content of a signed link.
type runToken struct {
	Workspace string `json:"w"`
	Run       string `json:"r"`
	Expires   int64  `json:"e"` // Unix seconds
}

// SignRun returns a token with which its holder may follow one run until
// expires.
func (a *Authenticator) SignRun(workspace, run string, expires time.Time) string {
	body, err := json.Marshal(runToken{Workspace: workspace, Run: run, Expires: expires.Unix()})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(a.mac(body))
}

// VerifyRun returns the workspace of the run that a token is for. A forged or
// expired token, or one for another run, is CodeUnauthorized.
func (a *Authenticator) VerifyRun(token, run string, now time.Time) (workspace string, err error) {
	refused := unauthorized("this link is not valid or has expired: ask for the run again with an API key")
	first, second, _ := strings.Cut(token, ".")
	body, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		return "", refused
	}
	mac, err := base64.RawURLEncoding.DecodeString(second)
	if err != nil || len(a.secret) == 0 || !hmac.Equal(mac, a.mac(body)) {
		return "", refused
	}
	var t runToken
	if err := json.Unmarshal(body, &t); err != nil || t.Run != run || t.Workspace == "" || now.Unix() >= t.Expires {
		return "", refused
	}
	return t.Workspace, nil
}

func (a *Authenticator) mac(body []byte) []byte {
	h := hmac.New(sha256.New, a.secret)
	h.Write([]byte(runTokenPurpose))
	h.Write(body)
	return h.Sum(nil)
}
