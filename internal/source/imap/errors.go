package imap

import (
	"crypto/tls"
	"errors"
	"strings"

	goimap "github.com/emersion/go-imap/v2"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// isSlow reports whether an answer asks for fewer requests. The large services say so in
// words alone.
func isSlow(e *goimap.Error) bool {
	text := strings.ToLower(e.Text)
	return e.Code == goimap.ResponseCodeLimit || e.Code == goimap.ResponseCodeOverQuota || strings.Contains(text, "throttled") || strings.Contains(text, "too many")
}

// failure returns the error of a source for one of a session.
func (s *Source) failure(err error) error {
	if err == nil || errors.Is(err, source.ErrExpired) {
		return err
	}
	if e, ok := errors.AsType[*goimap.Error](err); ok && isSlow(e) {
		s.gate.Slow(0)
		return source.Throttled(0)
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return knowledge.Errorf(knowledge.CodeInvalid, "the certificate of the server is not trusted, or is for another name").WithCause(e)
	}
	return source.FromExchange(err)
}
