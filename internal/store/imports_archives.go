package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ArchiveImports lists the imports of archives into a project that have ended and may
// have kept their archive, because objects failed.
func (s *importStore) ArchiveImports(ctx context.Context, workspace, project string) ([]knowledge.ImportRef, error) {
	rows, err := importTable.all(ctx, s.reader, `i.workspace = ? AND i.project = ? AND i.failed > 0 AND i.status NOT IN ('running', 'paused')
		AND json_extract(i.request, '$.source.type') = 'zip'`, workspace, project)
	if err != nil {
		return nil, fmt.Errorf("list imports of archives: %w", failure(err))
	}
	return convert(rows, func(r importRow) knowledge.ImportRef {
		return knowledge.ImportRef{Workspace: r.Workspace, Project: r.Project, Import: r.ID}
	}), nil
}

// ImportContains reports whether an object of the source of an import is a document.
func (s *importStore) ImportContains(ctx context.Context, ref knowledge.ImportRef, document string) (bool, error) {
	return s.importHas(ctx, ref, "o.document_id = ?3", document)
}

// ImportLost reports whether an object of the source of an import is a document that
// was removed, or is being removed, or was rejected by the malware scanner.
func (s *importStore) ImportLost(ctx context.Context, ref knowledge.ImportRef) (bool, error) {
	return s.importHas(ctx, ref, `(EXISTS (SELECT 1 FROM documents AS d WHERE d.id = o.document_id AND (d.removed OR d.removing_upto > 0))
		OR EXISTS (SELECT 1 FROM import_failures AS f WHERE f.import = i.number AND f.error LIKE ?3))`, `%"code":"`+string(knowledge.CodeRejected)+`"%`)
}

func (s *importStore) importHas(ctx context.Context, ref knowledge.ImportRef, condition string, args ...any) (bool, error) {
	var one int
	there, err := first(ctx, s.reader, []any{&one}, `SELECT 1 FROM imports AS i JOIN import_objects AS o ON o.source_id = i.source_id
		WHERE i.id = ?1 AND i.workspace = ?2 AND `+condition+" LIMIT 1", append([]any{ref.Import, ref.Workspace}, args...)...)
	if err != nil {
		return false, fmt.Errorf("look for documents of import %s: %w", ref.Import, failure(err))
	}
	return there, nil
}
