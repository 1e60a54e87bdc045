package main

import (
	"errors"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/connect"
)

// importing returns the activities of imports, which share those of documents.
func (p *platform) importing(ingestion *activities.Ingestion) *activities.Importing {
	return &activities.Importing{
		Ingestion: ingestion, Imports: p.store, Workflows: p.workflow, Log: p.log,
		LargeAtATime: max(p.cfg.Limits.Parsers-1, 1), // a parser stays free for uploads
		Foreground:   &p.foreground,
		Sources: &activities.ImportSources{
			Connector: p.connector, Credentials: secretValues{p.cfg}, Blobs: p.blobs, Previous: p.store.PreviousImport, TempDir: p.temporary(),
			Download: activities.ArchiveDownload{Dialer: ingestion.Dialer, Blobs: p.blobs, Bytes: int64(p.cfg.Limits.RequestBytes)}.Fetch,
		},
	}
}

// importSources is what the API knows of sources and secrets.
type importSources struct {
	*connect.Connector
	config.Config
}

// secretValues looks up the secrets that imports name.
type secretValues struct{ config.Config }

// Value implements activities.Credentials.
func (s secretValues) Value(name string) ([]byte, error) {
	value, err := s.Secret(name)
	switch {
	case errors.Is(err, config.ErrNoSecret):
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "there is no secret %q: an operator adds secrets.%s to the configuration", name, name)
	case err != nil:
		return nil, (&knowledge.Error{Code: knowledge.CodeUnavailable, Retryable: true, Message: knowledge.Messagef("the secret %q cannot be read: an operator checks secrets.%s", name, name)}).WithCause(err)
	}
	return value, nil
}
