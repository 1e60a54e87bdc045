package connect_test

import (
	"net/http"
	"testing"

	"github.com/cairn-rag/cairn/internal/blob/connect"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// passed is a transport that counts requests.
type passed struct{ n int }

// RoundTrip implements http.RoundTripper.
func (p *passed) RoundTrip(*http.Request) (*http.Response, error) {
	p.n++
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestGuard(t *testing.T) {
	t.Parallel()
	const store = "s3://shelf/cairn?endpoint=http://minio:9000"
	for _, c := range []struct {
		store, address string
		refused        bool
	}{
		// Objects.
		{store, "http://minio:9000/shelf/cairn/default/x", true},
		{store, "http://elsewhere/shelf/cairn/default/x", true},
		{store, "http://minio:9000/Shelf/Cairn/x", true},
		{store, "http://minio:9000//shelf//cairn//x", true},
		{store, "http://minio:9000/./shelf/./cairn/x", true},
		{store, "http://minio:9000/books/../shelf/cairn/x", true},
		{store, "http://minio:9000/books/%2e%2e/shelf/cairn/x", true},
		{store, "http://minio:9000/books/..%2fshelf%2fcairn%2fx", true},
		{store, "http://minio:9000/books/%252e%252e/shelf/cairn/x", true},
		{store, "http://minio:9000/books/..%5cshelf%5ccairn%5cx", true},
		{store, "http://minio:9000/%73helf/c%61irn/x", true},
		{store, "http://minio:9000/shelf/public/../cairn/x", true},
		{store, "http://shelf.minio:9000/cairn/x", true},
		{store, "http://SHELF.minio:9000/cairn/x", true},
		{store, "http://minio:9000/shelf/cairn", true},
		{store, "http://minio:9000/shelf/cairns/x", false},
		{store, "http://minio:9000/shelf/public/x", false},
		{store, "http://minio:9000/books/cairn/x", false},
		{store, "http://minio:9000/shelf-2/cairn/x", false},
		{store, "http://shelf.minio:9000/public/x", false},
		// Listings.
		{store, "http://minio:9000/shelf?list-type=2", true},
		{store, "http://minio:9000/shelf?list-type=2&prefix=", true},
		{store, "http://minio:9000/shelf/?list-type=2&prefix=cai", true},
		{store, "http://minio:9000/shelf?list-type=2&prefix=cairn/", true},
		{store, "http://minio:9000/shelf?list-type=2&prefix=c%61irn%2Fdefault", true},
		{store, "http://minio:9000/shelf?list-type=2&prefix=public/&prefix=cairn/", true},
		{store, "http://minio:9000/shelf?list-type=2&prefix=public/../cairn/", true},
		{store, "http://minio:9000/shelf/cairn?list-type=2&prefix=x", true}, // an endpoint that has the bucket
		{store, "http://shelf.minio:9000/?list-type=2", true},
		{store, "http://shelf.minio:9000/?list-type=2&prefix=cairn", true},
		{store, "http://shelf.minio:9000/?list-type=2&prefix=public/", false},
		{store, "http://minio:9000/shelf?list-type=2&prefix=public/", false},
		{store, "http://minio:9000/shelf?list-type=2&prefix=cairns/", false},
		{store, "http://minio:9000/books?list-type=2&prefix=", false},
		{store, "http://minio:9000/books?list-type=2&prefix=cairn/", false},
		// Other stores.
		{"s3://shelf?endpoint=http://minio:9000", "http://minio:9000/shelf?list-type=2&prefix=public/", true},
		{"s3://shelf/cairn?endpoint=http://proxy/minio", "http://proxy/minio/shelf/cairn/x", true},
		{"s3://shelf/cairn?endpoint=http://proxy/minio", "http://proxy/minio/shelf?list-type=2", true},
		{"gs://shelf/cairn?endpoint=http://gcs:4443", "http://gcs:4443/storage/v1/b/shelf/o/cairn%2Fx?alt=media", true},
		{"gs://shelf/cairn?endpoint=http://gcs:4443", "http://gcs:4443/storage/v1/b/shelf/o?prefix=", true},
		{"gs://shelf/cairn?endpoint=http://gcs:4443", "http://gcs:4443/shelf/cairn/x", true},
		{"gs://shelf/cairn?endpoint=http://gcs:4443", "http://gcs:4443/storage/v1/b/shelf/o?prefix=public/", false},
		{"azblob://account/shelf/cairn?endpoint=http://azurite:10000/account", "http://azurite:10000/account/shelf/cairn/x", true},
		{"azblob://account/shelf/cairn?endpoint=http://azurite:10000/account", "http://azurite:10000/account/shelf?restype=container&comp=list&prefix=", true},
		{"azblob://account/shelf/cairn?endpoint=http://azurite:10000/account", "http://azurite:10000/account/books?restype=container&comp=list&prefix=", false},
		{"file:///shelf", "http://minio:9000/shelf/cairn/x", false},
	} {
		next := &passed{}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := connect.Guard(c.store, next).RoundTrip(request)
		if err == nil {
			response.Body.Close()
		}
		if refused := knowledge.IsCode(err, knowledge.CodeInvalid); refused != c.refused || refused == (next.n == 1) {
			t.Errorf("%s beside %s: got %v, %d requests; want refused %t", c.address, c.store, err, next.n, c.refused)
		}
	}
}
