package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// ModelNames knows the names of the instance's chat models. It is safe for concurrent use.
type ModelNames interface {
	// Unlisted returns which of the names no endpoint has. Its error means that the endpoint
	// did not say.
	Unlisted(ctx context.Context, names []string) ([]model.Unlisted, error)
}

// checkModels refuses chat models that a change of a project's configuration names and that the
// endpoint does not list. If the endpoint does not say which it has, the change is stored with a
// notice: an outage of the endpoint would stop all changes otherwise.
func (ps *projectSettings) checkModels(ctx context.Context, before knowledge.ProjectConfig, c ProjectChange) ([]settingNotice, error) {
	if ps.models == nil || len(ps.has.ChatModels) > 0 || len(c.AI) == 0 { // apply checks the names of an instance that has only these
		return nil, nil
	}
	change, err := json.Marshal(ProjectChange{AI: c.AI})
	if err != nil {
		return nil, fmt.Errorf("encode change: %w", err)
	}
	changed, err := before.With(change)
	if err != nil {
		return nil, fmt.Errorf("read change: %w", err)
	}
	named := changed.AI.NewModels("ai", before.AI)
	names := convert(named, func(n knowledge.NamedModel) string { return n.Name })
	unlisted, err := ps.models.Unlisted(ctx, names)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("list the models of the endpoint: %w", err)
		}
		edge.RequestLog(ctx).WarnContext(ctx, "the chat models of a project are not checked", "models", names, "error", err)
		return convert(named, notChecked), nil
	}
	var wrong []knowledge.Field
	for _, n := range named {
		for _, u := range unlisted {
			if u.Name == n.Name {
				wrong = append(wrong, knowledge.Field{Location: "body." + n.Location, Message: notListed(u)})
			}
		}
	}
	return nil, knowledge.InvalidFields(wrong)
}

// notChecked returns the notice of a name that the endpoint could not be asked for.
func notChecked(n knowledge.NamedModel) settingNotice {
	return settingNotice{
		Field: n.Location, Code: "model_not_checked",
		Message: knowledge.Messagef("the endpoint of models.chat did not say whether it has the model %s; ask the project a question to see whether it answers", n.Name),
	}
}

// notListed returns what is wrong with the name of a model.
func notListed(u model.Unlisted) string {
	alike := convert(u.Alike, func(name string) string { return knowledge.Cut(knowledge.Visible(name), 60) })
	return knowledge.Messagef("names the model %s, which the endpoint of models.chat does not list; set one that it lists, such as %s, or leave it out for the model of the instance", u.Name, strings.Join(alike, ", "))
}
