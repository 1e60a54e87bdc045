package sharepoint

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// assertionLife is for how long a signed assertion holds.
const assertionLife = 10 * time.Minute

// secret is how an application proves who it is: a client secret, or a certificate with its
// private key.
type secret struct {
	value       string
	certificate *x509.Certificate
	key         *rsa.PrivateKey
}

// readSecret reads the secret of a connection.
func readSecret(credentials string) (secret, error) {
	s := secret{value: strings.TrimSpace(credentials)}
	if !strings.Contains(s.value, "-----BEGIN ") {
		if s.value == "" || strings.ContainsAny(s.value, " \t\r\n") {
			return s, knowledge.Invalid("body.secret", "must be the value of a client secret of the application, or the PEM text of a certificate and its private key")
		}
		return s, nil
	}
	// A field of one line drops the ends of lines.
	rest := regexp.MustCompile("-----(BEGIN|END) [A-Z0-9 ]+-----").ReplaceAll([]byte(s.value), []byte("\n$0\n"))
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type == "CERTIFICATE" && s.certificate == nil { // others are of its issuers
			s.certificate, _ = x509.ParseCertificate(block.Bytes) // nil is refused below
		}
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			s.key, _ = jwt.ParseRSAPrivateKeyFromPEM(pem.EncodeToMemory(block)) // nil is refused below
		}
	}
	if s.certificate == nil || s.key == nil {
		return s, knowledge.Invalid("body.secret", "must have a certificate and its RSA private key without a password, both as PEM text")
	}
	if !s.key.PublicKey.Equal(s.certificate.PublicKey) {
		return s, knowledge.Invalid("body.secret", "has a private key that does not belong to its first certificate")
	}
	return s, nil
}

// addTo adds the proof to the form of a request for a token at an address.
func (s secret) addTo(form url.Values, clientID, address string) error {
	if s.certificate == nil {
		form.Set("client_secret", s.value)
		return nil
	}
	now := time.Now()
	t := jwt.NewWithClaims(jwt.SigningMethodPS256, jwt.MapClaims{
		"aud": address, "iss": clientID, "sub": clientID, "jti": rand.Text(),
		"nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(assertionLife).Unix(),
	})
	thumbprint := sha256.Sum256(s.certificate.Raw)
	t.Header["x5t#S256"] = base64.RawURLEncoding.EncodeToString(thumbprint[:])
	assertion, err := t.SignedString(s.key)
	if err != nil {
		return knowledge.Errorf(knowledge.CodeInvalid, "the private key of the connection does not sign").WithCause(err)
	}
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", assertion)
	return nil
}
