package extract

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sqltable"
)

// resultFile is the base name of the result of a query.
const resultFile = "result.json"

// Query runs a query that a model wrote on the tables of a file, in a child process, because
// SQLite reads what a stranger may have written. It blocks until a child is free. A query that
// is refused, or that takes too much time or memory, is no error.
func (p *Pool) Query(ctx context.Context, path, sql string) (sqltable.Result, error) {
	folder, err := os.MkdirTemp(p.cfg.TempDir, "cairn-query-")
	if err != nil {
		return sqltable.Result{}, fmt.Errorf("make a folder for the result: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	_, err = p.run(ctx, request{Input: Input{Path: path, Folder: folder}, Query: sql})
	if knowledge.IsCode(err, knowledge.CodeParseLimit) {
		return sqltable.Result{Refused: "it takes too much time or memory"}, nil
	}
	if err != nil {
		return sqltable.Result{}, err
	}
	data, err := os.ReadFile(filepath.Join(folder, resultFile))
	if err != nil {
		return sqltable.Result{}, fmt.Errorf("read the result of a query: %w", err)
	}
	var result sqltable.Result
	if err := json.Unmarshal(data, &result); err != nil {
		return result, fmt.Errorf("decode the result of a query: %w", err)
	}
	return result, nil
}

// query runs a query in the child.
func query(ctx context.Context, in Input, sql string) error {
	result, err := sqltable.Run(ctx, in.Path, sql)
	if err != nil {
		return err
	}
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("encode the result of a query: %w", err)
	}
	if err := os.WriteFile(filepath.Join(in.Folder, resultFile), data, 0o600); err != nil {
		return fmt.Errorf("write the result of a query: %w", err)
	}
	return nil
}
