package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// attachedShare is the share of the passages that the attachments of a conversation have
// at least, if they have that many: 1 of 5. Few attachments would else be lost among the
// documents of a project.
const attachedShare = 5

// AttachmentReader reads what is attached to conversations.
type AttachmentReader interface {
	// Attached returns the ids of the published documents that are attached to the
	// principal's conversation, none without a conversation.
	Attached(ctx context.Context, p knowledge.Principal, projects []string) ([]string, error)
}

// attachments returns the hits of the question in what is attached to the conversation,
// best first. The tags of the project and those that a model chose are not for them. A
// question of chosen documents has no attachments beside these.
func (s *search) attachments(ctx context.Context, groups []*group, limit int) ([]knowledge.Hit, error) {
	if s.models.Attachments == nil || s.request.Principal.ConversationID() == "" || len(s.request.Documents) > 0 {
		return nil, nil
	}
	ids, err := s.models.Attachments.Attached(ctx, s.request.Principal, s.request.Projects)
	if err != nil {
		return nil, fmt.Errorf("read the attachments: %w", err)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	var lists [][]knowledge.Hit
	for _, g := range groups {
		q := index.Query{Principal: s.request.Principal, Granted: s.granted, Projects: s.request.Projects, Documents: ids,
			Filter: s.request.Filter, Generation: g.Name, Limit: limit}
		if g.Projects != nil {
			q.Projects = g.Projects
		}
		dense, words, _, err := s.findOrWords(ctx, g, q, 0)
		if err != nil {
			return nil, err
		}
		lists = append(lists, s.fused(g, s.probes[0], dense, words))
	}
	return best(lists...), nil
}

// withAttachments returns hits of which the first n have some of the attached ones, if
// there are that many. Those that were further back come last among the n.
func withAttachments(hits, attached []knowledge.Hit, n int) []knowledge.Hit {
	is := map[string]bool{}
	for _, h := range attached {
		is[h.ChunkID] = true
	}
	missing := min((n+attachedShare-1)/attachedShare, len(attached))
	for _, h := range hits[:min(n, len(hits))] {
		if is[h.ChunkID] {
			missing--
		}
	}
	in := func(list []knowledge.Hit, h knowledge.Hit) bool {
		return slices.ContainsFunc(list, func(other knowledge.Hit) bool { return other.ChunkID == h.ChunkID })
	}
	var moved []knowledge.Hit
	for _, h := range attached {
		if len(moved) < missing && !in(hits[:min(n, len(hits))], h) {
			moved = append(moved, h)
		}
	}
	if len(moved) == 0 {
		return hits
	}
	rest := slices.DeleteFunc(slices.Clone(hits), func(h knowledge.Hit) bool { return in(moved, h) })
	at := min(max(0, n-len(moved)), len(rest))
	for i := range moved { // in their place, scores still fall
		if at > 0 {
			moved[i].Score = min(moved[i].Score, rest[at-1].Score)
		}
		if at < len(rest) {
			moved[i].Score = max(moved[i].Score, rest[at].Score)
		}
	}
	return slices.Insert(rest, at, moved...)
}
