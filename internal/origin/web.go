package origin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
)

// Config is what every system needs.
type Config struct {
	// URL is the root of the system, such as https://chat.example.com. Required.
	URL string
	// Key is an API key of the system. Required.
	Key string
	// HTTP sends the requests. Required.
	HTTP *http.Client
	// Waits is told of each wait before a request is repeated. Defaults to nobody.
	Waits func(err error, pause time.Duration)
	// FirstPause is how long the first repetition of a request waits, and each later one
	// twice as long, if the system does not say. Defaults to 1 s.
	FirstPause time.Duration
}

const (
	attempts     = 6 // of one request
	longestPause = 5 * time.Minute
	largestPage  = 64 << 20 // bytes of one answer in JSON
)

// web sends the requests to a system.
type web struct {
	Config
	name  string // of the system
	renew string // how to get a key
	base  *url.URL
	probe string // a path that a valid key may read
}

func newWeb(cfg Config, name, probe, renew string) (*web, error) {
	base, err := url.Parse(strings.TrimRight(cfg.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("address %q: want https://host or http://host:port", cfg.URL)
	}
	if cfg.FirstPause == 0 {
		cfg.FirstPause = time.Second
	}
	return &web{Config: cfg, name: name, renew: renew, base: base, probe: probe}, nil
}

// KeyError reports that the system does not accept the key.
type KeyError struct{ System, Renew string }

func (e *KeyError) Error() string {
	return fmt.Sprintf("%s does not accept the key: it has expired or was removed. %s", e.System, e.Renew)
}

// Error is a request that failed.
type Error struct {
	Status int // 0 = no complete answer
	Text   string

	retryAfter time.Duration
	noRoute    bool // the system has no such route
}

func (e *Error) Error() string { return e.Text }

// Temporary reports whether the same request may succeed later.
func (e *Error) Temporary() bool {
	return e.Status == 0 || e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout || e.Status >= http.StatusInternalServerError
}

// isGone reports whether what was asked for is not there.
func isGone(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Status == http.StatusNotFound || e.Status == http.StatusGone || e.noRoute)
}

// lacksRoute reports whether the system has no such route, as one of another version.
func lacksRoute(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.noRoute || e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed)
}

// get decodes the JSON answer of a route.
func (w *web) get(ctx context.Context, path string, query url.Values, out any) error {
	address := w.base.String() + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return w.repeat(ctx, func() error {
		res, err := w.send(ctx, address)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if !isJSON(res) {
			return &Error{Status: res.StatusCode, noRoute: true, Text: fmt.Sprintf("%s answered %s with no JSON", w.name, path)}
		}
		if err := json.NewDecoder(io.LimitReader(res.Body, largestPage)).Decode(out); err != nil {
			return &Error{Text: fmt.Sprintf("the answer of %s to %s ended early or is no JSON: %v", w.name, path, err)}
		}
		return nil
	})
}

// open returns the answer of an address, which may be relative to the root of the system.
func (w *web) open(ctx context.Context, address string) (res *http.Response, err error) {
	target, err := w.base.Parse(address)
	if strings.HasPrefix(address, "/") {
		target, err = url.Parse(w.base.Scheme + "://" + w.base.Host + strings.TrimRight(w.base.Path, "/") + address)
	}
	if err != nil || target.Scheme != "http" && target.Scheme != "https" {
		return nil, &Error{Status: http.StatusNotFound, Text: w.name + " names a file at an address that cannot be read"}
	}
	err = w.repeat(ctx, func() error {
		res, err = w.send(ctx, target.String()) //nolint:bodyclose // the caller closes it
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Body = reading{res.Body, w.name}
	return res, nil
}

// reading makes the errors of a body an *Error.
type reading struct {
	io.ReadCloser
	name string
}

func (r reading) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &Error{Text: fmt.Sprintf("the answer of %s broke off: %v", r.name, err)}
	}
	return n, err
}

// send sends one request. The key goes to the system's own host alone.
func (w *web) send(ctx context.Context, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if req.URL.Host == w.base.Host && req.URL.Scheme == w.base.Scheme {
		req.Header.Set("Authorization", "Bearer "+w.Key)
	}
	res, err := w.HTTP.Do(req)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &Error{Text: fmt.Sprintf("%s does not answer: %v", w.name, source.FromExchange(err))}
	case res.StatusCode < http.StatusMultipleChoices:
		return res, nil
	}
	defer res.Body.Close()
	return nil, w.failure(ctx, res)
}

// failure returns the error of an answer that is no success.
func (w *web) failure(ctx context.Context, res *http.Response) error {
	path := res.Request.URL.Path
	if res.StatusCode == http.StatusUnauthorized && (strings.HasSuffix(path, w.probe) || w.keyRefused(ctx)) {
		return &KeyError{System: w.name, Renew: w.renew}
	}
	text := fmt.Sprintf("%s answered %s with status %d", w.name, path, res.StatusCode)
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		text = fmt.Sprintf("the key may not read it (%s)", text)
	case http.StatusNotFound, http.StatusGone:
		text = fmt.Sprintf("it is gone (%s)", text)
	}
	return &Error{Status: res.StatusCode, Text: text, retryAfter: source.RetryAfter(res.Header)}
}

// keyRefused reports whether the key is refused where a valid one is not: a system may
// answer 401 also for a thing that the key may not read.
func (w *web) keyRefused(ctx context.Context) bool {
	res, err := w.send(ctx, w.base.String()+w.probe)
	if err == nil {
		_ = res.Body.Close()
	}
	_, refused := errors.AsType[*KeyError](err)
	return refused
}

// repeat calls request until it succeeds, fails for good, or has failed too often.
func (w *web) repeat(ctx context.Context, request func() error) error {
	pause := w.FirstPause
	for try := 1; ; try++ {
		err := request()
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.Temporary() || try == attempts {
			return err
		}
		wait := pause
		if e.retryAfter > 0 {
			wait = min(e.retryAfter, longestPause)
		}
		if w.Waits != nil {
			w.Waits(err, wait)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
		pause *= 2
	}
}

func isJSON(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // a malformed type is not JSON
	return kind == "application/json" || kind == "application/x-ndjson"
}
