package edge

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The bound of wrong credentials of one address.
const (
	failuresPerMinute = 10
	failuresWindow    = time.Minute
	maxAddresses      = 1 << 14 // that are counted at a time
)

// failures counts the wrong credentials of each address in a minute. It is safe for
// concurrent use. Its memory is bounded: above maxAddresses it forgets some address.
type failures struct {
	mu        sync.Mutex
	addresses map[netip.Prefix]failureCount
}

// failureCount is how often credentials were wrong since a time.
type failureCount struct {
	since time.Time
	count int
}

// add counts wrong credentials of an address. It returns how long the address has to
// wait, 0 while it may try again.
func (f *failures) add(address netip.Prefix, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.addresses == nil {
		f.addresses = map[netip.Prefix]failureCount{}
	}
	entry, known := f.addresses[address]
	if !known && len(f.addresses) >= maxAddresses {
		for other := range f.addresses { // the first is any
			delete(f.addresses, other)
			break
		}
	}
	if now.Sub(entry.since) >= failuresWindow {
		entry = failureCount{since: now}
	}
	entry.count = min(entry.count+1, failuresPerMinute+1)
	f.addresses[address] = entry
	if entry.count <= failuresPerMinute {
		return 0
	}
	return entry.since.Add(failuresWindow).Sub(now)
}

// clientOf returns the network of the client of a request: its IPv4 address, or the /64
// of its IPv6 address, because one client has all addresses of a /64. Headers that a
// client could write itself, such as X-Forwarded-For, are not read. It reports false
// for a request within the process.
func clientOf(remoteAddress string) (netip.Prefix, bool) {
	remote, err := netip.ParseAddrPort(remoteAddress)
	if err != nil {
		return netip.Prefix{}, false
	}
	address, bits := remote.Addr().Unmap().WithZone(""), 64
	if address.Is4() {
		bits = 32
	}
	network, err := address.Prefix(bits)
	return network, err == nil
}

// refuse returns the error with which a request with wrong credentials is refused:
// unauthorized, or rate_limited if its address sent too many of them. It counts a request
// once. Valid credentials never come here, so that they pass from every address.
func (e *Edge) refuse(r *http.Request) func(unauthorized *knowledge.Error) *knowledge.Error {
	credentials := Credentials(r)
	if credentials.Key == "" && credentials.Bearer == "" && r.URL.Query().Get("token") == "" {
		return nil // the cookie of a session that has ended is no attempt: nobody guesses 260 bits
	}
	return e.refuseSender(r)
}

// refuseSender returns what refuse does, whatever credentials the request has; nil for a
// request within the process.
func (e *Edge) refuseSender(r *http.Request) func(unauthorized *knowledge.Error) *knowledge.Error {
	network, known := clientOf(r.RemoteAddr)
	if !known {
		return nil
	}
	wait := sync.OnceValue(func() time.Duration { return e.failures.add(network, time.Now()) })
	return func(unauthorized *knowledge.Error) *knowledge.Error {
		if wait() <= 0 {
			return unauthorized
		}
		rateLimit := knowledge.Errorf(knowledge.CodeRateLimited, "%d wrong keys, tokens or links came from this address within a minute; wait, and check the key", failuresPerMinute)
		rateLimit.RetryAfter = wait()
		return rateLimit
	}
}
