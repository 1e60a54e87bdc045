package evaluate

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
)

// Write writes items so that Read reads them again. CSV has lists as "a; b" in one cell.
func Write(w io.Writer, format Format, items []Item) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	switch format {
	case FormatJSON:
		encoder.SetIndent("", "  ")
		if items == nil {
			items = []Item{}
		}
		return encoder.Encode(items)
	case FormatJSONLines:
		for _, item := range items {
			if err := encoder.Encode(item); err != nil {
				return err
			}
		}
		return nil
	case FormatCSV:
		return writeCSV(w, items)
	}
	return fmt.Errorf("there is no format %q of items", format)
}

func writeCSV(w io.Writer, items []Item) error {
	writer := csv.NewWriter(w)
	if err := writer.Write(columns()); err != nil {
		return err
	}
	for _, i := range items {
		var pages []string
		for _, page := range i.ExpectedPages {
			pages = append(pages, page.String())
		}
		row := []string{i.ID, i.Question, i.Reference, cellOf(i.ExpectedDocuments), cellOf(pages), cellOf(i.Tags), string(i.Kind), cellOf(i.Passages)}
		if err := writer.Write(row); err != nil {
			return err
		}
	}
	writer.Flush()
	return writer.Error()
}
