package answering

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/sqltable"
	"github.com/cairn-rag/cairn/internal/tool"
)

// TableQuerier runs queries on tables in child processes with limits.
type TableQuerier interface {
	// Query runs a query on a file that sqltable.Write has made. A query that is refused, or
	// takes too much time or memory, is no error.
	Query(ctx context.Context, path, sql string) (sqltable.Result, error)
}

const (
	maxTabled    = 200 // documents in which tables are looked for
	maxDescribed = 20  // documents whose tables are described
)

// tabled calls visit for each document with tables that the question may search, newest
// first, until visit returns false.
func (f fileTools) tabled(ctx context.Context, r knowledge.Request, visit func(d knowledge.Document, ref knowledge.VersionRef) bool) error {
	seen := 0
	var failed error
	err := f.reachKinds(ctx, r, sqltable.MediaTypes(), func(d knowledge.Document) bool {
		if !sqltable.IsTable(d.MediaType) {
			return true
		}
		ref := knowledge.VersionRef{Workspace: r.Principal.Workspace(), Project: d.Project, Document: d.ID, Version: d.PublishedVersion}
		exists, err := f.Blobs.Exists(ctx, sqltable.CatalogKey(ref))
		if failed = err; err != nil {
			return false
		}
		seen++
		return (!exists || visit(d, ref)) && seen < maxTabled
	})
	return errors.Join(failed, err)
}

// hasTables reports whether the question may search a document with tables.
func (f fileTools) hasTables(ctx context.Context, r knowledge.Request) (found bool, err error) {
	if f.Tables == nil || !r.Config.AI.Tables {
		return false, nil
	}
	err = f.tabled(ctx, r, func(knowledge.Document, knowledge.VersionRef) bool { found = true; return false })
	return found, err
}

// queryTable describes tables, or runs a query on those of one document. What it returns are
// passages: the answer to the query stands in the place of the chunk in which its rows begin,
// so that it is shown to whoever may read that chunk, and goes with the document.
func (f fileTools) queryTable(ctx context.Context, c tool.Call, q tool.TableQuery) (tool.Output, error) {
	return f.keep(ctx, c, func() (record.Search, error) {
		switch {
		case q.SQL == "":
			return f.describeTables(ctx, c.Request, q.Document)
		case q.Document == "":
			return record.Search{Note: "Name the document whose tables the query reads."}, nil
		}
		d, err := f.resolve(ctx, c.Request, q.Document)
		if err != nil {
			return record.Search{}, err
		}
		return f.answerQuery(ctx, c.Request, d, q.SQL)
	})
}

// answerQuery runs a query on the tables of a document. The model reads why a query was not
// run in the note of the search, because the reason may repeat words of the query.
func (f fileTools) answerQuery(ctx context.Context, r knowledge.Request, d knowledge.Document, sql string) (record.Search, error) {
	ref := knowledge.VersionRef{Workspace: r.Principal.Workspace(), Project: d.Project, Document: d.ID, Version: d.PublishedVersion}
	var catalog sqltable.Catalog
	err := f.Blobs.GetJSON(ctx, sqltable.CatalogKey(ref), &catalog)
	if errors.Is(err, blob.ErrNotFound) {
		return record.Search{}, knowledge.Errorf(knowledge.CodeNotFound, "the document has no tables; %s without arguments describes those that there are", tool.QueryTable)
	}
	if err != nil {
		return record.Search{}, fmt.Errorf("read the tables of document %s: %w", d.ID, err)
	}
	result, err := f.runQuery(ctx, ref, sql)
	if err != nil {
		return record.Search{}, err
	}
	if result.Refused != "" {
		return record.Search{Note: "The query was not run: " + result.Refused + "."}, nil
	}
	answer, found := catalog.Answer(result)
	if !found {
		return record.Search{}, fmt.Errorf("a query of document %s read a table without a description", d.ID)
	}
	hash := sha256.Sum256([]byte(sql))
	passage, err := f.answerPassage(ctx, r, ref, sqltable.AnswerKey(ref, hex.EncodeToString(hash[:])), answer)
	return record.Search{Passages: []record.Passage{passage}, Retrieved: len(result.Rows)}, err
}

// runQuery runs a query on the tables of a version.
func (f fileTools) runQuery(ctx context.Context, ref knowledge.VersionRef, sql string) (sqltable.Result, error) {
	path, remove, err := f.localTables(ctx, ref)
	if err != nil {
		return sqltable.Result{}, err
	}
	defer remove()
	return f.Tables.Query(ctx, path, sql)
}

// localTables copies the tables of a version to a temporary file, for the child process.
func (f fileTools) localTables(ctx context.Context, ref knowledge.VersionRef) (path string, remove func(), err error) {
	stored, _, err := f.Blobs.Open(ctx, sqltable.FileKey(ref))
	if err != nil {
		return "", nil, fmt.Errorf("open the tables of document %s: %w", ref.Document, err)
	}
	defer stored.Close()
	file, err := os.CreateTemp(f.TempDir, "cairn-tables-*")
	if err != nil {
		return "", nil, fmt.Errorf("copy tables: %w", err)
	}
	remove = func() { _ = os.Remove(file.Name()) } // a leftover in the temporary folder harms nobody
	_, err = io.Copy(file, stored)
	if err = errors.Join(err, file.Close()); err != nil {
		remove()
		return "", nil, fmt.Errorf("copy tables: %w", err)
	}
	return file.Name(), remove, nil
}

// describeTables returns the descriptions of the tables of a document, or of all documents.
func (f fileTools) describeTables(ctx context.Context, r knowledge.Request, named string) (record.Search, error) {
	if named != "" {
		d, err := f.resolve(ctx, r, named)
		if err != nil {
			return record.Search{}, err
		}
		r.Documents = []string{d.ID}
	}
	found, seen := record.Search{}, 0
	var failed error
	err := f.tabled(ctx, r, func(_ knowledge.Document, ref knowledge.VersionRef) bool {
		if seen++; seen > maxDescribed {
			return true
		}
		var catalog sqltable.Catalog
		if failed = f.Blobs.GetJSON(ctx, sqltable.CatalogKey(ref), &catalog); failed != nil {
			return false
		}
		passage, err := f.answerPassage(ctx, r, ref, sqltable.AnswerKey(ref, "description"), catalog.Describe())
		if knowledge.IsCode(err, knowledge.CodeNotFound) { // removed meanwhile
			return true
		}
		if failed = err; err != nil {
			return false
		}
		found.Passages = append(found.Passages, passage)
		return true
	})
	found.Retrieved, found.Note = seen, fmt.Sprintf("These are the tables of %d of %d documents that have some.", len(found.Passages), seen)
	return found, errors.Join(failed, err)
}

// answerPassage stores an answer with the version, and returns its passage. A removal hides a
// document before it deletes its blobs, so an answer that is stored after that is deleted here.
func (f fileTools) answerPassage(ctx context.Context, r knowledge.Request, ref knowledge.VersionRef, key string, answer sqltable.Answer) (record.Passage, error) {
	if _, err := f.Blobs.PutJSON(ctx, key, answer); err != nil {
		return record.Passage{}, fmt.Errorf("store the answer to a query: %w", err)
	}
	d, err := f.Library.Document(ctx, r.Principal.Reader(), ref.Document)
	if err == nil && d.PublishedVersion != ref.Version {
		err = knowledge.NotFound("document", ref.Document)
	}
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		err = errors.Join(err, f.Blobs.Delete(ctx, key))
	}
	return record.Passage{
		ChunkID: knowledge.ChunkID(ref.Document, ref.Version, answer.Ordinal), DocumentID: ref.Document, Version: ref.Version, Score: 1,
		Rows: &record.TableRows{Key: key, First: answer.First, Last: answer.Last},
	}, err
}

// readTables puts the answers to queries in the place of the chunks in which their rows begin.
// The chunks were read with the permission of the moment.
func (a *passages) readTables(ctx context.Context, passages []record.Passage, words []citation.Context) error {
	for _, p := range passages {
		i := slices.IndexFunc(words, func(c citation.Context) bool { return c.Rank == p.Rank })
		if p.Rows == nil || i < 0 {
			continue
		}
		var err error
		if words[i].Text, err = answerText(ctx, a.Blobs, *p.Rows, words[i].Text); err != nil {
			return err
		}
	}
	return nil
}

// answerText returns the answer to a query, or the text of its chunk if the answer went with
// its version.
func answerText(ctx context.Context, blobs step.Blobs, rows record.TableRows, chunk string) (string, error) {
	var answer sqltable.Answer
	err := blobs.GetJSON(ctx, rows.Key, &answer)
	if errors.Is(err, blob.ErrNotFound) {
		return chunk, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the answer to a query: %w", err)
	}
	return answer.Text, nil
}
