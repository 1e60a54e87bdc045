package store

import (
	"cmp"
	"context"
	"sync"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// generationNames names the generations of projects.
type generationNames struct {
	instance string   // of projects that name no model
	revised  sync.Map // base generation -> the one that UseGeneration named
}

// wanted returns the generation that a project's configuration asks for.
func (n *generationNames) wanted(config knowledge.ProjectConfig) string {
	base := n.instance
	if config.AI.Embeddings != (knowledge.Embeddings{}) {
		base = config.AI.Embeddings.Or(knowledge.EmbeddingsOf(n.instance)).Generation()
	}
	if revised, ok := n.revised.Load(base); ok {
		return revised.(string)
	}
	return base
}

const generationsOf = "SELECT generation, filling FROM projects WHERE workspace = ? AND id = ?"

// of returns the generations of a project's vectors. Those of a project that does not
// exist are the instance's.
func (n *generationNames) of(ctx context.Context, db querier, workspace, project string) (g knowledge.Generations, err error) {
	_, err = first(ctx, db, []any{&g.Serving, &g.Filling}, generationsOf, workspace, project)
	g.Serving = cmp.Or(g.Serving, n.instance)
	return g, err
}

// adoptGeneration makes a project without published documents one of the generation that
// its configuration asks for: there is nothing to fill.
func adoptGeneration(ctx context.Context, tx transaction, workspace, project, wanted string) error {
	_, err := tx.exec(ctx, `UPDATE projects SET generation = ?1, filling = '' WHERE workspace = ?2 AND id = ?3 AND generation <> ?1
		AND NOT EXISTS (SELECT 1 FROM documents AS d WHERE d.workspace = ?2 AND d.project = ?3 AND d.removed = FALSE AND d.published_version > 0)`, wanted, workspace, project)
	return err
}
