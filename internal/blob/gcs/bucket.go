package gcs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/api/googleapi"
	"google.golang.org/api/storage/v1"

	"github.com/cairn-rag/cairn/internal/blob"
)

const (
	// chunkBytes is the size of the pieces of a large object, and the memory that each
	// upload of one takes.
	chunkBytes  = 8 << 20
	contentType = "application/octet-stream"
	// pageObjects is the number of objects in a page of a listing.
	pageObjects = 1000
)

// Tries of one request. An activity repeats a step with longer delays.
const (
	attempts   = 3
	firstDelay = 300 * time.Millisecond
)

// Put implements blob.Bucket. An object above chunkBytes is sent in pieces, which Google
// drops after a week if the upload is not completed.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader) error {
	return b.put(ctx, key, r, anyGeneration)
}

// anyGeneration stores an object whatever is there.
const anyGeneration = -1

// Replace implements blob.Replacer.
func (b *Bucket) Replace(ctx context.Context, key string, change func(io.Reader) (io.Reader, error)) (bool, error) {
	var response *http.Response
	err := retry(ctx, func() (err error) {
		response, err = b.service.Objects.Get(b.name, b.prefix+key).Context(ctx).Download() //nolint:bodyclose // it is closed below
		return err
	})
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	generation, err := strconv.ParseInt(response.Header.Get("X-Goog-Generation"), 10, 64)
	if err != nil {
		return false, blob.Unavailable(ctx, fmt.Errorf("read the generation of an object: %w", err))
	}
	changed, err := change(response.Body)
	if err != nil || changed == nil {
		return false, err
	}
	err = b.put(ctx, key, changed, generation)
	if refused, ok := errors.AsType[*googleapi.Error](err); ok && refused.Code == http.StatusPreconditionFailed {
		return false, nil
	}
	return err == nil, err
}

// put stores the bytes of r, if the generation is anyGeneration or that of what is there.
func (b *Bucket) put(ctx context.Context, key string, r io.Reader, generation int64) error {
	first, err := io.ReadAll(io.LimitReader(r, chunkBytes))
	if err != nil {
		return fmt.Errorf("read the bytes to store: %w", err)
	}
	if len(first) < chunkBytes {
		return retry(ctx, func() error { return b.insert(ctx, key, bytes.NewReader(first), generation) })
	}
	rest := &blob.Source{Reader: r}
	err = b.insert(ctx, key, io.MultiReader(bytes.NewReader(first), rest), generation)
	if rest.Err != nil {
		return fmt.Errorf("read the bytes to store: %w", rest.Err)
	}
	return failure(ctx, err)
}

func (b *Bucket) insert(ctx context.Context, key string, r io.Reader, generation int64) error {
	insert := b.service.Objects.Insert(b.name, &storage.Object{Name: b.prefix + key, ContentType: contentType}).
		Media(r, googleapi.ChunkSize(chunkBytes), googleapi.ContentType(contentType)).Fields("name").Context(ctx)
	if generation != anyGeneration {
		insert = insert.IfGenerationMatch(generation)
	}
	_, err := insert.Do()
	return err
}

// Open implements blob.Bucket.
func (b *Bucket) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	var response *http.Response
	err := retry(ctx, func() (err error) {
		response, err = b.service.Objects.Get(b.name, b.prefix+key).Context(ctx).Download() //nolint:bodyclose // the caller closes it
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return response.Body, response.ContentLength, nil
}

// OpenAt implements blob.Bucket.
func (b *Bucket) OpenAt(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	var response *http.Response
	err := retry(ctx, func() (err error) {
		get := b.service.Objects.Get(b.name, b.prefix+key).Context(ctx)
		get.Header().Set("Range", fmt.Sprintf("bytes=%d-", offset))
		response, err = get.Download() //nolint:bodyclose // the caller closes it
		return err
	})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Exists implements blob.Bucket.
func (b *Bucket) Exists(ctx context.Context, key string) (bool, error) {
	err := retry(ctx, func() error {
		_, err := b.service.Objects.Get(b.name, b.prefix+key).Fields("name").Context(ctx).Do()
		return err
	})
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// List implements blob.Bucket.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		for token := ""; ; {
			page, err := b.page(ctx, prefix, token)
			if err != nil {
				yield(blob.Object{}, err)
				return
			}
			for _, o := range page.Items {
				modified, _ := time.Parse(time.RFC3339, o.Updated) // zero if it is not known
				if !yield(blob.Object{Key: strings.TrimPrefix(o.Name, b.prefix), Bytes: int64(o.Size), Modified: modified}, nil) {
					return
				}
			}
			if token = page.NextPageToken; token == "" {
				return
			}
		}
	}
}

func (b *Bucket) page(ctx context.Context, prefix, token string) (page *storage.Objects, err error) {
	err = retry(ctx, func() (err error) {
		page, err = b.service.Objects.List(b.name).Prefix(b.prefix+prefix).PageToken(token).MaxResults(pageObjects).
			Fields("nextPageToken", "items(name,size,updated)").Context(ctx).Do()
		return err
	})
	return page, err
}

// Link implements blob.Bucket. Only the key of a service account signs addresses.
func (b *Bucket) Link(_ context.Context, key string, d blob.Download) (string, error) {
	if b.signer == nil {
		return "", nil
	}
	return b.signer.sign(b.name, b.prefix+key, d)
}

// Ping implements blob.Bucket.
func (b *Bucket) Ping(ctx context.Context) error {
	_, err := b.service.Objects.List(b.name).Prefix(b.prefix).MaxResults(1).Fields("items(name)").Context(ctx).Do()
	return failure(ctx, err)
}

// Close implements blob.Bucket. The HTTP client is the caller's.
func (b *Bucket) Close() error { return nil }

// retry calls request until it succeeds, or fails with an error that passes by itself for
// the last time. It returns the error as blob.Bucket states it.
func retry(ctx context.Context, request func() error) error {
	delay := firstDelay
	for attempt := 1; ; attempt++ {
		err := request()
		if err == nil || !passes(err) || attempt == attempts {
			return failure(ctx, err)
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return failure(ctx, err)
		}
		delay *= 3
	}
}

// passes reports whether a repetition can help.
func passes(err error) bool {
	e, ok := errors.AsType[*googleapi.Error](err)
	if ok && e.Code == http.StatusNotImplemented {
		return false
	}
	return !ok || e.Code >= http.StatusInternalServerError || e.Code == http.StatusTooManyRequests || e.Code == http.StatusRequestTimeout
}

// failure returns the error of a request as blob.Bucket states it.
func failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*googleapi.Error](err)
	switch {
	case !ok || e.Code < http.StatusMultipleChoices: // no answer, or one that is not JSON
		return blob.Unavailable(ctx, err)
	case e.Code == http.StatusNotFound && missesBucket(e):
		return blob.Gone(ctx, err)
	}
	return blob.FromStatus(ctx, e.Code, err)
}

// missesBucket reports whether a bucket was not found. Google has no code for it that an
// object has not too.
func missesBucket(e *googleapi.Error) bool {
	text := strings.ToLower(e.Message + e.Body)
	return strings.Contains(text, "bucket does not exist")
}
