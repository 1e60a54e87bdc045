package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of the open sources of a process.
const (
	openSources = 8                // that are kept open without being used
	sourceLife  = 10 * time.Minute // after which a source is opened anew, with the credentials of then
)

// Credentials decides which credentials imports may use. Safe for concurrent use.
type Credentials interface {
	// Usable reports whether a project may use a secret now.
	Usable(ctx context.Context, name string, n knowledge.SecretNeed) (bool, error)
	// Value returns the value of a secret, and whether a user stored it. A secret that the
	// project may not use, or whose value is not there, is a *knowledge.Error.
	Value(ctx context.Context, name string, n knowledge.SecretNeed) (value []byte, stored bool, err error)
	// AmbientIdentity reports whether imports of a workspace may use the server's own cloud
	// identity now.
	AmbientIdentity(workspace string) bool
}

// ImportSources opens the sources of imports, and keeps them open between steps. Safe
// for concurrent use.
type ImportSources struct {
	Connector   source.Connector
	Credentials Credentials
	Blobs       step.Blobs
	// Previous returns the import of the same source before an import, "" for none. Of a sync
	// it is the last run that was completed.
	Previous func(ctx context.Context, i store.Import) (string, error)
	// Places opens the places of syncs. Defaults to none.
	Places Places
	// Download fetches the archive that an import names by an address into the blob
	// store.
	Download func(ctx context.Context, address, key string) error
	TempDir  string

	mu   sync.Mutex
	open map[string]*openSource // by the run of the import
}

// openSource is a source that is open.
type openSource struct {
	source.Source
	archive *os.File // its copy of the archive, nil = it has none
	opened  time.Time
	used    time.Time
	users   int
}

func (o *openSource) close() {
	if o.archive != nil {
		_ = o.archive.Close() // it was only read
	}
}

// Open returns the source of an import. The caller calls release. It checks each time that
// the import may use its credentials, because the configuration and the secrets change.
func (s *ImportSources) Open(ctx context.Context, i store.Import) (src source.Source, release func(), err error) {
	if err := s.allow(ctx, i); err != nil {
		return nil, nil, err
	}
	if o := s.take(i.RunID); o != nil {
		return o.Source, func() { s.put(o) }, nil
	}
	o, err := s.connect(ctx, i)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]*openSource{}
	}
	if s.open[i.RunID] == nil { // another step may have opened it meanwhile
		s.open[i.RunID] = o
	}
	return o.Source, func() { s.put(o) }, nil
}

// allow refuses an import that may not use its credentials any more.
func (s *ImportSources) allow(ctx context.Context, i store.Import) error {
	spec := i.Request.Source
	if i.Request.Sync != "" {
		return s.Places.Allow(ctx, i)
	}
	if spec.NeedsIdentity() && !s.Credentials.AmbientIdentity(i.Workspace) {
		return source.NoIdentity(i.Workspace)
	}
	if spec.Secret == "" {
		return nil
	}
	usable, err := s.Credentials.Usable(ctx, spec.Secret, secretNeed(i))
	if err == nil && !usable {
		err = knowledge.MissingSecret(spec.Secret, secretNeed(i))
	}
	return err
}

// secretNeed returns what an import needs a secret for.
func secretNeed(i store.Import) knowledge.SecretNeed {
	return knowledge.SecretNeed{Workspace: i.Workspace, Project: i.Project, Use: knowledge.SecretInImport, Host: i.Request.Source.CredentialHost()}
}

// take returns a source that is open and not too old, or nil.
func (s *ImportSources) take(run string) *openSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[run]
	if o == nil {
		return nil
	}
	if time.Since(o.opened) > sourceLife {
		delete(s.open, run)
		if o.users == 0 {
			o.close()
		}
		return nil
	}
	o.users++
	return o
}

// put returns a source to the open ones. It closes a source that no caller will take again,
// and the one that was used the longest ago if too many are open.
func (s *ImportSources) put(o *openSource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.used = time.Now()
	o.users--
	kept := false
	idle := []string{}
	for run, other := range s.open {
		kept = kept || other == o
		if other.users == 0 {
			idle = append(idle, run)
		}
	}
	if !kept && o.users == 0 {
		o.close()
	}
	if len(idle) > openSources {
		oldest := slices.MinFunc(idle, func(a, b string) int { return s.open[a].used.Compare(s.open[b].used) })
		s.open[oldest].close()
		delete(s.open, oldest)
	}
}

// connect opens the source of an import.
func (s *ImportSources) connect(ctx context.Context, i store.Import) (*openSource, error) {
	r := source.Request{Spec: i.Request.Source, State: blobState{s.Blobs, i.ImportRef}}
	previous, err := s.Previous(ctx, i)
	if err != nil {
		return nil, fmt.Errorf("find the import before: %w", err)
	}
	if previous != "" {
		r.Previous = blobState{s.Blobs, knowledge.ImportRef{Workspace: i.Workspace, Project: i.Project, Import: previous}}
	}
	if i.Request.Sync != "" {
		place, err := s.Places.Open(ctx, i, r.State, r.Previous)
		return &openSource{Source: place, opened: time.Now(), users: 1}, err
	}
	r.Identity = r.NeedsIdentity() // and is allowed to use it
	if r.Secret != "" {
		if r.Credentials, r.Untrusted, err = s.Credentials.Value(ctx, r.Secret, secretNeed(i)); err != nil {
			return nil, err
		}
	}
	o := &openSource{opened: time.Now(), users: 1}
	if r.Type == source.TypeZip {
		if r.Archive, err = s.openArchive(ctx, i, o); err != nil {
			return nil, err
		}
	}
	if o.Source, err = s.Connector.Connect(ctx, r); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// openArchive returns the archive of an import, from a copy of it that ends with the
// process.
func (s *ImportSources) openArchive(ctx context.Context, i store.Import, o *openSource) (*io.SectionReader, error) {
	key := i.Request.Archive
	if key == "" {
		key = i.ArchiveKey()
		stored, err := s.Blobs.Exists(ctx, key)
		if err == nil && !stored {
			err = s.Download(ctx, i.Request.Source.URI, key)
		}
		if err != nil {
			return nil, err
		}
	}
	r, size, err := s.Blobs.Open(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, knowledge.Errorf(knowledge.CodeGone, "the archive is no longer stored; upload it again").WithCause(err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the archive: %w", err)
	}
	defer r.Close()
	f, err := os.CreateTemp(s.TempDir, "cairn-archive-*")
	if err != nil {
		return nil, fmt.Errorf("copy the archive: %w", err)
	}
	o.archive = f
	_ = os.Remove(f.Name()) // the open file lives on; a kill leaves nothing
	if _, err := io.Copy(f, r); err != nil {
		o.close()
		return nil, fmt.Errorf("copy the archive: %w", err)
	}
	return io.NewSectionReader(f, 0, size), nil
}

// blobState keeps the state of a source in the blob store.
type blobState struct {
	blobs step.Blobs
	ref   knowledge.ImportRef
}

// Load implements source.State.
func (s blobState) Load(ctx context.Context, name string) ([]byte, error) {
	data, err := s.blobs.Get(ctx, s.ref.StateKey(name))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state of the source: %w", err)
	}
	return data, nil
}

// Save implements source.State.
func (s blobState) Save(ctx context.Context, name string, value []byte) error {
	if _, err := s.blobs.Put(ctx, s.ref.StateKey(name), value); err != nil {
		return fmt.Errorf("store the state of the source: %w", err)
	}
	return nil
}
