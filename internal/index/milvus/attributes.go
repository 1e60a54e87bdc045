package milvus

import (
	"context"
	"fmt"
	"slices"

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
	return x.eachSlice(ctx, filter, entryFields, func(c collection, found milvusclient.ResultSet) error {
		rows, err := rowsIn(found)
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].Tags, rows[i].ACL, rows[i].Classification, rows[i].Metadata = a.Tags, a.ACL, a.Classification, a.Metadata
			if err := rows[i].setMetadata(); err != nil {
				return err
			}
		}
		for _, batch := range batches(rows) {
			if _, err := x.client.Upsert(ctx, columns(c.name, c.dimension, batch)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Count returns the number of chunks of each version of the document.
func (x *Index) Count(ctx context.Context, workspace, document string) (map[int]int, error) {
	leave, err := x.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	counts, counted := map[int]int{}, map[string]bool{} // by id: an entry may be in several collections
	err = x.eachSlice(ctx, ofDocument(workspace, document), []string{fieldID, fieldVersion}, func(_ collection, found milvusclient.ResultSet) error {
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
func (x *Index) eachSlice(ctx context.Context, filter string, fields []string, yield func(c collection, found milvusclient.ResultSet) error) error {
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
			if err := yield(c, found); err != nil {
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
