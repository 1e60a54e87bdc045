package main

import (
	"context"
	"errors"
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
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

const bucketName = "bench"

// bucket is an S3 server in the bench's own process. It counts its requests.
type bucket struct {
	http     *http.Server
	endpoint string
	objects  *s3mem.Backend
	read     atomic.Int64  // requests of objects
	listed   atomic.Int64  // requests of pages
	stored   atomic.Int64  // writes of objects
	delay    time.Duration // before each answer; set before the first request
}

// bulkServer is a server beside a bucket.
type bulkServer struct {
	*server
	objects *bucket
	model   *modeltest.Server // nil = the offline model
	list    []abstract
}

// withBucket starts a server whose bucket holds so many objects under each prefix. m are
// the options of a stand-in model, nil = the offline model. The caller closes it.
func (b *bench) withBucket(ctx context.Context, m *modeltest.Options, counts map[string]int, env ...string) (*bulkServer, error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	objects, err := newBucket()
	if err != nil {
		return nil, err
	}
	s := &bulkServer{objects: objects, list: list}
	for prefix, n := range counts {
		if err := objects.fill(prefix, list, n); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	env = append(bucketEnv(), env...)
	if m != nil {
		s.model = modeltest.New(*m)
		env = append(env, modelEnv(s.model)...)
	}
	if s.server, _, err = b.serve(ctx, env...); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *bulkServer) close() (err error) {
	if s.server != nil {
		err = s.remove()
	}
	if s.model != nil {
		s.model.Close()
	}
	s.objects.close()
	return err
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
			time.Sleep(b.delay)
			switch {
			case r.URL.Query().Has("list-type"):
				b.listed.Add(1)
			case r.Method == http.MethodPut:
				b.stored.Add(1)
			default:
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

func (b *bucket) close() { _ = b.http.Close() } // the only error is from closing the listener

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
	return []string{"CAIRN_EGRESS__ALLOW=127.0.0.0/8", "CAIRN_IMPORT__AMBIENT_IDENTITY=default", "AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench"}
}
