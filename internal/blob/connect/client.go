package connect

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Limits of a request. There is none for the whole of it: a large blob may take long.
const (
	dialTimeout = 5 * time.Second
	// silence is how long a connection may carry no byte while a request is under way.
	silence = time.Minute
	// idleTimeout is less than silence, so that no idle connection ends while it is
	// taken for a request.
	idleTimeout = 50 * time.Second
	// connections to the service that are kept open.
	connections = 100
)

// newClient returns the client for the requests to a service. Its connections fail when
// the service is silent for a time, in the middle of a request or of an answer too.
func newClient(silence time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &watched{c, silence}, nil
	}
	transport.IdleConnTimeout = min(idleTimeout, silence*5/6)
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = connections, connections
	return &http.Client{Transport: transport}
}

// watched is a connection that ends when it carries no byte for a time.
type watched struct {
	net.Conn
	silence time.Duration
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	if err := w.SetReadDeadline(time.Now().Add(w.silence)); err != nil {
		return 0, err
	}
	return w.Conn.Read(p)
}

// Write implements io.Writer. The time for the answer begins anew.
func (w *watched) Write(p []byte) (int, error) {
	if err := w.SetDeadline(time.Now().Add(w.silence)); err != nil {
		return 0, err
	}
	return w.Conn.Write(p)
}
