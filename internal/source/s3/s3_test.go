package s3_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/s3"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/standin"
)

const secret = `{"access_key_id": "AKID", "secret_access_key": "AKID"}`

// connect returns the source of an address behind an endpoint.
func connect(t *testing.T, address, endpoint string) source.Source {
	t.Helper()
	s, err := s3.New(t.Context(), source.Request{
		Spec:        source.Spec{Type: source.TypeS3, URI: address, Options: source.Options{Endpoint: endpoint, PathStyle: true}},
		Credentials: []byte(secret),
	}, sourcetest.Client())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inProcess returns the endpoint of an S3 server in this process.
func inProcess(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	return server.URL
}

func TestContractInProcess(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, bucketAt(t, inProcess(t)))
}

// TestContractSecondServer runs the contract on another implementation.
func TestContractSecondServer(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, bucketAt(t, standin.S3(t)))
}

func TestFaults(t *testing.T) {
	t.Parallel()
	sourcetest.Faults(t, sourcetest.Service{
		Open:        func(t *testing.T, endpoint string) source.Source { return connect(t, "s3://bucket/", endpoint) },
		ListingType: "application/xml",
		Listing: `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<Name>bucket</Name><IsTruncated>false</IsTruncated>
<Contents><Key>a.txt</Key><LastModified>2024-01-02T03:04:05.000Z</LastModified><ETag>"1"</ETag><Size>1</Size></Contents>
<Contents><Key>b.txt</Key><LastModified>2024-01-02T03:04:05.000Z</LastModified><ETag>"2"</ETag><Size>1</Size></Contents>
</ListBucketResult>`,
	})
}

func TestAnswersOfTheBucket(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		status    int
		header    http.Header
		body      string
		code      knowledge.Code
		retryable bool
		says      string
	}{
		"half_a_listing_without_a_token": {200, nil,
			`<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a</Key></Contents></ListBucketResult>`, knowledge.CodeUnavailable, true, ""},
		"another_region": {301, http.Header{"X-Amz-Bucket-Region": {"eu-west-1"}},
			`<Error><Code>PermanentRedirect</Code></Error>`, knowledge.CodeInvalid, false, "eu-west-1"},
		"slow_down":        {503, http.Header{"Retry-After": {"1"}}, `<Error><Code>SlowDown</Code></Error>`, knowledge.CodeRateLimited, true, ""},
		"a_wrong_token":    {400, nil, `<Error><Code>InvalidArgument</Code></Error>`, knowledge.CodeInvalid, false, ""},
		"an_expired_token": {400, nil, `<Error><Code>ExpiredToken</Code></Error>`, knowledge.CodeForbidden, false, "expired"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint, _ := recorder(t, func(w http.ResponseWriter, _ *http.Request) {
				for key := range c.header {
					w.Header().Set(key, c.header.Get(key))
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			})
			_, err := connect(t, "s3://bucket/", endpoint).List(t.Context(), "")
			sourcetest.Want(t, err, c.code, c.retryable)
			if e := knowledge.AsError(err); !strings.Contains(e.Message, c.says) {
				t.Errorf("got message %q, want %q in it", e.Message, c.says)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, spec := range []source.Spec{
		{URI: ""}, {URI: "bucket"}, {URI: "s3://"}, {URI: "s3:///x"}, {URI: "gs://bucket"}, {URI: "s3://user@bucket/"}, {URI: "s3://bucket?x=y"},
		{URI: "s3://b", Options: source.Options{Endpoint: "host:9000"}}, {URI: "s3://b", Options: source.Options{Endpoint: "http://u:p@host"}},
	} {
		if err := s3.Check(spec); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%+v: got error %v", spec, err)
		}
	}
	if err := s3.Check(source.Spec{URI: "s3://bucket/a prefix?/x", Options: source.Options{Endpoint: "https://host:9000"}}); err != nil {
		t.Error(err)
	}
}
