package server

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Notice is a state of the instance that its operator should know.
type Notice struct {
	Subject string
	Text    string // with the command that repairs it
}

type noticeSource func(context.Context) []Notice

func noticesOf(ctx context.Context, sources []noticeSource) iter.Seq[Notice] {
	return func(yield func(Notice) bool) {
		for _, source := range sources {
			for _, n := range source(ctx) {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// staleNotices returns a notice for each project whose documents were embedded with another
// model than the one that is configured by now.
func (p *platform) staleNotices(ctx context.Context) []Notice {
	stale, err := p.store.StaleProjects(ctx)
	if err != nil {
		p.log.WarnContext(ctx, "stale embeddings are not counted", "error", err)
		return nil
	}
	var list []Notice
	for _, s := range stale {
		documents := "1 document"
		if s.Documents != 1 {
			documents = fmt.Sprintf("%d documents", s.Documents)
		}
		next := "Embed them again: cairn documents reingest --all --stale --project " + s.Project + inWorkspace(s.Workspace)
		if s.Reindexing {
			next = "A reindex of the project is under way"
		}
		list = append(list, Notice{"Stale", fmt.Sprintf("%s of project %s/%s: embedded with %s, and %s is configured now. %s",
			documents, s.Workspace, s.Project, knowledge.DescribeGeneration(s.Serving), knowledge.DescribeGeneration(s.Wanted), next)})
	}
	return list
}

// emptyIndexCheck bounds the check of the index at the start.
const emptyIndexCheck = 10 * time.Second

// missingInIndex returns a document that is published and of which the index has nothing:
// its file was lost, or vector.url was changed. Searches then find nothing.
func (p *platform) missingInIndex(ctx context.Context) (ref knowledge.VersionRef, missing bool, err error) {
	ref, ok, err := p.store.AnyPublished(ctx)
	if err != nil || !ok {
		return ref, false, err
	}
	entries, err := p.index.Count(ctx, ref.Workspace, ref.Document)
	if err != nil {
		return ref, false, fmt.Errorf("count the index entries of document %s: %w", ref.Document, err)
	}
	return ref, len(entries) == 0, nil
}

// emptyIndexNotices returns a notice if the index lacks a document that is published.
func (p *platform) emptyIndexNotices(ctx context.Context) []Notice {
	ctx, cancel := context.WithTimeout(ctx, emptyIndexCheck)
	defer cancel()
	ref, missing, err := p.missingInIndex(ctx)
	switch {
	case err != nil:
		p.log.WarnContext(ctx, "the index is not compared with the published documents", "error", err)
	case missing:
		return []Notice{{"Index", fmt.Sprintf("has no passage of document %s, which is published. If the index was lost or vector.url has changed, fill it: cairn rebuild-index%s",
			ref.Document, inWorkspace(ref.Workspace))}}
	}
	return nil
}

// inWorkspace returns the flag that names a workspace, "" for the default one.
func inWorkspace(workspace string) string {
	if workspace == "default" {
		return ""
	}
	return " --workspace " + workspace
}
