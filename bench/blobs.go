package main

import (
	"context"
	"errors"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// blobDocuments is how many documents are uploaded to each store of blobs.
const blobDocuments = 400

// bucketDelay is about what a service in the same region takes.
const bucketDelay = 20 * time.Millisecond

// blobs measures uploads with the blobs in a folder and in a bucket, and the requests that
// a document costs there.
func blobs(ctx context.Context, b *bench) ([]figure, error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	list = list[:blobDocuments]
	m := modeltest.New(modeltest.Options{})
	defer m.Close()
	folder, err := b.uploadTo(ctx, m, list, nil)
	if err != nil {
		return nil, err
	}
	near, _, err := b.uploadToBucket(ctx, m, list, 0)
	if err != nil {
		return nil, err
	}
	far, objects, err := b.uploadToBucket(ctx, m, list, bucketDelay)
	if err != nil {
		return nil, err
	}
	n := float64(len(list))
	return []figure{
		higher("documents/s, blobs in a folder", folder.rate),
		higher("documents/s, blobs in a bucket on this machine", near.rate),
		higher("documents/s, blobs in a bucket that takes 20 ms a request", far.rate),
		lower("CPU ms a document, folder", folder.cpu),
		lower("CPU ms a document, bucket", near.cpu),
		lower("writes to the bucket a document", float64(objects.stored.Load())/n),
		lower("reads and deletions a document", float64(objects.read.Load())/n),
		lower("listings a document", float64(objects.listed.Load())/n),
	}, nil
}

// uploadToBucket uploads documents to a server whose bucket takes a time for each request.
func (b *bench) uploadToBucket(ctx context.Context, m *modeltest.Server, list []abstract, delay time.Duration) (uploaded, *bucket, error) {
	objects, err := newBucket()
	if err != nil {
		return uploaded{}, nil, err
	}
	defer objects.close()
	objects.delay = delay
	u, err := b.uploadTo(ctx, m, list, objects)
	return u, objects, err
}

// uploaded is what the uploads to one store of blobs cost.
type uploaded struct {
	rate float64 // documents a second
	cpu  float64 // milliseconds a document
}

// uploadTo uploads documents to a new server. objects keeps its blobs, nil = a folder.
func (b *bench) uploadTo(ctx context.Context, m *modeltest.Server, list []abstract, objects *bucket) (u uploaded, err error) {
	env := modelEnv(m)
	if objects != nil {
		env = append(env, "CAIRN_BLOB__URL=s3://"+bucketName+"/cairn?endpoint="+objects.endpoint, "AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench")
	}
	s, _, err := b.serve(ctx, env...)
	if err != nil {
		return u, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	before := s.cpu()
	took, err := s.upload(ctx, list)
	if err != nil {
		return u, err
	}
	return uploaded{rate: float64(len(list)) / took.Seconds(), cpu: (s.cpu() - before) * 1000 / float64(len(list))}, nil
}
