package drive

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
)

// noEnd is the year in which the keys end that have no end.
const noEnd = 9999

// SecretEnds returns when the key of a service account expires, zero if it does not or that is
// not known: Google publishes the certificates of the keys of an account.
func SecretEnds(ctx context.Context, f source.Follow, httpClient *http.Client) (time.Time, error) {
	s, err := New(f, httpClient)
	if err != nil {
		return time.Time{}, err
	}
	var certificates map[string]string
	err = source.ReadJSON(ctx, func() (*http.Response, error) { return s.client.certificates(ctx) },
		func(answer *http.Response) error { return refused(answer, "the certificates of the service account") }, &certificates)
	if err != nil {
		return time.Time{}, err
	}
	block, _ := pem.Decode([]byte(certificates[s.client.account.KeyID]))
	if block == nil {
		return time.Time{}, nil
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil || certificate.NotAfter.Year() >= noEnd {
		return time.Time{}, nil
	}
	return certificate.NotAfter.UTC(), nil
}

// certificates asks for the certificates of the keys of the account, by their ids. They are
// public, so the request has no token.
func (c *client) certificates(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.api+"/service_accounts/v1/metadata/x509/"+url.PathEscape(c.account.Email), nil)
	if err != nil {
		return nil, source.Unavailable(err)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, source.FromExchange(err)
	}
	return answer, nil
}
