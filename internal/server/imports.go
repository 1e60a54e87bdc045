package server

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/activities/ingestion"
	blobs "github.com/cairn-rag/cairn/internal/blob/connect"
	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/knowledge"
	importsource "github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/connect"
)

// importing returns the activities of imports, which share the activities of documents.
func (p *platform) importing(documents *ingestion.Activities) *ingestion.Importing {
	return ingestion.NewImporting(ingestion.ImportDependencies{
		Imports: p.store, Workflows: p.workflow, Log: p.log,
		LargeAtATime: max(p.cfg.Limits.Parsers-1, 1), // a parser stays free for uploads
		Foreground:   &p.foreground, Syncs: p.runner(),
		Sources: &ingestion.ImportSources{
			Places:    p.runner(),
			Connector: p.sources(), Credentials: p.credentials(), Blobs: p.blobs, Previous: p.store.PreviousImport, TempDir: p.temporary(),
			Download: ingestion.ArchiveDownload{Dialer: p.dialer, Blobs: p.blobs, Bytes: int64(p.cfg.Limits.RequestBytes)}.Fetch,
		},
	}, documents)
}

// runner returns what starts the runs of syncs: one for the process, because the requests to
// a service wait together. Only the start of the process calls it.
func (p *platform) runner() *following.Runner {
	if p.syncs == nil {
		p.syncs = following.NewRunner(following.RunnerDeps{
			Store: p.store, Blobs: p.blobs, Secrets: p.secrets, Places: p.connector, Workflows: p.workflow, Log: p.log, Now: time.Now,
			Accounts: p.meter().SystemAccounts,
		})
	}
	return p.syncs
}

// sources are the sources of imports, without the bucket of the blobs: this server's credentials
// could read the documents of every workspace there.
type sources struct {
	*connect.Connector
	blobs string // its address
}

func (p *platform) sources() sources { return sources{p.connector, p.cfg.Blob.URL} }

// Check implements source.Connector.
func (s sources) Check(spec importsource.Spec) error {
	if blobs.Overlaps(s.blobs, spec.URI) {
		return knowledge.Invalid("body.source.uri", "is where this server keeps its own data; name another bucket or prefix")
	}
	return s.Connector.Check(spec)
}

// Connect implements source.Connector.
func (s sources) Connect(ctx context.Context, r importsource.Request) (importsource.Source, error) {
	if err := s.Check(r.Spec); err != nil {
		return nil, err
	}
	return s.Connector.Connect(ctx, r)
}
