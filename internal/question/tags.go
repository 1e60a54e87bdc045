package question

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// projectsPage is the number of projects that are read at a time.
const projectsPage = 500

// Setup is how a question is searched and answered.
type Setup struct {
	Config   knowledge.ProjectConfig // with defaults
	Projects []string                // ids; empty = all that the principal covers
	Filter   knowledge.Filter        // of the question
	Scope    knowledge.Filter        // of the project
	Webhooks []string                // ids of those that are asked about the question
}

// Setup returns how a question of a principal is searched and answered. A document that
// it finds has one of the tags that the user chose, one of the project's, and one of
// those that are mandatory for the principal, where there are some. A question that names
// no project is not for projects where the principal has mandatory tags.
func (s *Starter) Setup(ctx context.Context, p knowledge.Principal, project knowledge.Project, r Request) (Setup, error) {
	stored, err := s.preferences(ctx, p)
	if err != nil {
		return Setup{}, err
	}
	config, err := s.configuration(project, stored, r.Override)
	if err != nil {
		return Setup{}, err
	}
	tags := r.Tags
	if len(tags) == 0 && config.AI.SelfQuery == knowledge.SelfQueryUser {
		tags = stored.RAG.Tags
	}
	setup := Setup{Config: config, Filter: slices.Concat(r.Filter, knowledge.AnyTag(tags))}
	if project.ID == "" {
		setup.Projects, err = s.unrestricted(ctx, p)
		return setup, err
	}
	setup.Projects = []string{project.ID}
	asks := r.Kind == knowledge.KindQuery || r.Kind == knowledge.KindResearch
	for _, w := range project.Webhooks {
		if asks && w.Wants(knowledge.WebhookQueries) {
			setup.Webhooks = append(setup.Webhooks, w.ID)
		}
	}
	setup.Scope = slices.Concat(knowledge.AnyTag(config.AI.Tags), knowledge.AnyTag(config.AI.MandatoryFor(p)))
	return setup, nil
}

// unrestricted returns the projects where the principal has no mandatory tags, nil if
// these are all.
func (s *Starter) unrestricted(ctx context.Context, p knowledge.Principal) ([]string, error) {
	if c := p.Claims(); c.User == "" && c.ExternalUser == "" && len(c.Groups) == 0 {
		return nil, nil // nobody for whom tags could be mandatory
	}
	var open []string
	restricted := false
	for page := (store.Page{Limit: projectsPage}); ; {
		projects, next, err := s.deps.Store.Projects(ctx, p, page)
		if err != nil {
			return nil, fmt.Errorf("read projects: %w", err)
		}
		for _, project := range projects {
			if len(project.Config.AI.MandatoryFor(p)) > 0 {
				restricted = true
			} else {
				open = append(open, project.ID)
			}
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	switch {
	case !restricted:
		return nil, nil
	case len(open) == 0:
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "every project has mandatory tags for you; name the project that the question is for")
	}
	return open, nil
}

// changedTags returns what is wrong with an override that changes to which tags a project
// restricts its questions.
func changedTags(project, overridden knowledge.AIConfig, location string) []knowledge.Field {
	var wrong []knowledge.Field
	if !reflect.DeepEqual(project.Tags, overridden.Tags) {
		wrong = append(wrong, knowledge.Field{Location: location + ".tags", Message: "cannot be changed for one question; send tags to narrow it"})
	}
	if !reflect.DeepEqual(project.MandatoryTags, overridden.MandatoryTags) {
		wrong = append(wrong, knowledge.Field{Location: location + ".mandatoryTags", Message: "cannot be changed for one question"})
	}
	return wrong
}
