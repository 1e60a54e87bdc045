package connect_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/connect"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	c := connect.New(http.DefaultClient)
	for _, spec := range []source.Spec{
		{Type: source.TypeS3, URI: "s3://bucket/x", Options: source.Options{Region: "eu-west-1", RoleARN: "arn", ExternalID: "x"}, Secret: "s"},
		{Type: source.TypeGCS, URI: "gs://bucket/x", Secret: "s"},
		{Type: source.TypeAzure, URI: "azblob://account/container/x", Options: source.Options{Endpoint: "https://host"}},
		{Type: source.TypeZip},
		{Type: source.TypeURLList, URI: "https://example.org/list.txt"},
		{Type: source.TypeCrawl, URI: "https://example.org/", Options: source.Options{MaxPages: 10, MaxDepth: 2, DelayMS: 1000}},
	} {
		if err := c.Check(spec); err != nil {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	for location, spec := range map[string]source.Spec{
		"type":                spec("ftp", "ftp://x", source.Options{}),
		"uri":                 spec(source.TypeS3, "gs://x", source.Options{}),
		"options.max_pages":   spec(source.TypeS3, "s3://b", source.Options{MaxPages: 1}),
		"options.path_style":  spec(source.TypeGCS, "gs://b", source.Options{PathStyle: true}),
		"options.role_arn":    spec(source.TypeAzure, "azblob://a/b", source.Options{RoleARN: "x"}),
		"options.region":      spec(source.TypeZip, "", source.Options{Region: "x"}),
		"options.anonymous":   spec(source.TypeS3, "s3://b", source.Options{Anonymous: true, RoleARN: "x"}),
		"options.external_id": spec(source.TypeS3, "s3://b", source.Options{ExternalID: "x"}),
		"options.endpoint":    spec(source.TypeS3, "s3://b", source.Options{Endpoint: "x"}),
		"options.delay_ms":    spec(source.TypeCrawl, "https://x", source.Options{DelayMS: -1}),
		"secret":              {Type: source.TypeZip, Secret: "s"},
	} {
		err := c.Check(spec)
		if !knowledge.IsCode(err, knowledge.CodeInvalid) || !strings.Contains(err.Error(), "body.source."+location+" ") {
			t.Errorf("%s: got error %v", location, err)
		}
	}
}

func spec(t source.Type, uri string, o source.Options) source.Spec {
	return source.Spec{Type: t, URI: uri, Options: o}
}
