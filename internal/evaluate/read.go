package evaluate

import "io"

// Format is how a file holds items.
type Format string

// The formats of items.
const (
	FormatJSON      Format = "json"  // an array, or an object with the array in "items"
	FormatJSONLines Format = "jsonl" // an object a line
	FormatCSV       Format = "csv"   // a header, then a row an item; commas, semicolons or tabs
)

// FormatOf returns the format of a file by the end of its name, else by the beginning of its
// content.
func FormatOf(name string, head []byte) Format { panic("not built") }

// Read reads the items of a file and checks them with Check. Items without an id get one from
// their question. The error is a *Problems, with the lines of the file, if the file could be
// read but its items are wrong. An unknown field or column is a problem, so that a misspelt one
// is not ignored.
func Read(r io.Reader, format Format) ([]Item, error) { panic("not built") }

// Write writes items so that Read reads them again. CSV has lists as "a; b" in one cell.
func Write(w io.Writer, format Format, items []Item) error { panic("not built") }
