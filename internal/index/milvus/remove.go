package milvus

import (
	"context"
	"fmt"

	"github.com/milvus-io/milvus/client/v2/milvusclient"
)

// RemoveVersion removes every entry of one version of the document.
func (x *Index) RemoveVersion(ctx context.Context, workspace, document string, version int) error {
	return x.remove(ctx, and(ofDocument(workspace, document), fmt.Sprintf("%s == %d", fieldVersion, version)), false)
}

// RemoveVersions removes every entry of the document whose version is below
// keep.
func (x *Index) RemoveVersions(ctx context.Context, workspace, document string, keep int) error {
	return x.remove(ctx, and(ofDocument(workspace, document), fmt.Sprintf("%s < %d", fieldVersion, keep)), false)
}

// RemoveDocument removes the document's versions up to and including upto. No
// query finds them afterwards. It asks Milvus to compact the collections, which
// is when the bytes are dropped.
func (x *Index) RemoveDocument(ctx context.Context, workspace, document string, upto int) error {
	return x.remove(ctx, and(ofDocument(workspace, document), fmt.Sprintf("%s <= %d", fieldVersion, upto)), true)
}

func (x *Index) remove(ctx context.Context, filter string, compact bool) error {
	leave, err := x.enter()
	if err != nil {
		return err
	}
	defer leave()
	known, err := x.known(ctx)
	if err != nil {
		return err
	}
	for _, c := range known {
		if err := x.removeFrom(ctx, c, filter); err != nil {
			return err
		}
		if compact {
			x.compactions.ask(x, c.name)
		}
	}
	return nil
}

func (x *Index) removeFrom(ctx context.Context, c collection, filter string) error {
	err := x.loaded(ctx, c.name, func() error {
		_, err := x.client.Delete(ctx, milvusclient.NewDeleteOption(c.name).WithExpr(filter))
		return err
	})
	return typed(err, "remove entries from collection %s", c.name)
}

// RemoveGeneration removes the entries of a project from the collection of a generation.
func (x *Index) RemoveGeneration(ctx context.Context, workspace, project, generation string) error {
	leave, err := x.enter()
	if err != nil {
		return err
	}
	defer leave()
	c, ok, err := x.find(ctx, generation)
	if err != nil || !ok {
		return err
	}
	return x.removeFrom(ctx, c, and(fieldWorkspace+" == "+literal(workspace), fieldProject+" == "+literal(project)))
}
