package s3

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// listTimeout bounds the request of one page with its retries.
const listTimeout = 90 * time.Second

// Source is a prefix of a bucket. It implements source.Source.
type Source struct {
	client *s3.Client
	prefix source.Prefix
}

// Check refuses a Spec that names no prefix of a bucket.
func Check(spec source.Spec) error {
	if _, err := source.ParsePrefix("s3", spec.URI); err != nil {
		return err
	}
	if !region.MatchString(spec.Options.Region) {
		return knowledge.Invalid("body.source.options.region", "is %q; write a name such as eu-central-1", spec.Options.Region)
	}
	return source.CheckEndpoint(spec.Options.Endpoint)
}

// region matches the names of regions, which are a part of the hosts that are dialled.
var region = regexp.MustCompile(`^[A-Za-z0-9_-]{0,63}$`)

// New returns the source that a request describes. It dials the bucket through
// httpClient.
func New(ctx context.Context, r source.Request, httpClient *http.Client) (*Source, error) {
	prefix, err := source.ParsePrefix("s3", r.URI)
	if err != nil {
		return nil, err
	}
	client, err := newClient(ctx, r, httpClient)
	if err != nil {
		return nil, err
	}
	return &Source{client: client, prefix: prefix}, nil
}

// List implements source.Source.
func (s *Source) List(ctx context.Context, token string) (source.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	in := &s3.ListObjectsV2Input{
		Bucket: &s.prefix.Bucket, Prefix: &s.prefix.Path, MaxKeys: aws.Int32(source.MaxPage),
		EncodingType: types.EncodingTypeUrl, // a key can contain characters that XML cannot
	}
	if token != "" {
		in.ContinuationToken = &token
	}
	out, err := s.client.ListObjectsV2(ctx, in)
	if err != nil {
		return source.Page{}, failure(err, "bucket", s.prefix.Bucket)
	}
	page := source.Page{Objects: make([]source.Object, 0, len(out.Contents))}
	for _, o := range out.Contents {
		key, err := listedKey(out.EncodingType, aws.ToString(o.Key))
		if err != nil {
			return source.Page{}, source.Unavailable(err)
		}
		if inside, ok := s.prefix.Inside(key); ok && utf8.ValidString(key) {
			page.Objects = append(page.Objects, source.Object{
				Key: inside, Address: s.prefix.Address(key), ETag: aws.ToString(o.ETag),
				Bytes: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified),
			})
		}
	}
	if page.Next = aws.ToString(out.NextContinuationToken); !aws.ToBool(out.IsTruncated) {
		page.Next = ""
	} else if page.Next == "" || page.Next == token || len(page.Next) > source.MaxToken {
		return source.Page{}, source.Unavailable(errors.New("the bucket listed a half and gave no token for the rest"))
	}
	return page, nil
}

// listedKey decodes a key if the server did encode it. Some services that are
// compatible with S3 ignore the request to.
func listedKey(encoding types.EncodingType, key string) (string, error) {
	if encoding != types.EncodingTypeUrl {
		return key, nil
	}
	return url.QueryUnescape(key)
}

// Open implements source.Source.
func (s *Source) Open(ctx context.Context, object source.Object, known string) (io.ReadCloser, source.Object, error) {
	ctx, cancel := context.WithCancel(ctx)
	key := s.prefix.Outside(object.Key)
	in := &s3.GetObjectInput{Bucket: &s.prefix.Bucket, Key: &key}
	if known != "" {
		in.IfNoneMatch = &known
	}
	out, err := s.client.GetObject(ctx, in)
	if err != nil {
		cancel()
		return nil, object, failure(err, "object", s.prefix.Address(key))
	}
	object.ETag, object.Modified, object.MediaType = aws.ToString(out.ETag), aws.ToTime(out.LastModified), aws.ToString(out.ContentType)
	object.Bytes = -1
	if out.ContentLength != nil {
		object.Bytes = *out.ContentLength
	}
	if strings.EqualFold(object.MediaType, "binary/octet-stream") {
		object.MediaType = "" // the default of S3, which declares nothing
	}
	body, encoded := source.Decoded(source.NewBody(out.Body, cancel), aws.ToString(out.ContentEncoding))
	if encoded {
		object.Bytes = -1
	}
	return body, object, nil
}
