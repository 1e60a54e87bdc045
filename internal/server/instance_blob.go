package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// instanceBlob is the blob with the name of the instance that keeps its blobs in a store.
// Its roles compare it with the name in the database: a role with another store, such as
// the folder that is the default, would not find what the others have stored.
const instanceBlob = "cairn-instance/name"

// registerCluster prepares what the roles of a cluster wait for: the namespace, and the
// name of the instance in its blob store.
func (p *platform) registerCluster(ctx context.Context) error {
	name, err := p.instanceName(ctx)
	if err != nil {
		return err
	}
	if _, err := p.blobs.Put(ctx, instanceBlob, []byte(name)); err != nil {
		return fmt.Errorf("record the instance in the blob store: %w", err)
	}
	return p.registerNamespace(ctx)
}

// awaitBlobs waits until cairn migrate has prepared the blob store.
func (p *platform) awaitBlobs(ctx context.Context) error {
	name, err := p.instanceName(ctx)
	if err != nil {
		return err
	}
	return p.await(ctx, "cairn migrate to prepare the blob store", func(ctx context.Context) error {
		found, err := p.blobs.Get(ctx, instanceBlob)
		switch {
		case errors.Is(err, blob.ErrNotFound):
			return errors.New("the blob store of this process is not the one that cairn migrate of this version of cairn has prepared: " + sameStores)
		case err != nil:
			return fmt.Errorf("read the instance from the blob store: %w", err)
		case string(found) != name:
			return knowledge.Errorf(knowledge.CodeConflict, "the blob store of this process belongs to another instance than its database: %s, and run cairn migrate", sameStores)
		}
		return nil
	})
}

const sameStores = "give each process of the cluster the same blob.url, vector.url and database.url (their defaults are in the data folder of a process)"

// instanceName returns the name that the instance has in its database.
func (p *platform) instanceName(ctx context.Context) (string, error) {
	name, err := p.store.Setting(ctx, "instance", rand.Text)
	if err != nil {
		return "", fmt.Errorf("read the name of the instance: %w", err)
	}
	return name, nil
}
