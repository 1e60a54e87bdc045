package tool

import "context"

// QueryTable is the name of the tool that queries the tables of documents.
const QueryTable = "query_table"

// TableQuery is a call of QueryTable.
type TableQuery struct {
	Document string `json:"document"` // id or name; "" = describe the tables of all documents
	SQL      string `json:"sql"`      // "" = describe the tables of the document
}

// NewQueryTable returns the tool that queries the tables of documents.
func NewQueryTable(query func(ctx context.Context, c Call, q TableQuery) (Output, error)) Tool {
	return typed(QueryTable, "Query the rows of spreadsheets and CSV files with SQL: sums, counts, averages, rankings and filters over all rows. "+
		"Call it without sql first: it lists tables with their columns, types and first rows. sql is one SELECT of SQLite on the tables of one document. "+
		"Each table has the column _row, the row in the file: select it with rows, and with aggregates select min(_row) AS first_row, max(_row) AS last_row, so that the answer can be found in the file.",
		`"document":{"type":"string","maxLength":512,"description":"Id or exact name of the document. Needed with sql"},"sql":{"type":"string","maxLength":8000,"description":"One SELECT, without comments"}`,
		``, query)
}
