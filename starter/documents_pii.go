package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/cairn-rag/cairn/internal/client"
)

type documentsPIICmd struct {
	listFlags
	ID    string `arg:"" help:"The document's id, external id or name, or the beginning of its id."`
	Limit atMost `default:"0" help:"The largest number to list; 0 lists all."`
}

// Help returns the command's details and example.
func (documentsPIICmd) Help() string {
	return "Lists where the document has personal data, without the values. privacy.pii of the project decides whether any is looked for: cairn projects set default privacy.pii=detect\n\n" +
		"Example:\n\n    cairn documents pii contract.pdf"
}

// Run lists the personal data of a document.
func (d documentsPIICmd) Run(ctx context.Context, a *app) error {
	c, err := d.connect()
	if err != nil {
		return err
	}
	found, err := withDocument(ctx, c, d.ID, func(id string) ([]client.Finding, error) {
		return pages(int(d.Limit), func(cursor string, limit int) (client.List[client.Finding], error) {
			return c.PersonalData(ctx, id, cursor, limit)
		})
	})
	if err != nil {
		return err
	}
	if d.forPrograms() {
		return d.write(a, client.List[client.Finding]{Data: found})
	}
	rows := make([][]string, 0, len(found))
	for _, f := range found {
		page := ""
		if f.Page != nil {
			page = strconv.Itoa(*f.Page)
		}
		rows = append(rows, []string{f.Entity, page, fmt.Sprintf("%d-%d", f.Start, f.End), fmt.Sprintf("%.2f", f.Score), f.Recogniser})
	}
	return d.table(a, listing{
		none:   "no personal data was found, or privacy.pii of the project is off",
		header: []string{"ENTITY", "PAGE", "CHARACTERS", "SCORE", "RECOGNISER"}, rows: rows, spare: []string{"SCORE", "RECOGNISER"},
	})
}
