package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/cairn-rag/cairn/internal/client"
)

const bucketName = "bench"

// bucket is an S3 server in the bench's own process. It counts its requests.
type bucket struct {
	http     *http.Server
	endpoint string
	objects  *s3mem.Backend
	read     atomic.Int64 // requests of objects
	listed   atomic.Int64 // requests of pages
}

// newBucket starts an S3 server with an empty bucket. The caller closes it.
func newBucket() (*bucket, error) {
	b := &bucket{objects: s3mem.New()}
	if err := b.objects.CreateBucket(bucketName); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b.endpoint = "http://" + listener.Addr().String()
	server := gofakes3.New(b.objects).Server()
	b.http = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("list-type") {
				b.listed.Add(1)
			} else {
				b.read.Add(1)
			}
			server.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // killed clients are expected
	}
	go func() { _ = b.http.Serve(listener) }() // it returns when close is called
	return b, nil
}

func (b *bucket) close() { _ = b.http.Close() } // the only error is that of closing the listener

// fill adds n objects under a prefix: the abstracts again and again, each with its
// number, so that no two objects have the same text.
func (b *bucket) fill(prefix string, list []abstract, n int) error {
	for i := range n {
		a := list[i%len(list)]
		text := fmt.Sprintf("Document %d. %s\n\n%s\n", i, a.title, a.text)
		key := fmt.Sprintf("%s%06d.txt", prefix, i)
		if _, err := b.objects.PutObject(bucketName, key, map[string]string{}, strings.NewReader(text), int64(len(text)), nil); err != nil {
			return fmt.Errorf("put %s: %w", key, err)
		}
	}
	return nil
}

// source names the objects under a prefix.
func (b *bucket) source(prefix string) client.ImportSource {
	return client.ImportSource{
		Type: "s3", URI: "s3://" + bucketName + "/" + prefix,
		Options: map[string]any{"endpoint": b.endpoint, "path_style": true},
	}
}

// bucketEnv lets a server reach a bucket on this machine, with credentials that sign
// its requests.
func bucketEnv() []string {
	return []string{"CAIRN_EGRESS__ALLOW=127.0.0.0/8", "AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench"}
}
