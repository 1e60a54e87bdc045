package connect

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/blob/azure"
	"github.com/cairn-rag/cairn/internal/blob/gcs"
	"github.com/cairn-rag/cairn/internal/blob/s3"
)

// Config names a store of blobs.
type Config struct {
	// URL is the address of a folder or a bucket.
	URL string
	// Credentials are for the bucket, in a form that the service defines. Defaults to
	// what the service's own chain finds on this machine.
	Credentials []byte
	// Shared reports whether other processes have a folder open (blob.SharedIf). Defaults
	// to never.
	Shared func() bool
	// Logger receives warnings about the bucket.
	Logger *slog.Logger
}

// openPatience bounds the checks of a bucket at the start.
const openPatience = 30 * time.Second

// Open opens the store. It writes, reads and deletes a blob in a bucket, so that a missing
// permission is an error now, which names the bucket.
func Open(ctx context.Context, c Config) (*blob.Store, error) {
	a, isService, err := parse(c.URL)
	if err != nil {
		return nil, err
	}
	if !isService {
		if c.Shared == nil {
			return blob.Open(ctx, c.URL)
		}
		return blob.Open(ctx, c.URL, blob.SharedIf(c.Shared))
	}
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	bucket, err := open(ctx, a, c.Credentials)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", a.place(), err)
	}
	if err := probe(ctx, bucket); err != nil {
		return nil, errors.Join(fmt.Errorf("check %s: %w", a.place(), err), bucket.Close())
	}
	if v, ok := bucket.(interface{ KeepsVersions(context.Context) bool }); ok && v.KeepsVersions(ctx) {
		c.Logger.WarnContext(ctx, "the bucket keeps versions: the bytes of removed documents stay in it until a lifecycle rule expires noncurrent versions", "bucket", a.place())
	}
	return blob.New(bucket), nil
}

func open(ctx context.Context, a address, credentials []byte) (blob.Bucket, error) {
	client := newClient(silence)
	switch a.scheme {
	case schemeGCS:
		return gcs.New(ctx, gcs.Config{Bucket: a.bucket, Prefix: a.prefix(), Endpoint: a.endpoint, Credentials: credentials, Client: client})
	case schemeAzure:
		return azure.New(azure.Config{
			Account: a.account, Container: a.bucket, Prefix: a.prefix(), Endpoint: a.endpoint, Credentials: credentials, Client: client,
		})
	}
	return s3.New(ctx, s3.Config{
		Bucket: a.bucket, Prefix: a.prefix(), Endpoint: a.endpoint, Region: a.region, PathStyle: a.pathStyle, Credentials: credentials, Client: client,
	})
}

// probe checks that this server may list, write, read and delete blobs.
func probe(ctx context.Context, b blob.Bucket) error {
	if err := b.Ping(ctx); err != nil {
		return fmt.Errorf("reach it: %w", err)
	}
	key, text := "cairn-probe/"+strings.ToLower(rand.Text()), "written by Cairn at its start"
	if err := b.Put(ctx, key, strings.NewReader(text)); err != nil {
		return fmt.Errorf("write an object: %w", err)
	}
	var read bytes.Buffer
	r, _, err := b.Open(ctx, key)
	if err == nil {
		_, err = io.Copy(&read, r)
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return fmt.Errorf("read an object: %w", err)
	}
	if read.String() != text {
		return errors.New("an object was read with other bytes than were written")
	}
	for _, err := range b.List(ctx, "cairn-probe/") {
		if err != nil {
			return fmt.Errorf("list objects: %w", err)
		}
		break
	}
	if err := b.Delete(ctx, []string{key}); err != nil {
		return fmt.Errorf("delete an object: %w", err)
	}
	return nil
}
