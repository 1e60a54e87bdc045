// Package sqltable makes SQLite tables of the rows of spreadsheets and of delimited text, and
// runs queries on them that a model wrote. It reads no file formats: the rows come from the
// layout of a document, so that they are those of the document's passages. Run is for a child
// process that has no other file.
package sqltable

import (
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// FileKey returns the key of the SQLite file with the tables of a version.
func FileKey(v knowledge.VersionRef) string { return blob.StepKey(v, "tables/tables.db") }

// CatalogKey returns the key of the Catalog of a version. It is written after the file.
func CatalogKey(v knowledge.VersionRef) string { return blob.StepKey(v, "tables/catalog.json") }

// AnswerKey returns the key of the Answer to a query, by a hash of the query.
func AnswerKey(v knowledge.VersionRef, hash string) string {
	return blob.StepKey(v, "tables/answers/"+hash+".json")
}

// MediaTypes returns the media types of documents that may have tables.
func MediaTypes() []string { return slices.Concat(delimited, workbooks) }

var (
	delimited = []string{"text/csv", "text/tab-separated-values"}
	workbooks = []string{
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.ms-excel", "application/vnd.oasis.opendocument.spreadsheet",
	}
)

// IsTable reports whether a document of a media type may have tables.
func IsTable(mediaType string) bool {
	return slices.Contains(MediaTypes(), withoutParameters(mediaType))
}

func withoutParameters(mediaType string) string {
	kind, _, _ := strings.Cut(mediaType, ";")
	return strings.TrimSpace(kind)
}

// Catalog describes the tables of a version. It has words of the document.
type Catalog struct {
	Tables []Table `json:"tables"`
}

// Table describes one table.
type Table struct {
	Name    string     `json:"name"`            // in SQL
	Sheet   string     `json:"sheet,omitempty"` // "" = of delimited text
	Title   string     `json:"title,omitempty"` // the rows above the header
	Columns []Column   `json:"columns"`
	Rows    int        `json:"rows"`
	First   int        `json:"first"` // row of the sheet or line of the text, 1 = first
	Last    int        `json:"last"`
	Totals  []int      `json:"totals,omitempty"` // rows that seem to sum up others
	Sample  [][]string `json:"sample"`           // the first rows, as the table has them
	Anchors []Anchor   `json:"anchors"`          // by row
}

// The types of a Column, as SQLite names them.
const (
	Integer = "INTEGER"
	Decimal = "REAL"
	Text    = "TEXT"
)

// Column describes a column.
type Column struct {
	Name   string `json:"name"`   // in SQL
	Header string `json:"header"` // in the file
	Type   string `json:"type"`
	Unit   string `json:"unit,omitempty"`   // a currency, or "%"
	Dates  bool   `json:"dates,omitempty"`  // the text is an ISO date, with a time or without
	Others int    `json:"others,omitempty"` // cells of a column of numbers or dates that are none, and stay text
	Errors int    `json:"errors,omitempty"` // cells of such a column that are errors of formulas, and have no value
}

// Anchor names the passage in which a row begins.
type Anchor struct {
	Row     int `json:"row"`
	Ordinal int `json:"ordinal"` // of the chunk
}

// RowColumn is the column of each table with the row of the sheet, or the line of the text.
const RowColumn = "_row"

// Anchor returns the ordinal of the chunk that holds a row of the table.
func (t Table) Anchor(row int) int {
	ordinal := 0
	for i, a := range t.Anchors {
		if i == 0 || a.Row <= row {
			ordinal = a.Ordinal
		}
	}
	return ordinal
}

// Find returns the table of a name.
func (c Catalog) Find(name string) (Table, bool) {
	i := slices.IndexFunc(c.Tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return Table{}, false
	}
	return c.Tables[i], true
}

// Answer is the answer to a query, in words for the model. It has words of the document.
type Answer struct {
	Text    string `json:"text"`
	Ordinal int    `json:"ordinal"` // of the chunk in which the rows begin
	First   int    `json:"first"`   // rows of the sheet or lines of the text
	Last    int    `json:"last"`
}
