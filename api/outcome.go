package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/sqltable"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// outcome is an answer with the passages that the reader may see.
type outcome struct {
	record record.Answer
	chunks map[string]store.ChunkView
	// answers are the answers to queries of tables, by their keys.
	answers map[string]string
}

// newResults uses Store, Blobs, Access, Links and Clock of deps.
func newResults(cfg Config, deps Deps) *results {
	return &results{store: deps.Store, blobs: deps.Blobs, views: &views{publicURL: cfg.PublicURL, access: deps.Access, links: deps.Links, now: deps.now}}
}

// load reads the stored outcome of the run and the passages that the reader may
// see now.
func (r *renderer) load(ctx context.Context, key string) (*outcome, error) {
	if r.outcome != nil {
		return r.outcome, nil
	}
	audit.Ran(ctx, r.run.ID)
	out := &outcome{}
	if err := r.results.blobs.GetJSON(ctx, key, &out.record); err != nil {
		return nil, fmt.Errorf("read the answer of run %s: %w", r.run.ID, err)
	}
	if err := r.results.readSources(ctx, r.principal, out); err != nil {
		return nil, fmt.Errorf("read the sources of run %s: %w", r.run.ID, err)
	}
	r.outcome = out
	return out, nil
}

// chosenSources is the event of the passages that a model gets.
func (r *renderer) chosenSources(ctx context.Context, e stream.Event) (string, any, error) {
	var chosen record.Chosen
	if err := json.Unmarshal(e.Data, &chosen); err != nil {
		return "", nil, fmt.Errorf("passages of run %s: %w", r.run.ID, err)
	}
	var out outcome
	var err error
	if out.record.Sources, err = chosen.Sources(ctx, r.results.blobs); err != nil {
		return "", nil, fmt.Errorf("passages of run %s: %w", r.run.ID, err)
	}
	if err = r.results.readSources(ctx, r.principal, &out); err != nil {
		return "", nil, fmt.Errorf("read the passages of run %s: %w", r.run.ID, err)
	}
	return "sendSourcesMessage", sourcesEvent{Sources: r.results.views.sources(r.principal, &out)}, nil
}

// results reads what runs came to, with the permission of whoever reads it.
type results struct {
	store Store
	blobs Blobs
	views *views
}

// passages reads the passages of sources that the principal may read now.
func (r *results) passages(ctx context.Context, p knowledge.Principal, sources []record.Source) (map[string]store.ChunkView, error) {
	hits := make([]knowledge.Hit, 0, len(sources))
	for _, x := range sources {
		if x.Page != nil {
			continue
		}
		hits = append(hits, knowledge.Hit{ChunkID: x.ChunkID, DocumentID: x.DocumentID})
	}
	found, err := retrieve.Lookup(ctx, r.store, p, hits)
	for _, c := range found {
		audit.Left(ctx, c.DocumentID)
	}
	return found, err
}

// readSources reads the words of the sources of an outcome that the principal may read now.
func (r *results) readSources(ctx context.Context, p knowledge.Principal, out *outcome) (err error) {
	if out.chunks, err = r.passages(ctx, p, out.record.Sources); err != nil {
		return err
	}
	out.answers = map[string]string{}
	for _, x := range out.record.Sources {
		if _, visible := out.chunks[x.ChunkID]; x.Rows == nil || !visible {
			continue
		}
		var answer sqltable.Answer
		err := r.blobs.GetJSON(ctx, x.Rows.Key, &answer)
		if errors.Is(err, blob.ErrNotFound) { // it went with its version
			continue
		}
		if err != nil {
			return fmt.Errorf("read the answer to a query: %w", err)
		}
		out.answers[x.Rows.Key] = answer.Text
	}
	return nil
}

// messageSources are the sources of a stored message, as an answer shows them.
func (r *results) messageSources(ctx context.Context, p knowledge.Principal, m store.Message) ([]source, error) {
	var out outcome
	if len(m.Sources) > 0 {
		if err := json.Unmarshal(m.Sources, &out.record.Sources); err != nil {
			return nil, fmt.Errorf("decode the sources of message %s: %w", m.ID, err)
		}
	}
	for _, x := range out.record.Sources {
		if x.Used || slices.Contains(m.ChunkIDs, x.ChunkID) {
			out.record.Used = append(out.record.Used, x.Rank)
		}
	}
	if err := r.readSources(ctx, p, &out); err != nil {
		return nil, fmt.Errorf("read the sources of message %s: %w", m.ID, err)
	}
	return r.views.sources(p, &out), nil
}

// source is a passage in the answer of /query.
type source struct {
	Rank           int        `json:"rank"`
	ChunkID        string     `json:"chunkId,omitempty" doc:"Absent for a web page"`
	DocumentID     string     `json:"documentId,omitempty" doc:"Absent for a web page"`
	DocumentName   string     `json:"documentName" doc:"The name of the document, or the title of a web page"`
	ExternalID     string     `json:"externalId"`
	URL            string     `json:"url,omitempty" doc:"The URL of the original file, which needs no key for an hour, or of a web page"`
	Text           string     `json:"text" doc:"The text of the passage; for a web page, the snippet; for rows of a table, the answer to the query"`
	Score          float64    `json:"score"`
	Heading        []string   `json:"heading" doc:"The headings above the passage, outermost first"`
	Lines          *[2]int    `json:"lines,omitempty" doc:"The [first,last] line of the passage in the original file, 1 = first. If lines were joined, as in a wrapped Markdown paragraph, or moved, as in JSON, the lines of the whole paragraph, list or part of a table. Absent for formats with pages (PDF) or without visible lines (HTML)"`
	PageNumber     *int       `json:"pageNumber"`
	BBox           []chunkBox `json:"bbox"`
	StartTime      *float64   `json:"startTime"`
	EndTime        *float64   `json:"endTime"`
	Place          string     `json:"place,omitempty" doc:"The sheet and the range of cells in a spreadsheet, such as Sales!A2:D41"`
	UsedInResponse bool       `json:"usedInResponse"`
	Removed        bool       `json:"removed,omitempty" doc:"The document was removed, or the caller may no longer see it: the source has only its rank, score and ids"`
}

func (v *views) sources(p knowledge.Principal, o *outcome) []source {
	list := make([]source, 0, len(o.record.Sources))
	for _, x := range o.record.Sources {
		out := source{
			Rank: x.Rank, ChunkID: x.ChunkID, DocumentID: x.DocumentID, Score: x.Score, BBox: []chunkBox{}, Heading: []string{},
			UsedInResponse: slices.Contains(o.record.Used, x.Rank), Removed: true,
		}
		if x.Page != nil {
			out.Removed, out.DocumentName, out.Text, out.URL = false, x.Page.Title, x.Page.Snippet, x.Page.URL
		} else if g := x.Given; g != nil {
			out.Removed, out.DocumentName, out.Text, out.URL = false, g.Name, g.Text, g.URL
		} else if c, ok := o.chunks[x.ChunkID]; ok {
			out.Removed, out.DocumentName, out.Text = false, c.Document.Name, c.Text
			out.URL = v.originalURL(p, c.Document)
			out.BBox, out.PageNumber = chunkBoxes(c.Chunk)
			out.ExternalID, out.Heading = c.Document.ExternalID, notNil(c.HeadingPath)
			out.StartTime, out.EndTime = seconds(c.Time)
			out.Place = c.Place
			if c.Origin.First > 0 {
				out.Lines = &[2]int{c.Origin.First, c.Origin.Last}
			}
			out.setRows(x.Rows, o.answers)
		}
		list = append(list, out)
	}
	return list
}

// rangeOfCells is the first range in Place: a sheet, and the columns of the range.
var rangeOfCells = regexp.MustCompile(`^((?:'(?:[^']|'')+'|[^!']+)![A-Z]+)\d+:([A-Z]+)\d+`)

// setRows makes a source one of the rows of a table that answered a query.
func (s *source) setRows(rows *record.TableRows, answers map[string]string) {
	if rows == nil {
		return
	}
	if text, there := answers[rows.Key]; there {
		s.Text = text
	}
	if at := rangeOfCells.FindStringSubmatch(s.Place); at != nil {
		s.Place = fmt.Sprintf("%s%d:%s%d", at[1], rows.First, at[2], rows.Last)
	}
	if s.Lines != nil {
		s.Lines = &[2]int{rows.First, rows.Last}
	}
}
