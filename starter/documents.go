package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type documentsCmd struct {
	List     documentsListCmd     `cmd:"" help:"List a project's documents."`
	Show     documentsShowCmd     `cmd:"" help:"Show a document."`
	PII      documentsPIICmd      `cmd:"" name:"pii" help:"List where a document has personal data."`
	Remove   documentsRemoveCmd   `cmd:"" help:"Remove documents and everything derived from them."`
	Reingest documentsReingestCmd `cmd:"" help:"Process the stored originals again, as new versions."`
	Retry    documentsRetryCmd    `cmd:"" help:"Resume failed documents at the stage that failed."`

	Acknowledge documentsAcknowledgeCmd `cmd:"" help:"Let cairn doctor no longer report documents that have failed."`
}

// Help returns an example of the commands.
func (documentsCmd) Help() string {
	return "Example:\n\n    cairn documents list --status error"
}

type documentsListCmd struct {
	listFlags
	Project    string   `short:"p" default:"default" help:"The project."`
	Status     string   `enum:",pending,published,error,inactive,deleting" default:"" help:"Only documents with this status: pending, published, error, inactive or deleting."`
	Tag        []string `sep:"none" help:"Only documents with one of these tags; may be repeated."`
	ExternalID string   `name:"external-id" help:"Only the document with this external id."`
	Limit      atMost   `default:"0" help:"The largest number to list; 0 lists all."`
}

// Help returns the command's example.
func (documentsListCmd) Help() string {
	return "Example:\n\n    cairn documents list --project default --status error"
}

// Run lists documents.
func (l documentsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connectProject(ctx, &l.Project)
	if err != nil {
		return err
	}
	documents, total, stale, err := l.documents(ctx, c)
	if err != nil {
		return err
	}
	if l.forPrograms() {
		list := "data"
		if l.JSON {
			list = "documents"
		}
		return l.write(a, map[string]any{list: documents, "total": total})
	}
	if err := l.documentTable(a, documents); err != nil {
		return err
	}
	if total > len(documents) {
		_, err = fmt.Fprintf(a.stderr, "%d of %d documents\n", len(documents), total)
	}
	if err == nil && stale != nil {
		next := "Embed them again: cairn documents reingest --all --stale --project " + l.Project
		if stale.Reindexing > 0 {
			next = "A reindex of the project is under way"
		}
		_, err = fmt.Fprintf(a.stderr, "%s: embedded with %s, and %s is configured now. %s\n",
			terminal.Count(stale.Documents, "document"), knowledge.DescribeGeneration(stale.EmbeddedWith), knowledge.DescribeGeneration(stale.Configured), next)
	}
	return err
}

// documentTable prints the documents. It shows the stage and the cause of documents whose newest version
// is not published.
func (l documentsListCmd) documentTable(a *app, documents []client.Document) error {
	header := []string{"ID", "NAME", "STATUS", "STAGE", "VERSION", "CHUNKS", "UPDATED", "CAUSE"}
	if l.Wide {
		header = append(header[:len(header)-1], "PROGRESS", "EXTERNAL ID", "CAUSE")
	}
	rows := make([][]string, 0, len(documents))
	for _, d := range documents {
		stage, cause := "", ""
		if d.Status == knowledge.StatusPending || d.Status == knowledge.StatusError {
			stage, cause = string(d.Stage), documentCause(d)
		}
		row := []string{d.ID, d.Name, string(d.Status), stage, strconv.Itoa(d.Version), strconv.Itoa(d.ChunkCount), l.when(a, d.UpdatedAt)}
		if l.Wide {
			row = append(row, fmt.Sprintf("%.0f%%", 100*d.Progress), d.ExternalID)
		}
		rows = append(rows, append(row, cause))
	}
	return l.table(a, listing{none: l.none(), header: header, rows: rows, spare: []string{"VERSION", "CHUNKS", "UPDATED", "STAGE"}})
}

// none returns what is shown if there are no documents.
func (l documentsListCmd) none() string {
	if l.Status != "" || l.ExternalID != "" || len(l.Tag) > 0 {
		return "no document of project " + l.Project + " matches"
	}
	return "no documents in project " + l.Project + "; cairn ingest adds some"
}

// documentCause returns why a document is not published: its error, or what it waits for.
// The code comes first: --code takes it, and a narrow terminal cuts the rest.
func documentCause(d client.Document) string {
	switch {
	case d.Error != nil && d.Acknowledged:
		return string(d.Error.Code) + " (acknowledged): " + d.Error.Message
	case d.Error != nil:
		return string(d.Error.Code) + ": " + d.Error.Message
	case d.Waiting != nil:
		return waitingCause(*d.Waiting)
	}
	return ""
}

func (l documentsListCmd) documents(ctx context.Context, c *client.Client) (documents []client.Document, total int, stale *client.StaleEmbeddings, err error) {
	most, limit := int(l.Limit), pageSize
	if most > 0 {
		limit = min(limit, most)
	}
	query := client.DocumentQuery{Project: l.Project, Status: l.Status, Tags: l.Tag, ExternalID: l.ExternalID, Limit: limit}
	documents = []client.Document{}
	for {
		list, err := c.Documents(ctx, query)
		if err != nil {
			return nil, 0, nil, err
		}
		if query.Page == 0 {
			stale = list.StaleEmbeddings
		}
		documents = append(documents, list.Documents...)
		if most > 0 && len(documents) >= most {
			return documents[:most], list.Total, stale, nil
		}
		if len(list.Documents) == 0 || len(documents) >= list.Total {
			return documents, list.Total, stale, nil
		}
		query.Page++
	}
}

type documentsShowCmd struct {
	clientFlags
	ID     string `arg:"" help:"The document's id, external id or name, or the beginning of its id."`
	Parsed bool   `help:"Show the document as it was read, in Markdown; with --json all blocks with their pages and boxes."`
}

// Help returns the command's examples.
func (documentsShowCmd) Help() string {
	return "Example:\n\n    cairn documents show 7f15f1ff-d15e-5894-8fb3-155392ab8972\n    cairn documents show handbook.pdf --parsed"
}

// Run shows a document.
func (s documentsShowCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	if s.Parsed {
		return s.showParsed(ctx, c, a)
	}
	d, err := withDocument(ctx, c, s.ID, func(id string) (client.Document, error) { return c.Document(ctx, id) })
	if err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, d)
	}
	failure := ""
	if d.Error != nil {
		failure = documentFailure(*d.Error).Error()
	}
	if d.Acknowledged {
		failure += " (acknowledged)"
	}
	waiting := ""
	if d.Waiting != nil {
		waiting = documentWait(*d.Waiting)
	}
	return terminal.Fields(a.stdout, "id", d.ID, "name", d.Name, "external id", d.ExternalID,
		"status", string(d.Status), "stage", string(d.Stage), "progress", unfinished(d), "waiting", waiting, "error", failure, "warnings", warningsText(d.Warnings), "next step", nextStep(d),
		"version", strconv.Itoa(d.Version), "readers see", publishedVersion(d),
		"media type", d.MediaType, "charset", assumedCharset(d), "size", knowledge.SizeText(d.Bytes), "pages", optionalInt(d.PageCount),
		"chunks", strconv.Itoa(d.ChunkCount), "language", d.Language, "tags", fmt.Sprint(d.Tags),
		"created", terminal.Time(d.CreatedAt), "updated", terminal.Time(d.UpdatedAt), "operator", d.OperatorURL)
}

func (s documentsShowCmd) showParsed(ctx context.Context, c *client.Client, a *app) error {
	format := "markdown"
	if s.forPrograms() {
		format = "json"
	}
	text, err := withDocument(ctx, c, s.ID, func(id string) (string, error) { return c.Parsed(ctx, id, format) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, strings.TrimSuffix(text, "\n"))
	return err
}

// warningsText returns what was read with doubt, "" if nothing was.
func warningsText(warnings []knowledge.Warning) string {
	texts := make([]string, len(warnings))
	for i, w := range warnings {
		texts[i] = w.String()
	}
	return strings.Join(texts, "; ")
}

// unfinished returns how far a pending document is, "" for any other.
func unfinished(d client.Document) string {
	if d.Status != knowledge.StatusPending {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*d.Progress)
}

// assumedCharset returns the charset that the server assumed for a text, "" if it assumed
// none.
func assumedCharset(d client.Document) string {
	if name, ok := d.Metadata[charset.AssumedKey].(string); ok {
		return name + " (assumed; a charset in the mediaType of the upload decides)"
	}
	return ""
}

// publishedVersion returns which version readers see.
func publishedVersion(d client.Document) string {
	if d.PublishedVersion == 0 {
		return "no version yet"
	}
	return fmt.Sprintf("version %d", d.PublishedVersion)
}

func optionalInt(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
