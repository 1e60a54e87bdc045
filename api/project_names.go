package api

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// sameName returns the other projects with the project's name. Two of one name may be a
// mistake of the caller, and neither is refused.
func (pr *projectRoutes) sameName(ctx context.Context, p knowledge.Principal, project knowledge.Project) []string {
	ids, err := pr.store.ProjectsNamed(ctx, p, project.Name)
	if err != nil { // the project is stored all the same
		edge.RequestLog(ctx).WarnContext(ctx, "projects of one name are not looked up", "project", project.ID, "error", err)
		return nil
	}
	return slices.DeleteFunc(ids, func(id string) bool { return id == project.ID })
}

// slugOf makes an id of a name; of one that has no letters for it, a random one.
func slugOf(name string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := strings.Trim(b.String(), "-_")
	slug = strings.TrimRight(slug[:min(len(slug), 56)], "-_") // a suffix must still fit
	if !knowledge.ValidSlug(slug) {
		return knowledge.NewID()
	}
	return slug
}
