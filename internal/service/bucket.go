package service

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const (
	bucketName = "cairn"
	// credentialsVariable names BucketEnv's credentials.
	credentialsVariable = "BUCKET_CREDENTIALS"
)

// Bucket is an S3 server in this process with one bucket, whose objects are in memory
// and outlive Kill. One goroutine uses it at a time.
type Bucket struct {
	address string
	objects gofakes3.Backend
	handler http.Handler
	server  *http.Server
}

// NewBucket starts a server with an empty bucket.
func NewBucket(ctx context.Context) (*Bucket, error) {
	objects := s3mem.New()
	if err := objects.CreateBucket(bucketName); err != nil {
		return nil, err
	}
	b := &Bucket{address: "127.0.0.1:0", objects: objects, handler: gofakes3.New(objects).Server()}
	return b, b.Start(ctx)
}

// Start listens again, at the address of the first start.
func (b *Bucket) Start(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", b.address)
	if err != nil {
		return err
	}
	b.address = l.Addr().String()
	b.server = &http.Server{Handler: b.handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = b.server.Serve(l) }() // until Kill
	return nil
}

// Kill breaks all connections and refuses further ones.
func (b *Bucket) Kill() error { return b.server.Close() }

// Env returns the variables that let Cairn keep its blobs in the bucket.
func (b *Bucket) Env() []string {
	return []string{
		"CAIRN_BLOB__URL=s3://" + bucketName + "/blobs?region=eu-central-1&endpoint=http://" + b.address,
		"CAIRN_BLOB__CREDENTIALS_ENV=" + credentialsVariable,
		credentialsVariable + `={"access_key_id": "id", "secret_access_key": "secret"}`,
	}
}

// Contents returns the bytes of all objects, as they are stored.
func (b *Bucket) Contents() (map[string][]byte, error) {
	list, err := b.objects.ListBucket(bucketName, nil, gofakes3.ListBucketPage{})
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, one := range list.Contents {
		object, err := b.objects.GetObject(bucketName, one.Key, nil)
		if err != nil {
			return nil, err
		}
		all[one.Key], err = io.ReadAll(object.Contents)
		if err = errors.Join(err, object.Contents.Close()); err != nil {
			return nil, err
		}
	}
	return all, nil
}
