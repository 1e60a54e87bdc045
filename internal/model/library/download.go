package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// mostFetched bounds what is fetched, in bytes.
const mostFetched = 4 << 30

// downloadName returns the name of the file into which an address is fetched. Each address has its own.
func downloadName(address string) string {
	hash := sha256.Sum256([]byte(address))
	return "download-" + hex.EncodeToString(hash[:6])
}

// download fetches r.From into a file. A file that is there is continued, if the server can do that.
func (r Request) download(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("fetch the model: %w", err)
	}
	defer func() { _ = f.Close() }() // its last write was checked
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("fetch the model: %w", err)
	}
	res, err := r.get(ctx, have)
	if err != nil && have == 0 {
		_ = os.Remove(path) // it is empty
	}
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was read
	switch {
	case have > 0 && res.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return nil // all of it is there
	case res.StatusCode == http.StatusOK:
		if have = 0; f.Truncate(0) != nil {
			return errors.New("fetch the model: the file of an earlier attempt cannot be replaced")
		}
	case res.StatusCode != http.StatusPartialContent || !strings.HasPrefix(res.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
		return knowledge.Errorf(knowledge.CodeProviderFailed, "%s answers with status %d: name another address or a file with --from", hostOf(r.From), res.StatusCode)
	}
	total := int64(0)
	if res.ContentLength > 0 {
		total = have + res.ContentLength
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return fmt.Errorf("fetch the model: %w", err)
	}
	return r.receive(ctx, f, res.Body, have, total)
}

// get asks for all but the first bytes of r.From.
func (r Request) get(ctx context.Context, have int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.From, nil)
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "--from is no address: %s", r.From)
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	res, err := r.Client.Do(req)
	if knowledge.IsCode(err, knowledge.CodeInvalid) {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "%s is not reached: it is no public address, and egress.allow in the configuration does not have it", hostOf(r.From))
	}
	if err != nil && ctx.Err() == nil {
		return nil, &knowledge.Error{Code: knowledge.CodeProviderFailed, Message: hostOf(r.From) + " cannot be reached: run the command again, or name another address or a file with --from", Cause: err}
	}
	return res, err
}

// receive copies a body. What has arrived stays for the next attempt.
func (r Request) receive(ctx context.Context, f *os.File, body io.Reader, have, total int64) error {
	buffer := make([]byte, 1<<18)
	for {
		n, err := body.Read(buffer)
		if _, failed := f.Write(buffer[:n]); failed != nil {
			return fmt.Errorf("fetch the model: %w", failed)
		}
		if have += int64(n); r.Progress != nil {
			r.Progress(have, total)
		}
		switch {
		case have > mostFetched:
			return knowledge.Errorf(knowledge.CodeTooLarge, "%s sends more than %d bytes, which is no model", hostOf(r.From), int64(mostFetched))
		case errors.Is(err, io.EOF) && have >= total:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return &knowledge.Error{Code: knowledge.CodeProviderFailed, Message: fmt.Sprintf("the connection to %s ended after %d bytes: run the command again, it continues there", hostOf(r.From), have), Cause: err}
		}
	}
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return address
}
