package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
)

// ArchiveDownload fetches archives from the addresses that users give. Safe for
// concurrent use.
type ArchiveDownload struct {
	Dialer *safedial.Dialer
	Blobs  step.Blobs
	Bytes  int64 // the largest archive
}

// Fetch stores what an address returns under key.
func (d ArchiveDownload) Fetch(ctx context.Context, address, key string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return knowledge.Errorf(knowledge.CodeInvalid, "source.uri is not a valid URL").WithCause(err)
	}
	request.Header.Set("User-Agent", "cairn")
	response, err := d.Dialer.Client(0).Do(request)
	if err != nil {
		if refused, ok := errors.AsType[*knowledge.Error](err); ok {
			return refused
		}
		return unreachable("the address of the archive did not answer").WithCause(withoutAddress(err))
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests:
		return unreachable(fmt.Sprintf("the address of the archive answered %d", response.StatusCode))
	case response.StatusCode != http.StatusOK:
		return knowledge.Errorf(knowledge.CodeInvalid, "the address of the archive answered %d", response.StatusCode)
	}
	body := &limited{r: response.Body, left: d.Bytes, limit: d.Bytes}
	_, err = d.Blobs.PutReader(ctx, key, io.Reader(body))
	switch {
	case knowledge.IsCode(body.err, knowledge.CodeTooLarge):
		return body.err
	case body.err != nil:
		return unreachable("the address of the archive stopped in the middle").WithCause(body.err)
	case err != nil:
		return fmt.Errorf("store the archive: %w", err)
	}
	return nil
}
