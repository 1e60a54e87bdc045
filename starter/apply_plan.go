package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// projectPlan is what makes a project as a file has it.
type projectPlan struct {
	Project string   `json:"project"`
	Changes []string `json:"changes"` // in words

	id    string // "" = the first step makes the project
	steps []func(ctx context.Context, c *client.Client) error
}

func (p *projectPlan) apply(ctx context.Context, c *client.Client) error {
	for _, step := range p.steps {
		if err := step(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// add adds a change and the step that makes it.
func (p *projectPlan) add(step func(ctx context.Context, c *client.Client) error, format string, args ...any) {
	p.Changes, p.steps = append(p.Changes, fmt.Sprintf(format, args...)), append(p.steps, step)
}

// planProject compares a project of a file with that of the server.
func planProject(ctx context.Context, c *client.Client, want projectFile) (*projectPlan, error) {
	has, err := findProject(ctx, c, want)
	if err != nil {
		return nil, err
	}
	p := &projectPlan{Project: want.called(), Changes: []string{}, id: has.ID}
	if err := p.planSettings(want, has); err != nil {
		return nil, err
	}
	if err := p.planTestSets(ctx, c, want.TestSets); err != nil {
		return nil, err
	}
	return p, p.planSyncs(ctx, c, want.Syncs)
}

// findProject returns the project of the server, and one without an id if there is none.
func findProject(ctx context.Context, c *client.Client, want projectFile) (client.Project, error) {
	if want.ID != "" {
		found, err := c.Project(ctx, want.ID)
		if client.IsCode(err, knowledge.CodeNotFound) {
			err = nil
		}
		return found, err
	}
	all, err := allProjects(ctx, c)
	if err != nil {
		return client.Project{}, err
	}
	var matches []match
	for _, one := range all {
		if one.Name == want.Name {
			matches = append(matches, match{one.ID, one.Name})
		}
	}
	if len(matches) == 0 {
		return client.Project{}, nil
	}
	id, err := only(matches, "project", want.Name, "cairn projects list")
	if err != nil {
		return client.Project{}, err
	}
	return c.Project(ctx, id)
}

// planSettings plans one request that makes the project or changes its settings.
func (p *projectPlan) planSettings(want projectFile, has client.Project) error {
	change := client.Project{ID: has.ID, Name: want.Name}
	if has.ID == "" {
		change.Slug, change.Name = want.ID, firstOf(want.Name, want.ID)
		p.Changes = append(p.Changes, "+ project "+want.called())
	} else if want.Name != "" && want.Name != has.Name {
		p.Changes = append(p.Changes, fmt.Sprintf("~ name: %s → %s", has.Name, want.Name))
	}
	there := map[string]json.RawMessage{"ai": has.AI, "tools": has.Tools, "limits": has.Limits, "privacy": has.Privacy, "retention": has.Retention, "pipeline": has.Pipeline}
	parts := map[string]*json.RawMessage{"ai": &change.AI, "tools": &change.Tools, "limits": &change.Limits, "privacy": &change.Privacy, "retention": &change.Retention, "pipeline": &change.Pipeline}
	settings := want.settings()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		var now any
		if len(there[name]) > 0 {
			if err := json.Unmarshal(there[name], &now); err != nil {
				return fmt.Errorf("read %s of project %s: %w", name, p.Project, err)
			}
		}
		encoded, wanted, err := decoded(settings[name])
		if err != nil {
			return err
		}
		if differences := settingChanges(name, now, wanted); len(differences) > 0 {
			p.Changes, *parts[name] = append(p.Changes, differences...), encoded
		}
	}
	if err := p.planWebhooks(&change, want.Webhooks, has.Webhooks); err != nil {
		return err
	}
	if len(p.Changes) > 0 {
		p.steps = append(p.steps, func(ctx context.Context, c *client.Client) error {
			saved, err := c.SaveProject(ctx, change)
			if err == nil {
				p.id = saved.ID
			}
			return err
		})
	}
	return nil
}

// decoded returns a value as JSON, and as JSON decodes it.
func decoded(v any) (encoded json.RawMessage, value any, err error) {
	if encoded, err = json.Marshal(v); err != nil {
		return nil, nil, wrongUse("a setting cannot be sent: %v", err)
	}
	return encoded, value, json.Unmarshal(encoded, &value)
}

// settingChanges describes where now differs from what is wanted. Of objects it compares the
// fields that are wanted, of other values the whole.
func settingChanges(path string, now, want any) (changes []string) {
	fields, isObject := want.(map[string]any)
	had, wasObject := now.(map[string]any)
	switch {
	case isObject && (wasObject || now == nil):
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			changes = append(changes, settingChanges(path+"."+name, had[name], fields[name])...)
		}
	case reflect.DeepEqual(now, want), now == nil && reflect.DeepEqual(want, []any{}):
	case now == nil:
		changes = append(changes, fmt.Sprintf("+ %s: %s", path, compactJSON(want)))
	case want == nil:
		changes = append(changes, fmt.Sprintf("- %s: %s", path, compactJSON(now)))
	default:
		changes = append(changes, fmt.Sprintf("~ %s: %s → %s", path, compactJSON(now), compactJSON(want)))
	}
	return changes
}

// compactJSON is a value in a line.
func compactJSON(v any) string {
	const most = 60 // characters
	encoded, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if text := []rune(string(encoded)); len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(encoded)
}

// planWebhooks plans that a project has the webhooks of the file and no others. nil = the file
// does not name any.
func (p *projectPlan) planWebhooks(change *client.Project, want []fileWebhook, encoded json.RawMessage) error {
	if want == nil {
		return nil
	}
	var has []fileWebhook
	if len(encoded) > 0 {
		if err := json.Unmarshal(encoded, &has); err != nil {
			return fmt.Errorf("read the webhooks of project %s: %w", p.Project, err)
		}
	}
	before := len(p.Changes)
	for _, w := range want {
		at := slices.IndexFunc(has, func(h fileWebhook) bool { return h.URL == w.URL })
		switch {
		case at < 0:
			p.Changes = append(p.Changes, "+ webhook "+w.URL)
		case !has[at].has(w):
			p.Changes = append(p.Changes, "~ webhook "+w.URL)
		}
	}
	for _, h := range has {
		if !slices.ContainsFunc(want, func(w fileWebhook) bool { return h.URL == w.URL }) {
			p.Changes = append(p.Changes, "- webhook "+h.URL)
		}
	}
	if len(p.Changes) == before {
		return nil
	}
	all, err := json.Marshal(want)
	change.Webhooks = all
	return err
}

// has reports whether a webhook is as a file wants it.
func (h fileWebhook) has(want fileWebhook) bool {
	is := func(now, want *bool, unset bool) bool {
		return want == nil || *want == (now != nil && *now || now == nil && unset)
	}
	return slices.Equal(slices.Sorted(slices.Values(h.Types)), slices.Sorted(slices.Values(want.Types))) &&
		is(h.Enabled, want.Enabled, true) && is(h.Required, want.Required, false)
}

// planTestSets plans the test sets whose questions differ.
func (p *projectPlan) planTestSets(ctx context.Context, c *client.Client, want []fileTestSet) error {
	for _, s := range want {
		if p.id != "" {
			known, err := c.TestSets(ctx, p.id, s.Name, "", 1)
			if err != nil {
				return err
			}
			if len(known.Data) > 0 && known.Data[0].Hash == evaluate.Version(s.read) {
				continue
			}
		}
		p.add(func(ctx context.Context, c *client.Client) error {
			_, err := storeTestSet(ctx, c, p.id, s.Name, s.read)
			return err
		}, "~ test set %s: %d questions", s.Name, len(s.read))
	}
	return nil
}
