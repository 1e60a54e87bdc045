package connect

import (
	"context"
	"maps"
	"net/http"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/archive"
	"github.com/cairn-rag/cairn/internal/source/azure"
	"github.com/cairn-rag/cairn/internal/source/crawl"
	"github.com/cairn-rag/cairn/internal/source/gcs"
	"github.com/cairn-rag/cairn/internal/source/imap"
	"github.com/cairn-rag/cairn/internal/source/s3"
	"github.com/cairn-rag/cairn/internal/source/urllist"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// Connections to one host at a time.
const (
	crawlConnections = 1
	listConnections  = 4
)

// Connector opens sources. It implements source.Connector. All sources that it
// opened share its limits of connections.
type Connector struct {
	client  *http.Client
	buckets map[source.Type]*http.Client // those that do not use client
	site    *web.Client                  // for crawls
	list    *web.Client                  // for lists of addresses
	dial    imap.Dial                    // for what is no part of the web
}

// New returns a Connector. client reaches addresses that users give, so it must
// be one of package safedial, without a time limit: a body may take long.
func New(client *http.Client) *Connector {
	return &Connector{
		client: client,
		site:   web.NewClient(client, web.NewPace(crawlConnections)),
		list:   web.NewClient(client, web.NewPace(listConnections)),
	}
}

// WithBuckets returns a Connector that opens buckets of a type through another client.
func (c *Connector) WithBuckets(t source.Type, client *http.Client) *Connector {
	other := *c
	other.buckets = maps.Clone(c.buckets)
	if other.buckets == nil {
		other.buckets = map[source.Type]*http.Client{}
	}
	other.buckets[t] = client
	return &other
}

// WithDial returns a Connector that opens what is no part of the web through dial, which must be
// one of package safedial too.
func (c *Connector) WithDial(dial imap.Dial) *Connector {
	other := *c
	other.dial = dial
	return &other
}

// clientFor returns the client for buckets of a type.
func (c *Connector) clientFor(t source.Type) *http.Client {
	if client, ok := c.buckets[t]; ok {
		return client
	}
	return c.client
}

// Check implements source.Connector.
func (c *Connector) Check(spec source.Spec) error {
	if err := checkOptions(spec); err != nil {
		return err
	}
	switch spec.Type {
	case source.TypeS3:
		return s3.Check(spec)
	case source.TypeGCS:
		return gcs.Check(spec)
	case source.TypeAzure:
		return azure.Check(spec)
	case source.TypeZip:
		return nil // its file is the caller's
	case source.TypeURLList:
		return urllist.Check(spec)
	case source.TypeCrawl:
		return crawl.Check(spec)
	}
	return unknownType(spec.Type)
}

// Connect implements source.Connector.
func (c *Connector) Connect(ctx context.Context, r source.Request) (source.Source, error) {
	switch r.Type {
	case source.TypeS3:
		return s3.New(ctx, r, c.clientFor(r.Type))
	case source.TypeGCS:
		return gcs.New(ctx, r, c.clientFor(r.Type))
	case source.TypeAzure:
		return azure.New(r, c.clientFor(r.Type))
	case source.TypeZip:
		return archive.New(r.Archive)
	case source.TypeURLList:
		return urllist.New(r, c.list), nil
	case source.TypeCrawl:
		return crawl.New(r, c.site), nil
	}
	return nil, unknownType(r.Type)
}

func unknownType(t source.Type) error {
	return knowledge.Invalid("body.source.type", "is %q, which is none of s3, gcs, azure, zip, url_list and crawl", string(t))
}
