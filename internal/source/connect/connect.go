package connect

import (
	"context"
	"net/http"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/archive"
	"github.com/cairn-rag/cairn/internal/source/s3"
)

// Connector opens sources. It implements source.Connector.
type Connector struct {
	// Client reaches the addresses that users give. Defaults to none.
	client *http.Client
}

// New returns a Connector. client reaches addresses that users give, so it must
// be one of package safedial, without a time limit: a body may take long.
func New(client *http.Client) *Connector { return &Connector{client: client} }

// Check implements source.Connector.
func (c *Connector) Check(spec source.Spec) error {
	if err := checkOptions(spec); err != nil {
		return err
	}
	switch spec.Type {
	case source.TypeS3:
		return s3.Check(spec)
	case source.TypeZip:
		return nil // its file is the caller's
	}
	return unknownType(spec.Type)
}

// Connect implements source.Connector.
func (c *Connector) Connect(ctx context.Context, r source.Request) (source.Source, error) {
	switch r.Type {
	case source.TypeS3:
		return s3.New(ctx, r, c.client)
	case source.TypeZip:
		return archive.New(r.Archive)
	}
	return nil, unknownType(r.Type)
}

func unknownType(t source.Type) error {
	return knowledge.Invalid("body.source.type", "is %q, which is none of s3, gcs, azure, zip, url_list and crawl", string(t))
}
