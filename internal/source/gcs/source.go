package gcs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"google.golang.org/api/googleapi"
	"google.golang.org/api/storage/v1"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// scheme begins the address of a prefix.
const scheme = "gs"

// listTimeout bounds the request of one page with its repetitions.
const listTimeout = 90 * time.Second

// Source is a prefix of a bucket. It implements source.Source.
type Source struct {
	service *storage.Service
	prefix  source.Prefix
}

// Check refuses a Spec that names no prefix of a bucket.
func Check(spec source.Spec) error {
	if _, err := source.ParsePrefix(scheme, spec.URI); err != nil {
		return err
	}
	if spec.Secret != "" && !isGoogle(spec.Options.Endpoint) {
		return knowledge.Invalid("body.source.secret", "is sent to Google alone; leave it or options.endpoint out")
	}
	return source.CheckEndpoint(spec.Options.Endpoint)
}

// New returns the source that a request describes. It dials the bucket through
// httpClient. An endpoint that is not Google's receives no credentials.
func New(ctx context.Context, r source.Request, httpClient *http.Client) (*Source, error) {
	prefix, err := source.ParsePrefix(scheme, r.URI)
	if err != nil {
		return nil, err
	}
	service, err := newService(ctx, r, httpClient)
	if err != nil {
		return nil, err
	}
	return &Source{service: service, prefix: prefix}, nil
}

// List implements source.Source.
func (s *Source) List(ctx context.Context, token string) (source.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	var found *storage.Objects
	err := source.Retry(ctx, func() error {
		var err error
		found, err = s.service.Objects.List(s.prefix.Bucket).Prefix(s.prefix.Path).PageToken(token).MaxResults(source.MaxPage).
			Fields("nextPageToken", "items(name,size,generation,contentType,updated)").Context(ctx).Do()
		return failure(err, "bucket", s.prefix.Bucket)
	})
	if err != nil {
		return source.Page{}, err
	}
	page := source.Page{Objects: make([]source.Object, 0, len(found.Items)), Next: found.NextPageToken}
	for _, o := range found.Items {
		inside, ok := s.prefix.Inside(o.Name)
		if !ok || !utf8.ValidString(o.Name) {
			continue
		}
		modified, _ := time.Parse(time.RFC3339, o.Updated) // zero if it is not known
		page.Objects = append(page.Objects, source.Object{
			Key: inside, Address: s.prefix.Address(o.Name), ETag: strconv.FormatInt(o.Generation, 10),
			Bytes: int64(o.Size), MediaType: o.ContentType, Modified: modified,
		})
	}
	if page.Next != "" && (page.Next == token || len(page.Next) > source.MaxToken) {
		return source.Page{}, source.Unavailable(errors.New("the bucket gave no usable token for the rest of its listing"))
	}
	return page, nil
}

// Open implements source.Source. The ETag of an object is its generation, which
// changes with its bytes.
func (s *Source) Open(ctx context.Context, object source.Object, known string) (io.ReadCloser, source.Object, error) {
	ctx, cancel := context.WithCancel(ctx)
	key := s.prefix.Outside(object.Key)
	var response *http.Response
	err := source.Retry(ctx, func() error {
		call := s.service.Objects.Get(s.prefix.Bucket, key).Context(ctx)
		if generation, err := strconv.ParseInt(known, 10, 64); err == nil {
			call.IfGenerationNotMatch(generation)
		}
		var err error
		response, err = call.Download() //nolint:bodyclose // the caller closes it
		return failure(err, "object", s.prefix.Address(key))
	})
	if err != nil {
		cancel()
		return nil, object, err
	}
	body, encoded := source.Decoded(source.NewBody(response.Body, cancel), response.Header.Get("Content-Encoding"))
	object.ETag, object.Bytes, object.MediaType = response.Header.Get("X-Goog-Generation"), response.ContentLength, response.Header.Get("Content-Type")
	if modified, err := http.ParseTime(response.Header.Get("Last-Modified")); err == nil {
		object.Modified = modified
	}
	if encoded {
		object.Bytes = -1
	}
	if known != "" && object.ETag == known { // the service ignored the condition
		_ = body.Close() // nothing of it is read
		return nil, object, source.ErrUnchanged
	}
	return body, object, nil
}

// failure returns the error of a request as source.Source states it.
func failure(err error, subject, name string) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*googleapi.Error](err)
	switch {
	case !ok:
		return source.FromExchange(err)
	case e.Code == http.StatusNotModified:
		return source.ErrUnchanged
	case e.Code < 300: // an answer that is not JSON
		return source.Unavailable(err)
	}
	return source.FromStatus(e.Code, e.Header, subject, name).WithCause(err)
}
