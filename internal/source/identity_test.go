package source_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/source"
)

func TestCredentialHost(t *testing.T) {
	t.Parallel()
	at := func(endpoint string) source.Options { return source.Options{Endpoint: endpoint} }
	for _, c := range []struct {
		spec source.Spec
		want string
	}{
		{source.Spec{Type: source.TypeS3, URI: "s3://bucket/x"}, "s3.amazonaws.com"},
		{source.Spec{Type: source.TypeS3, URI: "s3://bucket/x", Options: at("http://minio:9000")}, "minio"},
		{source.Spec{Type: source.TypeS3, URI: "s3://bucket/x", Options: at("https://[::1]:9000/x")}, "::1"},
		{source.Spec{Type: source.TypeGCS, URI: "gs://bucket/x"}, "storage.googleapis.com"},
		{source.Spec{Type: source.TypeAzure, URI: "azblob://account/container/x"}, "account.blob.core.windows.net"},
		{source.Spec{Type: source.TypeAzure, URI: "azblob://account/container/x", Options: at("https://account.blob.core.usgovcloudapi.net")}, "account.blob.core.usgovcloudapi.net"},
		{source.Spec{Type: source.TypeCrawl, URI: "https://example.org/"}, ""},
	} {
		if got := c.spec.CredentialHost(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.spec, got, c.want)
		}
	}
}

func TestNeedsIdentity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec source.Spec
		want bool
	}{
		{source.Spec{Type: source.TypeS3}, true},
		{source.Spec{Type: source.TypeGCS}, true},
		{source.Spec{Type: source.TypeAzure}, true},
		{source.Spec{Type: source.TypeS3, Options: source.Options{RoleARN: "arn"}}, true},
		{source.Spec{Type: source.TypeS3, Options: source.Options{RoleARN: "arn"}, Secret: "s"}, false},
		{source.Spec{Type: source.TypeS3, Options: source.Options{Anonymous: true}}, false},
		{source.Spec{Type: source.TypeZip}, false},
		{source.Spec{Type: source.TypeURLList}, false},
		{source.Spec{Type: source.TypeCrawl}, false},
	} {
		if got := c.spec.NeedsIdentity(); got != c.want {
			t.Errorf("%+v: %t", c.spec, got)
		}
	}
}
