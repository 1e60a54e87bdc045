package milvus

import (
	"context"
	"fmt"
	"slices"

	"github.com/milvus-io/milvus/client/v2/column"
	"github.com/milvus-io/milvus/client/v2/entity"
	"github.com/milvus-io/milvus/client/v2/milvusclient"

	"github.com/cairn-rag/cairn/internal/index"
)

const (
	// maxWindow is the largest number of entries that one query returns.
	maxWindow = 16384
	// readRows is the number of entries that one query is meant to return.
	readRows = 500
)

// changed are the fields that SetAttributes replaces.
var changed = []string{fieldTags, fieldACL, fieldFacts, fieldMetadata, fieldClassification}

// SetAttributes replaces the attributes of one version of the document. It reads
// the entries and writes them again, in batches: a caller must not remove or
// write the version at the same time.
func (x *Index) SetAttributes(ctx context.Context, workspace, document string, version int, a index.Attributes) error {
	leave, err := x.enter()
	if err != nil {
		return err
	}
	defer leave()
	// Attributes that cannot be encoded are refused before the first write.
	r := row{Entry: index.Entry{DocumentID: document, Tags: a.Tags, ACL: a.ACL, Classification: a.Classification, Metadata: a.Metadata}}
	if err := r.setMetadata(); err != nil {
		return fmt.Errorf("set attributes of document %s: %w", document, err)
	}
	filter := and(ofDocument(workspace, document), fmt.Sprintf("%s == %d", fieldVersion, version))
	fields := []string{fieldID, fieldWorkspace, fieldProject, fieldDocument, fieldVersion, fieldOrdinal, fieldChunk, fieldName, fieldLanguage, fieldCreated, fieldText}
	return x.eachSlice(ctx, filter, fields, func(name string, found milvusclient.ResultSet) error {
		written, err := withAttributes(found, r)
		if err != nil {
			return err
		}
		_, err = x.client.Upsert(ctx, milvusclient.NewColumnBasedInsertOption(name, written...))
		return err
	})
}

// withAttributes returns the columns of found entries with the attributes of r.
func withAttributes(found milvusclient.ResultSet, r row) ([]column.Column, error) {
	rows := make([]row, found.Len())
	for i := range rows {
		rows[i] = r
		var err error
		if rows[i].Name, err = stringAt(found.GetColumn(fieldName), i); err != nil {
			return nil, err
		}
		if rows[i].language, err = stringAt(found.GetColumn(fieldLanguage), i); err != nil {
			return nil, err
		}
		if err := rows[i].setMetadata(); err != nil {
			return nil, err
		}
	}
	written := slices.DeleteFunc(slices.Clone(found.Fields), func(c column.Column) bool { return slices.Contains(changed, c.Name()) })
	return append(written, attributeColumns(rows)...), nil
}

// Count returns the number of chunks of each version of the document.
func (x *Index) Count(ctx context.Context, workspace, document string) (map[int]int, error) {
	leave, err := x.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	counts, counted := map[int]int{}, map[string]bool{} // by id: an entry may be in several collections
	err = x.eachSlice(ctx, ofDocument(workspace, document), []string{fieldID, fieldVersion}, func(_ string, found milvusclient.ResultSet) error {
		for i := range found.Len() {
			id, err := stringAt(found.GetColumn(fieldID), i)
			if err != nil {
				return err
			}
			if counted[id] {
				continue
			}
			counted[id] = true
			version, err := numberAt(found.GetColumn(fieldVersion), i)
			if err != nil {
				return err
			}
			counts[int(version)]++
		}
		return nil
	})
	return counts, err
}

// eachSlice calls yield with the entries of each collection that fulfil filter,
// about readRows at a time. fields names what is read, and a vector is read with
// the words.
func (x *Index) eachSlice(ctx context.Context, filter string, fields []string, yield func(collection string, found milvusclient.ResultSet) error) error {
	known, err := x.known(ctx)
	if err != nil {
		return err
	}
	for _, c := range known {
		name, fields := c.name, fields
		if c.dimension > 0 && slices.Contains(fields, fieldText) {
			fields = append(slices.Clone(fields), fieldVector)
		}
		n, err := x.count(ctx, name, filter)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		for _, prefix := range slicesOf(n) {
			found, err := x.query(ctx, name, and(filter, fieldID+` like "`+prefix+`%"`), maxWindow, fields...)
			if err != nil {
				return err
			}
			if found.Len() == 0 {
				continue
			}
			if err := yield(name, found); err != nil {
				return typed(err, "entries of collection %s", name)
			}
		}
	}
	return nil
}

// slicesOf returns prefixes of ids that divide n entries into slices of about
// readRows: ids are hashes.
func slicesOf(n int64) []string {
	prefixes := []string{""}
	for int64(len(prefixes))*readRows < n {
		var longer []string
		for _, p := range prefixes {
			for _, digit := range "0123456789abcdef" {
				longer = append(longer, p+string(digit))
			}
		}
		prefixes = longer
	}
	return prefixes
}

func (x *Index) count(ctx context.Context, name, filter string) (int64, error) {
	const field = "count(*)"
	found, err := x.query(ctx, name, filter, 0, field)
	if err != nil {
		return 0, err
	}
	return numberAt(found.GetColumn(field), 0)
}

// query reads fields of the entries that fulfil filter, with what all processes
// have written. A limit of 0 is none.
func (x *Index) query(ctx context.Context, name, filter string, limit int, fields ...string) (found milvusclient.ResultSet, err error) {
	option := milvusclient.NewQueryOption(name).WithFilter(filter).WithConsistencyLevel(entity.ClStrong).WithOutputFields(fields...)
	if limit > 0 {
		option = option.WithLimit(limit)
	}
	err = x.loaded(ctx, name, func() (err error) {
		found, err = x.client.Query(ctx, option)
		return err
	})
	return found, typed(err, "read entries of collection %s", name)
}
