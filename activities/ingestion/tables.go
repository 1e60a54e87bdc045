package ingestion

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sqltable"
	"github.com/cairn-rag/cairn/internal/store"
)

// makeTables makes tables of the rows of a spreadsheet or of delimited text, if the project
// asks for them. They are made of the layout that readers see, so they have no personal data
// that is redacted. It writes the same again when the step is repeated.
func (a *cutting) makeTables(ctx context.Context, v store.Version, layout knowledge.Layout, chunks []knowledge.Chunk) error {
	if !v.Enrichment.Tables || !sqltable.IsTable(layout.MediaType) {
		return nil
	}
	folder, err := os.MkdirTemp(a.TempDir, "cairn-tables-*")
	if err != nil {
		return fmt.Errorf("make a folder for tables: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover in the temporary folder harms nobody
	path := filepath.Join(folder, "tables.db")
	catalog, err := sqltable.Write(ctx, path, sqltable.Input{Name: v.Name, Layout: layout, Chunks: chunks})
	if err != nil || len(catalog.Tables) == 0 {
		return err
	}
	if _, err := a.reading.files.storeFile(ctx, sqltable.FileKey(v.VersionRef), path); err != nil {
		return fmt.Errorf("store the tables: %w", err)
	}
	if _, err := a.Blobs.PutJSON(ctx, sqltable.CatalogKey(v.VersionRef), catalog); err != nil {
		return fmt.Errorf("store the description of the tables: %w", err)
	}
	return nil
}
