package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// fullID is the form of the ids of documents, runs, imports and keys, and idStart of what may
// be the beginning of one.
var (
	fullID  = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	idStart = regexp.MustCompile(`^[0-9a-f-]{4,35}$`)
)

// mostMatches is the number of documents that are looked at when one is named.
const mostMatches = 20

// defaultProject is the project that every workspace has.
const defaultProject = "default"

// documentID returns the id of the document that a person names by its id, its external
// id, its name, or a beginning of its id that no other has. An external id has precedence.
func documentID(ctx context.Context, c *client.Client, name string) (string, error) {
	if fullID.MatchString(name) {
		return name, nil
	}
	return findDocument(ctx, c, name)
}

func findDocument(ctx context.Context, c *client.Client, name string) (string, error) {
	list, err := c.Documents(ctx, client.DocumentQuery{Named: name, Limit: mostMatches})
	if err != nil {
		return "", err
	}
	found := list.Documents
	exact := slices.DeleteFunc(slices.Clone(found), func(d client.Document) bool { return d.ExternalID != name && d.ID != name })
	if len(exact) > 0 {
		found = exact
	}
	matches := make([]match, 0, len(found))
	for _, d := range found {
		text := d.Name
		if d.ExternalID != d.Name {
			text += ", external id " + d.ExternalID
		}
		matches = append(matches, match{d.ID, text})
	}
	return only(matches, "document", name, "cairn documents list")
}

// documentIDs returns the ids of several documents, as documentID.
func documentIDs(ctx context.Context, c *client.Client, names []string) ([]string, error) {
	ids := make([]string, 0, len(names))
	for _, name := range names {
		id, err := documentID(ctx, c, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// withDocument calls the server for the document that a person names. An external id may
// have the form of an id, so what is no id is looked for in the second place.
func withDocument[T any](ctx context.Context, c *client.Client, name string, call func(id string) (T, error)) (T, error) {
	id, err := documentID(ctx, c, name)
	if err != nil {
		var none T
		return none, err
	}
	answer, err := call(id)
	if id != name || !client.IsCode(err, knowledge.CodeNotFound) {
		return answer, err
	}
	if id, other := findDocument(ctx, c, name); other == nil && id != name {
		return call(id)
	}
	return answer, err
}

// projectID returns the id of the project that a person names by its id, its name, or a
// beginning of its id that no other has. It does not ask the server about the default one.
func projectID(ctx context.Context, c *client.Client, name string) (string, error) {
	if name == "" || name == defaultProject {
		return name, nil
	}
	p, err := c.Project(ctx, name)
	switch {
	case err == nil:
		return p.ID, nil
	case client.IsCode(err, knowledge.CodeForbidden):
		return name, nil // the command itself may be allowed
	case !client.IsCode(err, knowledge.CodeNotFound) && !client.IsCode(err, knowledge.CodeConflict):
		return "", err
	}
	all, err := allProjects(ctx, c)
	if err != nil {
		return "", err
	}
	var matches []match
	for _, p := range all {
		if p.Name == name || strings.HasPrefix(p.ID, name) {
			matches = append(matches, match{p.ID, p.Name})
		}
	}
	return only(matches, "project", name, "cairn projects list")
}

// connectProject connects, and replaces what a person calls a project by its id.
func (f clientFlags) connectProject(ctx context.Context, project *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*project, err = projectID(ctx, c, *project)
	}
	return c, err
}

// connectRun connects, and replaces the beginning of a run's id by the id.
func (f clientFlags) connectRun(ctx context.Context, run *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*run, err = fromStart(*run, "run", func(cursor string, limit int) (client.List[client.Run], error) {
			return c.Runs(ctx, client.RunQuery{Cursor: cursor, Limit: limit})
		}, func(r client.Run) match { return match{r.ID, r.Kind + ", " + terminal.Time(r.CreatedAt)} })
	}
	return c, err
}

// connectImport connects, and replaces the beginning of an import's id by the id.
func (f clientFlags) connectImport(ctx context.Context, id *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*id, err = fromStart(*id, "import", func(cursor string, limit int) (client.List[client.Import], error) {
			return c.Imports(ctx, "", cursor, limit)
		}, func(i client.Import) match { return match{i.ID, i.Source.URI} })
	}
	return c, err
}

// connectKey connects, and replaces the beginning of a key's id by the id.
func (f clientFlags) connectKey(ctx context.Context, id *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*id, err = fromStart(*id, "key", func(cursor string, limit int) (client.List[client.Key], error) {
			return c.Keys(ctx, cursor, limit)
		}, func(k client.Key) match { return match{k.ID, k.Name} })
	}
	return c, err
}

// connectEvaluation connects, and replaces the beginnings of the ids of evaluations by the ids.
func (f clientFlags) connectEvaluation(ctx context.Context, ids ...*string) (*client.Client, error) {
	c, err := f.connect()
	for _, id := range ids {
		if err == nil {
			*id, err = fromStart(*id, "evaluation", func(cursor string, limit int) (client.List[client.Evaluation], error) {
				return c.Evaluations(ctx, "", cursor, limit)
			}, func(e client.Evaluation) match { return match{e.ID, e.TestSetName + ", " + terminal.Time(e.CreatedAt)} })
		}
	}
	return c, err
}

// connectTestSet connects, and replaces the beginning of a test set's id by the id.
func (f clientFlags) connectTestSet(ctx context.Context, id *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*id, err = fromStart(*id, "test-set", func(cursor string, limit int) (client.List[client.TestSet], error) {
			return c.TestSets(ctx, "", "", cursor, limit)
		}, func(s client.TestSet) match { return match{s.ID, s.Name} })
	}
	return c, err
}

// connectGrant is connectKey for a grant.
func (f clientFlags) connectGrant(ctx context.Context, id *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*id, err = fromStart(*id, "grant", func(cursor string, limit int) (client.List[client.Grant], error) {
			return c.Grants(ctx, nil, cursor, limit)
		}, func(g client.Grant) match { return match{g.ID, g.Effect + " " + g.Permission} })
	}
	return c, err
}

// connectHold is connectKey for a legal hold.
func (f clientFlags) connectHold(ctx context.Context, id *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*id, err = fromStart(*id, "hold", func(cursor string, limit int) (client.List[client.Hold], error) {
			return c.Holds(ctx, false, "", cursor, limit)
		}, func(h client.Hold) match { return match{h.ID, h.Name} })
	}
	return c, err
}

// connectConsent is connectKey for a consent.
func (f clientFlags) connectConsent(ctx context.Context, id *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*id, err = fromStart(*id, "consent", func(cursor string, limit int) (client.List[client.Consent], error) {
			return c.Consents(ctx, "", false, cursor, limit)
		}, func(consent client.Consent) match { return match{consent.ID, consent.Subject} })
	}
	return c, err
}

// newestItems is the number of runs, imports or keys among which a beginning of an id is
// looked for.
const newestItems = pageSize

// fromStart returns the id that begins with start, of the newest items of a list. A text
// that cannot be the beginning of an id is returned as it is.
func fromStart[T any](start, thing string, list func(cursor string, limit int) (client.List[T], error), describe func(T) match) (string, error) {
	if !idStart.MatchString(start) {
		return start, nil
	}
	newest, err := list("", newestItems)
	if err != nil {
		return "", err
	}
	var matches []match
	for _, item := range newest.Data {
		if m := describe(item); strings.HasPrefix(m.id, start) {
			matches = append(matches, m)
		}
	}
	return only(matches, thing, start, "cairn "+thing+"s list")
}

// match is a thing that a name may mean.
type match struct{ id, text string }

// only returns the id of the one match. Several, or none, are an error that shows them.
func only(matches []match, thing, name, list string) (string, error) {
	switch len(matches) {
	case 0:
		named := "the id or the name"
		if thing != "document" && thing != "project" {
			named = "an id that begins with"
		}
		return "", fmt.Errorf("not_found: no %s has %s %q; %s shows them", thing, named, terminal.Shorten(name, 200), list)
	case 1:
		return matches[0].id, nil
	}
	text := fmt.Sprintf("%q names several %ss; give the id, or more of it:", terminal.Shorten(name, 200), thing)
	for _, m := range matches {
		text += fmt.Sprintf("\n  %s  %s", m.id, m.text)
	}
	return "", fmt.Errorf("%s", text)
}
