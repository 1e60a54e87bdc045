package s3_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/s3"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// bucketAt makes a bucket behind an endpoint.
func bucketAt(t *testing.T, endpoint string) sourcetest.Bucket {
	t.Helper()
	client := sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
	})
	name := aws.String("contract")
	if _, err := client.CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: name}); err != nil {
		t.Fatal(err)
	}
	return sourcetest.Bucket{
		Address: func(prefix string) string { return "s3://" + *name + "/" + prefix },
		Missing: "s3://no-such-bucket/",
		Put: func(t *testing.T, key, body string) {
			if _, err := client.PutObject(t.Context(), &sdk.PutObjectInput{Bucket: name, Key: &key, Body: strings.NewReader(body)}); err != nil {
				t.Error(err)
			}
		},
		Delete: func(t *testing.T, key string) {
			if _, err := client.DeleteObject(t.Context(), &sdk.DeleteObjectInput{Bucket: name, Key: &key}); err != nil {
				t.Error(err)
			}
		},
		Open: func(t *testing.T, address string) source.Source { return connect(t, address, endpoint) },
	}
}

// TestRegion refuses a region that would make another host of the provider's address.
func TestRegion(t *testing.T) {
	t.Parallel()
	for region, fine := range map[string]bool{"": true, "eu-central-1": true, "Garage_1": true, "x@evil.example/": false, "evil.example#": false, "a.b": false} {
		err := s3.Check(source.Spec{Type: source.TypeS3, URI: "s3://b", Options: source.Options{Region: region}})
		if fine != (err == nil) || !fine && !strings.Contains(err.Error(), "body.source.options.region ") {
			t.Errorf("%q: got error %v", region, err)
		}
	}
}
