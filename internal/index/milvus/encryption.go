package milvus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// handshakeTimeout bounds the handshake that checks the server's certificate.
const handshakeTimeout = 10 * time.Second

// encrypted reports whether the connection is encrypted.
func (c Config) encrypted() bool { return c.TLS || c.CAFile != "" }

// tlsConfig returns how the connection is encrypted.
func (c Config) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, invalid("vector.url: ca_file %s cannot be read", c.CAFile).WithCause(err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, invalid("vector.url: ca_file %s has no certificate in PEM", c.CAFile)
	}
	return config, nil
}

// checkCertificate connects once and returns an error if the server's certificate is not
// accepted, or if the server does not encrypt. The client of Milvus would try again for
// openTimeout, and then return that time is over. Other errors are left to that client.
func checkCertificate(ctx context.Context, address string, config *tls.Config) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close() // nothing was written to it
		return nil
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return invalid("vector.url: the server at %s does not speak TLS; leave out tls and ca_file", address).WithCause(err)
	}
	refused, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok {
		return nil
	}
	if host, ok := errors.AsType[x509.HostnameError](refused); ok {
		return untrusted(err, "the certificate of Milvus is not for %s; write a name of the certificate into vector.url", host.Host)
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](refused); ok && bad.Reason == x509.Expired {
		return untrusted(err, "the certificate of Milvus at %s has expired or is not valid yet; renew it, and check the clock", address)
	}
	return untrusted(err, "the certificate of Milvus at %s is not trusted; add ca_file=/path/of/ca.pem, the authority that signed it, to vector.url", address)
}

func untrusted(cause error, format string, args ...any) error {
	return knowledge.Errorf(knowledge.CodeUnavailable, format, args...).WithCause(cause)
}
