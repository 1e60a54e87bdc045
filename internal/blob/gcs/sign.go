package gcs

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
)

// publicEndpoint is where signed addresses of Google's buckets lead.
const publicEndpoint = "https://storage.googleapis.com"

// signer signs addresses with the key of a service account.
type signer struct {
	email string
	key   *rsa.PrivateKey
	host  string // with its scheme
	now   func() time.Time
}

// newSigner returns a signer with the key of a service account's file, nil if the
// credentials are none: a machine's identity has no key.
func newSigner(file []byte, endpoint string) *signer {
	var account struct {
		Email string `json:"client_email"`
		Key   string `json:"private_key"`
	}
	if err := json.Unmarshal(file, &account); err != nil || account.Email == "" {
		return nil
	}
	block, _ := pem.Decode([]byte(account.Key))
	if block == nil {
		return nil
	}
	var key *rsa.PrivateKey
	if parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		key, _ = parsed.(*rsa.PrivateKey)
	} else if key, err = x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
		return nil
	}
	if key == nil {
		return nil
	}
	if endpoint == "" {
		endpoint = publicEndpoint
	}
	return &signer{email: account.Email, key: key, host: strings.TrimSuffix(endpoint, "/"), now: time.Now}
}

// sign returns an address of an object in the form that Google calls V4:
// https://cloud.google.com/storage/docs/authentication/signatures.
func (s *signer) sign(bucket, object string, d blob.Download) (string, error) {
	host, err := url.Parse(s.host)
	if err != nil {
		return "", fmt.Errorf("read the endpoint of the bucket: %w", err)
	}
	now := s.now().UTC()
	scope := now.Format("20060102") + "/auto/storage/goog4_request"
	path := "/" + escape(bucket) + "/" + strings.ReplaceAll(escape(object), "%2F", "/")
	query := strings.ReplaceAll(url.Values{ // sorted by name, as the signature needs it
		"X-Goog-Algorithm":             {"GOOG4-RSA-SHA256"},
		"X-Goog-Credential":            {s.email + "/" + scope},
		"X-Goog-Date":                  {now.Format("20060102T150405Z")},
		"X-Goog-Expires":               {fmt.Sprint(int(d.Valid.Seconds()))},
		"X-Goog-SignedHeaders":         {"host"},
		"response-content-disposition": {d.Disposition},
		"response-content-type":        {d.MediaType},
	}.Encode(), "+", "%20")
	request := sha256.Sum256([]byte(strings.Join([]string{"GET", path, query, "host:" + host.Host, "", "host", "UNSIGNED-PAYLOAD"}, "\n")))
	text := sha256.Sum256([]byte(strings.Join([]string{"GOOG4-RSA-SHA256", now.Format("20060102T150405Z"), scope, hex.EncodeToString(request[:])}, "\n")))
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, text[:])
	if err != nil {
		return "", fmt.Errorf("sign an address: %w", err)
	}
	return s.host + path + "?" + query + "&X-Goog-Signature=" + hex.EncodeToString(signature), nil
}

// escape encodes all but letters, digits and -._~, as the signature needs it.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
