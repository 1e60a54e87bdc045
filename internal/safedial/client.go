package safedial

import (
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxRedirects is how many redirects a client follows.
const maxRedirects = 5

// Client gives an HTTP client that reaches what the Dialer lets it reach, by
// http and https, without a proxy, following at most five redirects, each of
// which is checked as the first address was. timeout bounds a whole exchange,
// its body included; 0 is none. What it refuses is a *knowledge.Error inside
// the client's error.
func (d *Dialer) Client(timeout time.Duration) *http.Client {
	return &http.Client{
		Transport: checked{d},
		Timeout:   timeout,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return knowledge.Errorf(knowledge.CodeInvalid, "the address redirects more than %d times", maxRedirects)
			}
			return nil
		},
	}
}

// CheckURL refuses an address that can be seen not to be allowed without asking
// anybody for its name. What it lets pass may still be refused at the
// connection.
func (d *Dialer) CheckURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return refused()
	}
	return d.checkURL(u)
}

func (d *Dialer) checkURL(u *url.URL) error {
	host := u.Hostname()
	if (u.Scheme != "http" && u.Scheme != "https") || host == "" || u.User != nil {
		return refused()
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		if numeric(host) {
			return refused()
		}
		return nil
	}
	if !d.mayReach(ip.Unmap()) {
		return refused()
	}
	return nil
}

// checked looks at each request, those of redirects among them, before it is
// sent.
type checked struct{ dialer *Dialer }

// RoundTrip implements http.RoundTripper.
func (c checked) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := c.dialer.checkURL(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // as the interface asks
		}
		return nil, err
	}
	return c.dialer.transport.RoundTrip(r)
}

// CloseIdleConnections closes connections that nobody uses now.
func (c checked) CloseIdleConnections() { c.dialer.transport.CloseIdleConnections() }
