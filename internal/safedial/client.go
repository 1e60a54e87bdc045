package safedial

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxRedirects is the largest number of redirects that a client follows.
const maxRedirects = 5

// Client returns an HTTP client that reaches only addresses that the Dialer
// allows, by http and https, without a proxy. It follows at most five redirects
// and checks each like the first address. timeout bounds a whole exchange,
// including its body; 0 means none. A refusal is a *knowledge.Error inside the
// client's error.
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

// CheckURL refuses an address that can be refused without resolving its name.
// An address that it accepts may still be refused when it is dialled.
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
		if isNumeric(host) {
			return refused()
		}
		return nil
	}
	if !d.mayReach(ip.Unmap()) {
		return refused()
	}
	return nil
}

// CheckResolved is CheckURL for an address that another program dials: it also resolves the
// name, and refuses it unless every address that it has may be reached. The program resolves
// the name again, so it may reach another address than those that were checked.
func (d *Dialer) CheckResolved(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return refused()
	}
	if err := d.checkURL(u); err != nil {
		return err
	}
	addrs, err := d.lookup(ctx, u.Hostname())
	if err != nil {
		return knowledge.Errorf(knowledge.CodeInvalid, "refused address: its host cannot be resolved")
	}
	port := uint64(80)
	if u.Scheme == "https" {
		port = 443
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.ParseUint(text, 10, 16); err != nil {
			return refused()
		}
	}
	for _, ip := range addrs {
		target := netip.AddrPortFrom(ip.Unmap(), uint16(port))
		if d.isOwnListener(target) || !d.mayReach(target.Addr()) || slices.Contains(d.named, target) && !contains(d.allow, target.Addr()) {
			return refused()
		}
	}
	return nil
}

// checked checks each request, also after a redirect, before it is sent.
type checked struct{ dialer *Dialer }

// RoundTrip implements http.RoundTripper.
func (c checked) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := c.dialer.checkURL(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // http.RoundTripper requires it
		}
		return nil, err
	}
	return c.dialer.transport.RoundTrip(r)
}

// CloseIdleConnections closes connections that are not in use.
func (c checked) CloseIdleConnections() { c.dialer.transport.CloseIdleConnections() }
