package milvus

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/milvus-io/milvus/client/v2/column"
	"github.com/milvus-io/milvus/client/v2/milvusclient"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/words"
)

const (
	// maxBatchBytes bounds one message. Milvus's default limit is 64 MiB.
	maxBatchBytes = 16 << 20
	maxBatchRows  = 1000
)

// row is an entry in the form in which it is written.
type row struct {
	index.Entry
	id       string
	vector   []float32 // normalised; nil = none
	text     string
	language string
	facts    []string
	metadata []byte
}

// bytes returns how many bytes the row takes in a message at most.
func (r row) bytes() int {
	n := 4*len(r.vector) + len(r.metadata) + 34*len(r.facts) + 256 // of lengths, numbers and the id
	one := []string{r.text, r.Name, r.Workspace, r.Project, r.DocumentID, r.ChunkID, r.language, r.Classification}
	for _, list := range [][]string{one, r.ACL, r.Tags} {
		for _, s := range list {
			n += len(s) + 4
		}
	}
	return n
}

func (r row) dimension() int { return len(r.vector) }

// Upsert writes entries in batches. The entries of a batch become visible together,
// and an entry that fails leaves the entries of earlier batches written.
func (x *Index) Upsert(ctx context.Context, entries []index.Entry) error {
	leave, err := x.enter()
	if err != nil {
		return err
	}
	defer leave()
	rows, err := rowsOf(entries)
	if err != nil {
		return err
	}
	byCollection := map[collection][]row{}
	for _, r := range rows {
		c, err := x.ensure(ctx, r.Generation, r.dimension())
		if err != nil {
			return err
		}
		byCollection[c] = append(byCollection[c], r)
	}
	for c, rows := range byCollection {
		for _, batch := range batches(rows) {
			if err := x.put(ctx, c, batch); err != nil {
				return typed(err, "write %d entries of document %s into the index", len(batch), batch[0].DocumentID)
			}
		}
	}
	return nil
}

// rowsOf returns the entries as rows, the last one of each id and generation.
func rowsOf(entries []index.Entry) ([]row, error) {
	known := words.Stems{}
	rows := make([]row, 0, len(entries))
	at := map[[2]string]int{}
	for _, e := range entries {
		r := row{Entry: e, id: entryID(e), text: documentText(e.Text, known), language: or(e.ChunkLanguage, e.Language)}
		var err error
		if r.vector, err = index.Normalised(e.Vector); err != nil {
			return nil, fmt.Errorf("index chunk %s: %w", e.ChunkID, err)
		}
		if err := r.setMetadata(); err != nil {
			return nil, fmt.Errorf("index chunk %s: %w", e.ChunkID, err)
		}
		key := [2]string{r.id, r.Generation}
		if i, ok := at[key]; ok {
			rows[i] = r
			continue
		}
		at[key] = len(rows)
		rows = append(rows, r)
	}
	return rows, nil
}

func entryID(e index.Entry) string {
	return hash(e.Workspace, e.DocumentID, strconv.Itoa(e.Version), e.ChunkID)
}

func (r *row) setMetadata() error {
	facts, comparable, err := factsOf(r.Metadata)
	if err != nil {
		return err
	}
	if len(r.Tags) > 0 {
		facts = append(facts, hash(factTagged))
	}
	slices.Sort(facts)
	if r.facts = slices.Compact(facts); len(r.facts) > maxList || len(r.ACL) > maxList {
		return invalid("document %s has more than %d values in its metadata, or more than %d grants, which Milvus cannot store", r.DocumentID, maxList, maxList)
	}
	r.metadata, err = metadataJSON(r.Entry, r.language, comparable)
	return err
}

// batches splits rows so that each batch fits into a message.
func batches(rows []row) [][]row {
	var list [][]row
	start, bytes := 0, 0
	for i, r := range rows {
		if i > start && (bytes+r.bytes() > maxBatchBytes || i-start == maxBatchRows) {
			list = append(list, rows[start:i])
			start, bytes = i, 0
		}
		bytes += r.bytes()
	}
	return append(list, rows[start:])
}

// put writes a batch. It removes entries with a vector from the collection of those
// without, and entries without a vector from all other collections.
func (x *Index) put(ctx context.Context, c collection, rows []row) error {
	if _, err := x.client.Upsert(ctx, columns(c.name, c.dimension, rows)); err != nil {
		return err
	}
	known, err := x.known(ctx)
	if err != nil {
		return err
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.id
	}
	for _, other := range known {
		if other == c || other.dimension > 0 && c.dimension > 0 {
			continue
		}
		option := milvusclient.NewDeleteOption(other.name).WithExpr(oneOf(fieldID, ids))
		if _, err := x.client.Delete(ctx, option); err != nil {
			return err
		}
	}
	return nil
}

// columns returns the rows as a write into a collection.
func columns(name string, dimension int, rows []row) milvusclient.UpsertOption {
	option := milvusclient.NewColumnBasedInsertOption(name)
	for field, value := range map[string]func(row) string{
		fieldID: func(r row) string { return r.id }, fieldWorkspace: func(r row) string { return r.Workspace },
		fieldProject: func(r row) string { return r.Project }, fieldDocument: func(r row) string { return r.DocumentID },
		fieldChunk: func(r row) string { return r.ChunkID }, fieldName: func(r row) string { return r.Name },
		fieldLanguage: func(r row) string { return r.language }, fieldText: func(r row) string { return r.text },
	} {
		option.WithVarcharColumn(field, each(rows, value))
	}
	option.WithInt64Column(fieldVersion, each(rows, func(r row) int64 { return int64(r.Version) }))
	option.WithInt64Column(fieldOrdinal, each(rows, func(r row) int64 { return int64(r.Ordinal) }))
	option.WithInt64Column(fieldCreated, each(rows, func(r row) int64 { return micros(r.CreatedAt) }))
	option.WithColumns(attributeColumns(rows)...)
	if dimension > 0 {
		option.WithFloatVectorColumn(fieldVector, dimension, each(rows, func(r row) []float32 { return r.vector }))
	}
	return option
}

// attributeColumns returns the fields that an entry's attributes decide.
func attributeColumns(rows []row) []column.Column {
	list := []column.Column{
		column.NewColumnVarChar(fieldClassification, each(rows, func(r row) string { return r.Classification })),
		column.NewColumnJSONBytes(fieldMetadata, each(rows, func(r row) []byte { return r.metadata })),
	}
	for field, value := range map[string]func(row) []string{
		fieldTags: func(r row) []string { return r.Tags }, fieldACL: func(r row) []string { return r.ACL },
		fieldFacts: func(r row) []string { return r.facts },
	} {
		list = append(list, column.NewColumnVarCharArray(field, each(rows, value)))
	}
	return list
}

func each[T any](rows []row, value func(row) T) []T {
	list := make([]T, len(rows))
	for i, r := range rows {
		list[i] = value(r)
	}
	return list
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// fromMicros returns the time that micros returned a number for.
func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us)
}
