package browser

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/safedial"
)

// proxy is the way of one open page to the web: an HTTP proxy that dials only addresses
// that users may name, and transfers a bounded number of bytes for a page.
type proxy struct {
	dialer    *safedial.Dialer
	forwarder *httputil.ReverseProxy
	server    *http.Server
	left      atomic.Int64 // bytes that the page may still receive

	mu      sync.Mutex
	ctx     context.Context // of the page that is open; nil = none
	tunnels map[net.Conn]bool
}

// newProxy serves a proxy at a listener until the listener is closed.
func newProxy(listener net.Listener, dialer *safedial.Dialer) *proxy {
	p := &proxy{dialer: dialer, tunnels: map[net.Conn]bool{}}
	p.forwarder = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host },
		Transport:      dialer.Client(0).Transport,
		ModifyResponse: func(r *http.Response) error { r.Body = p.bounded(r.Body); return nil },
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { refuse() },
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // pages choose what fails
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: p.forwarder.ErrorLog}
	go func() { _ = p.server.Serve(listener) }() // it ends with the listener
	return p
}

// open lets a page use the proxy until close is called.
func (p *proxy) open(ctx context.Context, bytes int64) (closePage func()) {
	ctx, cancel := context.WithCancel(ctx)
	p.left.Store(bytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ctx = ctx
	return func() {
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ctx = nil
		for conn := range p.tunnels {
			_ = conn.Close() // the page is closed
		}
		clear(p.tunnels)
	}
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	page := p.ctx
	p.mu.Unlock()
	if page == nil || p.left.Load() <= 0 {
		refuse()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(page, cancel)()
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(ctx, w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "": // of others there is no plain request
		p.forwarder.ServeHTTP(w, r.WithContext(ctx))
	default:
		refuse()
	}
}

// refuse ends a connection without an answer, which a page could take for an answer of the
// address.
func refuse() { panic(http.ErrAbortHandler) }

// tunnel connects the page with a host.
func (p *proxy) tunnel(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if err := p.dialer.CheckURL("https://" + r.Host); err != nil {
		refuse()
	}
	host, err := p.dialer.DialContext(ctx, "tcp", r.Host)
	if err != nil {
		refuse()
	}
	defer host.Close()
	page, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer page.Close()
	if !p.keep(host, page) {
		return
	}
	defer p.forget(host, page)
	if _, err := io.WriteString(page, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(host, buffered) // the other direction tells the page
		_ = host.Close()
	}()
	_, _ = io.Copy(page, p.bounded(host)) // a tunnel ends in any way
}

// keep notes the connections of a tunnel. It reports whether the page is still open.
func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		p.tunnels[conn] = true
	}
	return p.ctx != nil
}

func (p *proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		delete(p.tunnels, conn)
	}
}

// errTooMuch reports that a page received more than it may.
var errTooMuch = errors.New("the page received too much")

// bounded returns a body that counts as received by the page.
func (p *proxy) bounded(body io.ReadCloser) io.ReadCloser { return &received{body, p} }

type received struct {
	io.ReadCloser
	proxy *proxy
}

// Read implements io.Reader.
func (r *received) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if r.proxy.left.Add(-int64(n)) < 0 {
		return 0, errTooMuch
	}
	return n, err
}
