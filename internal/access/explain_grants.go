package access

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// hidden reports whether the reader's clearance or a grant hides the document from it, whatever
// the key may manage.
func hidden(found store.AccessFindings) bool {
	return slices.ContainsFunc(found.Rules, func(r store.RuleFinding) bool {
		return !r.Holds && (r.Rule == store.RuleLevel || r.Rule == store.RuleDenial)
	})
}

// ofGrants returns the reasons that come from the grants on reading of one effect.
func ofGrants(found store.AccessFindings, effect knowledge.GrantEffect) []Reason {
	var reasons []Reason
	for _, g := range found.Grants {
		if g.Effect != effect || effect == knowledge.GrantDeny && g.Permission == knowledge.GrantWrite {
			continue
		}
		reason := Reason{"grant", g.ID, Effect(effect), "a grant " + verb(effect) + " " + phraseOf(g.Subject, "the user", "the group", "keys and members of the project") + " " +
			phraseOf(g.Object, "the document", "documents with the tag", "documents of the project")}
		if !g.ExpiresAt.IsZero() {
			reason.Detail += ", until " + g.ExpiresAt.Format(time.RFC3339)
		}
		if g.Reason != "" {
			reason.Detail += ": " + g.Reason
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

func verb(effect knowledge.GrantEffect) string {
	if effect == knowledge.GrantDeny {
		return "denies"
	}
	return "allows"
}

// phraseOf returns the words for a token of a grant: of a user or a document, a group or a tag,
// or a project.
func phraseOf(token, first, second, project string) string {
	kind, name, _ := strings.Cut(token, ":")
	words := map[string]string{"u": first, "d": first, "g": second, "t": second, "p": project}[kind]
	return fmt.Sprintf("%s %q", words, name)
}
