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
		values := map[string]string{}
		values["subject_kind"], values["subject"] = partsOf(g.Subject, "user", "group", "project")
		values["object_kind"], values["object"] = partsOf(g.Object, "document", "tag", "project")
		reason := Reason{KindGrant, g.ID, Effect(effect), "a grant " + verb(effect) + " " + phraseOf(g.Subject, "the user", "the group", "keys and members of the project") + " " +
			phraseOf(g.Object, "the document", "documents with the tag", "documents of the project"), values}
		if !g.ExpiresAt.IsZero() {
			values["expires_at"] = g.ExpiresAt.Format(time.RFC3339)
			reason.Detail += ", until " + values["expires_at"]
		}
		if g.Reason != "" {
			values["reason"] = g.Reason
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
	words, name := partsOf(token, first, second, project)
	return fmt.Sprintf("%s %q", words, name)
}

// partsOf returns the word for the kind of a token of a grant, as phraseOf, and its name.
func partsOf(token, first, second, project string) (word, name string) {
	kind, name, _ := strings.Cut(token, ":")
	return map[string]string{"u": first, "d": first, "g": second, "t": second, "p": project}[kind], name
}
