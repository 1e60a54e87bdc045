package milvus

import (
	"fmt"

	"github.com/milvus-io/milvus/client/v2/column"
	"github.com/milvus-io/milvus/client/v2/milvusclient"
)

// entryFields are the fields of an entry that its attributes do not decide, without its
// vector.
var entryFields = []string{
	fieldID, fieldWorkspace, fieldProject, fieldDocument, fieldVersion, fieldOrdinal, fieldChunk, fieldName, fieldLanguage, fieldCreated, fieldText,
}

// rowsIn returns the entries of a result that has entryFields, and their vectors if it has
// those. They have no attributes.
func rowsIn(found milvusclient.ResultSet) ([]row, error) {
	rows := make([]row, found.Len())
	for i := range rows {
		if err := rows[i].read(found, i); err != nil {
			return nil, err
		}
	}
	if vectors := found.GetColumn(fieldVector); vectors != nil {
		c, ok := vectors.(*column.ColumnFloatVector)
		if !ok || c.Len() != len(rows) {
			return nil, fmt.Errorf("the result has no vector for each of its %d entries", len(rows))
		}
		for i, vector := range c.Data() {
			rows[i].vector = vector
		}
	}
	return rows, nil
}

// read reads the texts and numbers of entry i of a result.
func (r *row) read(found milvusclient.ResultSet, i int) (err error) {
	for field, into := range map[string]*string{
		fieldID: &r.id, fieldWorkspace: &r.Workspace, fieldProject: &r.Project, fieldDocument: &r.DocumentID,
		fieldChunk: &r.ChunkID, fieldName: &r.Name, fieldLanguage: &r.language, fieldText: &r.text,
	} {
		if *into, err = stringAt(found.GetColumn(field), i); err != nil {
			return err
		}
	}
	var version, ordinal, created int64
	for field, into := range map[string]*int64{fieldVersion: &version, fieldOrdinal: &ordinal, fieldCreated: &created} {
		if *into, err = numberAt(found.GetColumn(field), i); err != nil {
			return err
		}
	}
	r.Version, r.Ordinal, r.CreatedAt = int(version), int(ordinal), fromMicros(created)
	return nil
}
