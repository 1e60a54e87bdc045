package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type privacyCmd struct {
	Show      privacyShowCmd     `cmd:"" help:"Show what a project does with personal data."`
	Documents privacyDocuments   `cmd:"" help:"Count the personal data of the documents of a project, by kind."`
	Findings  privacyFindingsCmd `cmd:"" help:"List where a document has personal data."`
}

// Help returns an example of the commands.
func (privacyCmd) Help() string {
	return "Projects say what they do with personal data: cairn projects set default privacy.pii=detect\n\nExample:\n\n    cairn privacy documents default"
}

type privacyShowCmd struct {
	clientFlags
	Project string `arg:"" help:"The project's id or name, or the beginning of its id."`
}

// Help returns the command's example.
func (privacyShowCmd) Help() string { return "Example:\n\n    cairn privacy show default" }

// Run shows the privacy settings of a project.
func (s privacyShowCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectProject(ctx, &s.Project)
	if err != nil {
		return err
	}
	p, err := c.Project(ctx, s.Project)
	if err != nil {
		return err
	}
	settings := map[string]any{}
	if len(p.Privacy) > 0 {
		if err := json.Unmarshal(p.Privacy, &settings); err != nil {
			return fmt.Errorf("read the privacy settings of project %s: %w", p.ID, err)
		}
	}
	if s.forPrograms() {
		return s.write(a, map[string]any{"project": p.ID, "privacy": settings})
	}
	if err := terminal.Fields(a.stdout, "id", p.ID, "name", p.Name); err != nil {
		return err
	}
	if len(settings) == 0 {
		_, err := fmt.Fprintf(a.stdout, "No privacy settings: nothing is looked for. Change it with: cairn projects set %s privacy.pii=detect\n", p.ID)
		return err
	}
	return terminal.JSON(a.stdout, settings)
}

type privacyDocuments struct {
	listFlags
	Project string `arg:"" help:"The project's id or name, or the beginning of its id."`
	All     bool   `help:"Documents without personal data too."`
}

// Help returns the command's details and example.
func (privacyDocuments) Help() string {
	return "Counts what was found when the versions of the published documents were added. Values are not shown.\n\nExample:\n\n    cairn privacy documents default"
}

// Run counts the personal data of the documents of a project.
func (d privacyDocuments) Run(ctx context.Context, a *app) error {
	c, err := d.connectProject(ctx, &d.Project)
	if err != nil {
		return err
	}
	documents, err := pages(0, func(cursor string, limit int) (client.List[client.Counted], error) {
		return c.PersonalDataOfProject(ctx, d.Project, cursor, limit)
	})
	if err != nil {
		return err
	}
	if !d.All {
		documents = slices.DeleteFunc(documents, func(one client.Counted) bool { return one.Total == 0 })
	}
	if d.forPrograms() {
		return d.write(a, client.List[client.Counted]{Data: documents})
	}
	sum := client.Counted{DocumentID: "(all)", Entities: map[string]int{}}
	rows := make([][]string, 0, len(documents)+1)
	for _, one := range documents {
		sum.Total += one.Total
		for entity, count := range one.Entities {
			sum.Entities[entity] += count
		}
		rows = append(rows, countedRow(one))
	}
	if len(rows) > 1 {
		rows = append(rows, countedRow(sum))
	}
	return d.table(a, listing{
		none:   "no personal data was found, or privacy.pii of the project is off",
		header: []string{"DOCUMENT", "NAME", "TOTAL", "KINDS"}, rows: rows, spare: []string{"KINDS", "DOCUMENT"},
	})
}

func countedRow(one client.Counted) []string {
	var kinds []string
	for _, entity := range slices.Sorted(maps.Keys(one.Entities)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", entity, one.Entities[entity]))
	}
	return []string{one.DocumentID, one.Name, strconv.Itoa(one.Total), strings.Join(kinds, ", ")}
}

type privacyFindingsCmd struct{ documentsPIICmd }

// Help returns the command's details and example.
func (privacyFindingsCmd) Help() string {
	return "The same as cairn documents pii.\n\nExample:\n\n    cairn privacy findings contract.pdf"
}
