package ingestion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/store"
)

const fetchTimeout = 2 * time.Minute

// Fetching holds the activity that downloads originals.
type Fetching struct {
	steps

	Config  Config
	Blobs   step.Blobs
	Dialer  *safedial.Dialer
	Browser scrape.Browser // nil = none is configured
}

// FetchInput is the input of FetchDocument.
type FetchInput struct {
	StepInput
	LastTry bool `json:"last_try,omitempty"` // the scripts of a page are not tried again
}

// FetchDocument downloads the original from the address that the upload named and
// stores it in the blob store, unless it is there. It dials through safedial.
func (a *Fetching) FetchDocument(ctx context.Context, in FetchInput) error {
	defer step.Heartbeat(ctx)()
	return a.step(ctx, in.StepInput, knowledge.StageFetch, func(v store.Version) error {
		if err := noteStage(ctx, a.Versions, in.VersionRef, knowledge.StageFetch, 0, store.Facts{}); err != nil {
			return err
		}
		if stored, err := a.Blobs.Exists(ctx, v.SourceKey); err != nil || stored {
			return err
		}
		return a.fetch(ctx, v, in.LastTry)
	})
}

func (a *Fetching) fetch(ctx context.Context, v store.Version, lastTry bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.SourceURL, nil)
	if err != nil {
		return knowledge.Errorf(knowledge.CodeInvalid, "content.url is not a valid URL").WithCause(err)
	}
	request.Header.Set("User-Agent", "cairn")
	response, err := a.Dialer.Client(fetchTimeout).Do(request)
	if err != nil {
		var refused *knowledge.Error
		if errors.As(err, &refused) {
			return refused
		}
		return unreachable("the address did not answer").WithCause(withoutAddress(err))
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests:
		return unreachable(fmt.Sprintf("the address answered %d", response.StatusCode))
	case response.StatusCode != http.StatusOK:
		return knowledge.Errorf(knowledge.CodeInvalid, "the address answered %d", response.StatusCode)
	case response.ContentLength > a.Config.FileBytes:
		return tooLarge("file", a.Config.FileBytes)
	}
	declared := extract.Declared(response.Header.Get("Content-Type"))
	if v.MediaType == "" && declared != "" { // before the bytes, whose presence completes the step
		if err := noteStage(ctx, a.Versions, v.VersionRef, knowledge.StageFetch, 0, store.Facts{MediaType: declared}); err != nil {
			return err
		}
	}
	var ref blob.Ref
	body := &limited{r: response.Body, left: a.Config.FileBytes, limit: a.Config.FileBytes}
	original, warnings, err := a.withScripts(ctx, response, body, lastTry)
	if failed, ok := errors.AsType[*knowledge.Error](err); ok && body.err == nil {
		return failed
	}
	if err == nil {
		ref, err = a.Blobs.PutReader(ctx, v.SourceKey, original)
	}
	switch {
	case knowledge.IsCode(body.err, knowledge.CodeTooLarge):
		return body.err
	case body.err != nil:
		return unreachable("the address stopped in the middle").WithCause(body.err)
	case err != nil:
		return fmt.Errorf("store the original: %w", err)
	}
	return noteStage(ctx, a.Versions, v.VersionRef, knowledge.StageCheck, 0, store.Facts{Bytes: ref.Bytes, Warnings: warnings})
}

const (
	// maxShell bounds a page whose text is made by its scripts, in bytes.
	maxShell = 1 << 20
	// scriptsTimeout bounds the time of these scripts, with a start of the browser.
	scriptsTimeout = 2 * time.Minute
)

// withScripts returns the body of an answer, or the document that the scripts of a page
// make of it, if the page has little text without them. Where they were not run, it fails
// in a way that a retry can help, or warns if this is the last try or there is no browser.
func (a *Fetching) withScripts(ctx context.Context, response *http.Response, body io.Reader, lastTry bool) (io.Reader, []knowledge.Warning, error) {
	if kind, _, _ := strings.Cut(extract.Declared(response.Header.Get("Content-Type")), ";"); kind != extract.TypeHTML {
		return body, nil, nil
	}
	start, err := io.ReadAll(io.LimitReader(body, maxShell+1))
	plain := io.MultiReader(bytes.NewReader(start), body)
	if err != nil || len(start) > maxShell || !scrape.LooksEmpty(start) {
		return plain, nil, err
	}
	if a.Browser == nil {
		return plain, withoutScripts("scrape.chromium is not set"), nil
	}
	ctx, cancel := context.WithTimeout(ctx, scriptsTimeout)
	defer cancel()
	document, err := a.Browser.Render(ctx, response.Request.URL.String(), func(*url.URL) error { return nil })
	switch {
	case err == nil:
		return strings.NewReader(document.HTML), nil, nil
	case lastTry || knowledge.IsCode(err, knowledge.CodeNeedsComponent):
		a.Log.WarnContext(ctx, "a page is ingested without its scripts", "error", withoutAddress(err))
		return plain, withoutScripts("the browser did not run them"), nil
	default:
		return nil, nil, unreachable("the browser did not run the scripts from which the page gets its text").WithCause(withoutAddress(err))
	}
}

// withoutScripts returns the warning of a page whose scripts were not run.
func withoutScripts(cause string) []knowledge.Warning {
	return []knowledge.Warning{{Code: knowledge.WarnScripts, Message: "the page seems to get its text from scripts, and was read without them: " + cause}}
}

// withoutAddress returns an error without the address, because errors are logged.
// The query of an address may be a signature that opens the document to anybody.
func withoutAddress(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func unreachable(message string) *knowledge.Error {
	return &knowledge.Error{Code: knowledge.CodeUnavailable, Message: message + "; try again later", Retryable: true}
}

func tooLarge(what string, limit int64) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeTooLarge, "the %s is larger than the limit of %d bytes", what, limit)
}

// limited is a reader that fails with CodeTooLarge beyond a limit. It keeps the
// error that it returned, io.EOF excepted.
type limited struct {
	r     io.Reader
	left  int64
	limit int64
	err   error
}

func (l *limited) Read(p []byte) (n int, err error) {
	if l.err != nil {
		return 0, l.err
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err = l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		err = tooLarge("file", l.limit)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}
