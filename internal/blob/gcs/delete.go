package gcs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"

	"google.golang.org/api/googleapi"

	"github.com/cairn-rag/cairn/internal/blob"
)

// batchObjects is the number of objects that Google deletes with one request at most.
const batchObjects = 100

// Delete implements blob.Bucket.
func (b *Bucket) Delete(ctx context.Context, keys []string) error {
	return blob.DeleteBatches(ctx, keys, blob.Deletions{Size: batchObjects, Batch: b.deleteBatch, One: b.deleteOne})
}

func (b *Bucket) deleteOne(ctx context.Context, key string) error {
	return retry(ctx, func() error { return b.service.Objects.Delete(b.name, b.prefix+key).Context(ctx).Do() })
}

// deleteBatch deletes objects with one request. The client library has no batches: a batch
// is a multipart body whose parts are the requests, and so is its answer, in their order.
func (b *Bucket) deleteBatch(ctx context.Context, keys []string) (errs []error, err error) {
	body, contentType, err := b.batchOf(keys)
	if err != nil {
		return nil, fmt.Errorf("prepare a batch: %w", err)
	}
	err = retry(ctx, func() error {
		errs, err = b.submit(ctx, body, contentType)
		if err == nil && len(errs) != len(keys) {
			err = fmt.Errorf("%d answers to a batch of %d requests", len(errs), len(keys))
		}
		return err
	})
	if e, ok := errors.AsType[*googleapi.Error](err); ok && lacksBatches(e.Code) {
		return nil, b.withoutBatches(ctx, e)
	}
	return errs, err
}

// lacksBatches reports whether a server that does not know the address of batches answers
// with the status. It says nothing of an object.
func lacksBatches(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// withoutBatches returns blob.ErrNoBatches if the server has the bucket, and with it the
// requests for one object.
func (b *Bucket) withoutBatches(ctx context.Context, answer error) error {
	if err := b.Ping(ctx); err != nil {
		return blob.Unavailable(ctx, fmt.Errorf("no batches at %s: %v; and no bucket: %v", b.batches, answer, err)) //nolint:errorlint // not a missing object
	}
	return blob.ErrNoBatches
}

// batchOf returns the body of a batch, and its content type.
func (b *Bucket) batchOf(keys []string) (body []byte, contentType string, err error) {
	var buffer bytes.Buffer
	parts := multipart.NewWriter(&buffer)
	for i, key := range keys {
		part, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {"application/http"}, "Content-Id": {fmt.Sprintf("<%d>", i)}})
		if err != nil {
			return nil, "", err
		}
		path := "/storage/v1/b/" + url.PathEscape(b.name) + "/o/" + url.PathEscape(b.prefix+key)
		if _, err := fmt.Fprintf(part, "DELETE %s HTTP/1.1\r\n\r\n", path); err != nil {
			return nil, "", err
		}
	}
	err = parts.Close()
	return buffer.Bytes(), "multipart/mixed; boundary=" + parts.Boundary(), err
}

// submit sends a batch and returns the errors of its requests.
func (b *Bucket) submit(ctx context.Context, body []byte, contentType string) ([]error, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.batches, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := b.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if err := googleapi.CheckResponse(response); err != nil {
		return nil, err
	}
	return answers(ctx, response)
}

// answers returns the errors of the requests of a batch.
func answers(ctx context.Context, response *http.Response) (errs []error, err error) {
	_, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("read the answer to a batch: %w", err)
	}
	for parts := multipart.NewReader(response.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return errs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the answer to a batch: %w", err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(part), nil)
		if err != nil {
			return nil, fmt.Errorf("read an answer of a batch: %w", err)
		}
		errs = append(errs, failure(ctx, googleapi.CheckResponse(answer)))
		_ = answer.Body.Close() // its bytes belong to the part
	}
}
