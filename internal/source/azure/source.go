package azure

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// listTimeout bounds the request of one page with its retries.
const listTimeout = 90 * time.Second

// Source is a prefix of a container. It implements source.Source.
type Source struct {
	client *container.Client
	prefix source.Prefix
	uri    string
}

// Check refuses a Spec that names no prefix of a container.
func Check(spec source.Spec) error {
	if _, err := parsePlace(spec.URI); err != nil {
		return err
	}
	return source.CheckEndpoint(spec.Options.Endpoint)
}

// New returns the source that a request describes. It dials the container through
// httpClient. An endpoint that is not Azure's receives requests signed with an
// account key, but no token and no signed address.
func New(r source.Request, httpClient *http.Client) (*Source, error) {
	p, err := parsePlace(r.URI)
	if err != nil {
		return nil, err
	}
	client, err := newClient(p, r, httpClient)
	if err != nil {
		return nil, err
	}
	return &Source{client: client, prefix: p.prefix, uri: r.URI}, nil
}

// List implements source.Source.
func (s *Source) List(ctx context.Context, token string) (source.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	options := &container.ListBlobsFlatOptions{
		Prefix: &s.prefix.Path, MaxResults: to.Ptr[int32](source.MaxPage),
		Include: container.ListBlobsInclude{Metadata: true}, // which marks folders
	}
	if token != "" {
		options.Marker = &token
	}
	found, err := s.client.NewListBlobsFlatPager(options).NextPage(ctx)
	if err != nil {
		return source.Page{}, s.failure(err, "container", s.prefix.Bucket)
	}
	if found.Segment == nil {
		return source.Page{}, source.Unavailable(errors.New("the listing has no end"))
	}
	page := source.Page{Objects: make([]source.Object, 0, len(found.Segment.BlobItems))}
	for _, item := range found.Segment.BlobItems {
		if o, ok := s.object(item); ok {
			page.Objects = append(page.Objects, o)
		}
	}
	if page.Next = value(found.NextMarker); page.Next != "" && (page.Next == token || len(page.Next) > source.MaxToken) {
		return source.Page{}, source.Unavailable(errors.New("the container gave no usable token for the rest of its listing"))
	}
	return page, nil
}

// object returns a blob as an object. It reports false for a blob that is no
// document.
func (s *Source) object(item *container.BlobItem) (source.Object, bool) {
	name := value(item.Name)
	inside, ok := s.prefix.Inside(name)
	if !ok || !utf8.ValidString(name) || item.Properties == nil || isFolder(item.Metadata) {
		return source.Object{}, false
	}
	p := item.Properties
	return source.Object{
		Key: inside, Address: s.prefix.Address(name), ETag: tag(p.ETag), Bytes: sizeOf(p.ContentLength),
		MediaType: mediaType(p.ContentType), Modified: value(p.LastModified),
	}, true
}

// isFolder reports whether a blob stands for a folder of a hierarchical account.
func isFolder(metadata map[string]*string) bool {
	for name, v := range metadata {
		if strings.EqualFold(name, "hdi_isfolder") {
			return value(v) == "true"
		}
	}
	return false
}

// Open implements source.Source.
func (s *Source) Open(ctx context.Context, object source.Object, known string) (io.ReadCloser, source.Object, error) {
	ctx, cancel := context.WithCancel(ctx)
	key := s.prefix.Outside(object.Key)
	options := &blob.DownloadStreamOptions{}
	if known != "" {
		options.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{
			IfNoneMatch: to.Ptr(azcore.ETag(`"` + known + `"`)),
		}}
	}
	out, err := s.client.NewBlobClient(key).DownloadStream(ctx, options)
	if err != nil {
		cancel()
		return nil, object, s.failure(err, "object", s.prefix.Address(key))
	}
	body, encoded := source.Decoded(source.NewBody(out.Body, cancel), value(out.ContentEncoding))
	// The SDK takes the status 304 for a success.
	if known != "" && (tag(out.ETag) == known || value(out.ErrorCode) == string(bloberror.ConditionNotMet)) {
		_ = body.Close() // nothing of it is read
		return nil, object, source.ErrUnchanged
	}
	object.ETag, object.Bytes, object.MediaType, object.Modified = tag(out.ETag), sizeOf(out.ContentLength), mediaType(out.ContentType), value(out.LastModified)
	if encoded {
		object.Bytes = -1
	}
	return body, object, nil
}

// failure returns the error of a request as source.Source states it.
func (s *Source) failure(err error, subject, name string) error {
	if _, ok := errors.AsType[*azidentity.AuthenticationFailedError](err); ok {
		return source.Forbidden(subject, name).WithCause(err)
	}
	e, ok := errors.AsType[*azcore.ResponseError](err)
	switch {
	case !ok && strings.Contains(err.Error(), "DefaultAzureCredential"): // its type is not exported
		return noCredentials(s.uri).WithCause(err)
	case !ok:
		return source.FromExchange(err)
	case e.StatusCode == http.StatusNotModified:
		return source.ErrUnchanged
	case e.StatusCode < 300: // an answer that is not XML
		return source.Unavailable(err)
	}
	var header http.Header
	if e.RawResponse != nil {
		header = e.RawResponse.Header
	}
	switch e.ErrorCode {
	case "ContainerNotFound":
		return source.NotFound(subject, name)
	case "BlobArchived", "BlobBeingRehydrated":
		return knowledge.Errorf(knowledge.CodeForbidden, "%q is in the archive tier of the container; restore it and try again", name).WithCause(err)
	}
	return source.FromStatus(e.StatusCode, header, subject, name).WithCause(err)
}

// tag returns an ETag without the quotes that it has in headers and lacks in
// listings.
func tag(e *azcore.ETag) string { return strings.Trim(string(value(e)), `"`) }

func sizeOf(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

// mediaType returns the declared type, "" for the default of the service.
func mediaType(t *string) string {
	if value(t) == "application/octet-stream" {
		return ""
	}
	return value(t)
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
