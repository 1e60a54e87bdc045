package ingestion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of what one transaction publishes: uploads wait that long for the
// database and the index.
const (
	documentsPerWrite = 50
	chunksPerWrite    = 128
)

// write stores the outcome of items that have one. Those that are ready are published,
// some at a time.
func (b *importBatch) write(ctx context.Context, items []*importItem) error {
	var rest store.ImportRecord
	var group []*importItem
	chunks := 0
	for _, it := range items {
		switch it.state {
		case itemReady:
			if len(group) > 0 && (len(group) == documentsPerWrite || chunks+len(it.chunks) > chunksPerWrite) {
				if err := b.publish(ctx, group); err != nil {
					return err
				}
				group, chunks = nil, 0
			}
			group, chunks = append(group, it), chunks+len(it.chunks)
		case itemSkipped:
			rest.Skipped = append(rest.Skipped, it.object.Key)
		case itemFailed:
			failed, err := b.failedObject(ctx, it)
			if err != nil {
				return err
			}
			rest.Failed = append(rest.Failed, failed)
		}
	}
	if len(group) > 0 {
		if err := b.publish(ctx, group); err != nil {
			return err
		}
	}
	if len(rest.Failed)+len(rest.Skipped) == 0 {
		return nil
	}
	rest.Page = b.page
	_, err := b.record(ctx, rest)
	return err
}

// record stores the outcome of objects, and returns what is to be cleaned up.
func (b *importBatch) record(ctx context.Context, r store.ImportRecord) (store.Recorded, error) {
	r.Usage = knowledge.RunUsage{Usage: b.spent, Model: b.a.documents.Embedder.Endpoint().Model}
	recorded, err := b.a.Imports.RecordImported(ctx, b.Import, r)
	if errors.Is(err, store.ErrGenerationsMoved) { // the next try writes the present ones
		for _, v := range r.Published {
			err = errors.Join(err, b.a.documents.publishing.forgetGenerations(ctx, v.Ref, v.Of))
		}
	}
	if err != nil {
		return store.Recorded{}, err
	}
	b.spent = knowledge.Usage{}
	for range r.Published {
		b.a.documents.Metrics.DocumentDone(string(knowledge.RunCompleted))
	}
	for range r.Failed {
		b.a.documents.Metrics.DocumentDone(string(knowledge.RunFailed))
	}
	return recorded, nil
}

func (b *importBatch) failedObject(ctx context.Context, it *importItem) (store.FailedObject, error) {
	v, err := b.version(ctx, it)
	return store.FailedObject{
		Key: it.object.Key, ETag: it.object.ETag, Fingerprint: it.fingerprint, Object: it.encoded(), Version: v, Error: it.failure(),
	}, err
}

// publish publishes items as documents: their bytes first, then one transaction that
// claims their versions, one of the index, and one that shows them to readers.
func (b *importBatch) publish(ctx context.Context, items []*importItem) error {
	b.giveWay(ctx)
	versions, err := b.storeOriginals(ctx, items)
	if err != nil {
		return err
	}
	// From here on a cancel waits: a claim that is left would keep a removal waiting.
	ctx = context.WithoutCancel(ctx)
	recorded, err := b.writeVersions(ctx, items, versions)
	if err != nil {
		return err
	}
	if err := b.cleanUp(ctx, recorded); err != nil {
		return err
	}
	// Attributes may have changed while the versions were written.
	if err := b.a.documents.Attributes.UpdateIndex(ctx, ""); err != nil {
		return fmt.Errorf("update index attributes: %w", err)
	}
	return nil
}

// cleanUp deletes the data of versions that were replaced, and what this try has written
// of versions that were given up.
func (b *importBatch) cleanUp(ctx context.Context, r store.Recorded) error {
	for _, ref := range r.GivenUp {
		if err := b.a.documents.Index.RemoveVersion(ctx, ref.Workspace, ref.Document, ref.Version); err != nil {
			return fmt.Errorf("remove index entries: %w", err)
		}
		if err := b.a.documents.Versions.DiscardVersion(ctx, ref); err != nil {
			return fmt.Errorf("delete chunks: %w", err)
		}
	}
	return b.retire(ctx, r.Replaced)
}

// checkClaim returns store.ErrClaimLost if a claim does not hold any more. It is called
// before anything is removed that somebody else may have written since.
func (b *importBatch) checkClaim(ctx context.Context, claimed store.Version) error {
	now, err := b.a.documents.Versions.Version(ctx, claimed.VersionRef)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return store.ErrClaimLost
	}
	if err != nil {
		return fmt.Errorf("read version: %w", err)
	}
	if now.Status != knowledge.StatusPending || now.RunID != claimed.RunID || now.SourceKey != claimed.SourceKey {
		return store.ErrClaimLost
	}
	return nil
}

// retire deletes the data of the versions that versions have replaced.
func (b *importBatch) retire(ctx context.Context, versions []knowledge.VersionRef) error {
	for _, ref := range versions {
		if err := b.a.documents.retiring.retire(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}

// storeOriginals stores the bytes of items in one commit, and returns the versions that
// they become.
func (b *importBatch) storeOriginals(ctx context.Context, items []*importItem) ([]store.NewVersion, error) {
	versions := make([]store.NewVersion, len(items))
	originals := make([]blob.Item, len(items))
	for n, it := range items {
		v, err := b.version(ctx, it)
		if err != nil {
			return nil, err
		}
		v.SourceKey = blob.UploadKey(v.Workspace, v.Project, v.DocumentID, knowledge.NewID())
		versions[n], originals[n] = v, blob.Item{Key: v.SourceKey, Data: it.data}
	}
	if err := b.a.documents.Blobs.PutAll(ctx, originals...); err != nil {
		return nil, fmt.Errorf("store originals: %w", err)
	}
	return versions, nil
}

// writeVersions claims versions, writes their index entries and publishes them. It
// returns what is to be cleaned up. Each write begins when the one before is committed, and
// gives its turn to another group: while the index has this one, SQL has others.
func (b *importBatch) writeVersions(ctx context.Context, items []*importItem, versions []store.NewVersion) (recorded store.Recorded, err error) {
	turns := b.a.limits()
	var claims []store.ImportClaim
	err = b.timed(ctx, "claim", turns.rows, func() (err error) {
		claims, err = b.a.Imports.ClaimVersions(ctx, versions, b.Request.Limits)
		return err
	})
	if err != nil {
		return recorded, err
	}
	g, err := b.claimed(ctx, items, claims)
	if err != nil {
		return recorded, err
	}
	if err := b.a.documents.Blobs.PutAll(ctx, g.manifests...); err != nil {
		return recorded, fmt.Errorf("store manifests: %w", err)
	}
	if err := b.timed(ctx, "index", turns.entries, func() error { return b.writeIndex(ctx, g) }); err != nil {
		return recorded, err
	}
	err = b.timed(ctx, "publish", turns.rows, func() (err error) {
		recorded, err = b.record(ctx, g.record)
		return err
	})
	return recorded, err
}

// timed does one write of a group when it has its turn, and records how long the group has
// waited for that, and how long the write took.
func (b *importBatch) timed(ctx context.Context, step string, turns *semaphore.Weighted, write func() error) error {
	asked := time.Now()
	return withSlot(ctx, turns, func() error {
		turn := time.Now()
		err := write()
		b.a.documents.Metrics.ImportWrite(step, turn.Sub(asked), time.Since(turn))
		return err
	})
}

// claimedGroup is what is written of a group after its versions are claimed.
type claimedGroup struct {
	reused    []store.Version // an earlier try may have written entries of other chunks
	entries   []index.Entry
	manifests []blob.Item
	record    store.ImportRecord
}

// claimed makes the entries, the manifests and the outcome of items from their claims.
func (b *importBatch) claimed(ctx context.Context, items []*importItem, claims []store.ImportClaim) (claimedGroup, error) {
	g := claimedGroup{record: store.ImportRecord{Page: b.page}}
	for n, it := range items {
		c := claims[n]
		if c.Refused != nil {
			if err := b.a.documents.vectors.dropUnnamed(ctx, it.embedded[0].part.ref); err != nil { // vectors of a document that may be gone
				return g, err
			}
			it.stage, it.err = knowledge.StagePublish, c.Refused
			failed, err := b.failedObject(ctx, it)
			if err != nil {
				return g, err
			}
			g.record.Failed = append(g.record.Failed, failed)
			continue
		}
		if c.Reused {
			g.reused = append(g.reused, c.Version)
		}
		own(it.chunks, c.Version.VersionRef)
		for place, e := range it.embedded {
			data, err := json.Marshal(e.part.manifest)
			if err != nil {
				return g, fmt.Errorf("encode manifest: %w", err)
			}
			g.manifests = append(g.manifests, blob.Item{Key: importedManifest(c.Version.VersionRef, place, e.part.manifest), Data: data})
			g.entries = append(g.entries, entries(c.Version, it.chunks, e.generation, e.vectors)...)
		}
		if c.Version.Enrichment.Privacy.Mode != "" {
			data, err := json.Marshal(it.report)
			if err != nil {
				return g, fmt.Errorf("encode the report of personal data: %w", err)
			}
			g.manifests = append(g.manifests, blob.Item{Key: parsed.PrivacyKey(c.Version.VersionRef), Data: data})
		}
		g.record.Published = append(g.record.Published, store.ImportedVersion{
			Key: it.object.Key, Ref: c.Version.VersionRef, SourceKey: c.Version.SourceKey, Of: it.of, ETag: it.object.ETag, Fingerprint: it.fingerprint, Object: it.encoded(),
			Bytes: it.object.Bytes, Chunks: it.chunks, Reused: c.Reused,
		})
	}
	return g, nil
}

// writeIndex writes the index entries of a group, which readers do not see yet.
func (b *importBatch) writeIndex(ctx context.Context, g claimedGroup) error {
	to := b.a.documents.Index
	for _, v := range g.reused {
		if err := b.checkClaim(ctx, v); err != nil {
			return err
		}
		if err := to.RemoveVersion(ctx, v.Workspace, v.Document, v.Version); err != nil {
			return fmt.Errorf("remove index entries: %w", err)
		}
	}
	if len(g.entries) == 0 {
		return nil
	}
	if err := to.Upsert(ctx, g.entries); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// importedManifest returns the key of the manifest of an imported version in the
// generation at a place.
func importedManifest(ref knowledge.VersionRef, place int, m manifest) string {
	if place == 0 {
		return manifestKey(ref, 0)
	}
	return besideKey(manifestKey(ref, 0), m.Model, m.Dimensions)
}

// own makes chunks belong to a version.
func own(chunks []knowledge.Chunk, ref knowledge.VersionRef) {
	for n := range chunks {
		c := &chunks[n]
		c.ID, c.DocumentID, c.Version = knowledge.ChunkID(ref.Document, ref.Version, c.Ordinal), ref.Document, ref.Version
	}
}
