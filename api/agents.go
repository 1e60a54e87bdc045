package api

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxAgents bounds the projects that checkAgents reads.
const maxAgents = 100

// checkAgents refuses agents of a project, unless they are as before, that are no projects
// which the principal can use, or that lead back to the project. A cycle that appears later
// is refused when it is asked.
func (ps *projectSettings) checkAgents(ctx context.Context, p knowledge.Principal, before knowledge.CustomTools, project knowledge.Project) error {
	custom := project.Config.Tools.Custom
	if reflect.DeepEqual(custom, before) {
		return nil
	}
	var wrong []knowledge.Field
	for _, name := range slices.Sorted(maps.Keys(custom)) {
		agent := custom[name].Agent
		if agent == nil {
			continue
		}
		message, err := ps.agentProblem(ctx, p, agent.ID, project.ID)
		if err != nil {
			return err
		}
		if message != "" {
			wrong = append(wrong, knowledge.Field{Location: "body.tools.custom." + name + ".agent.id", Message: message})
		}
	}
	return knowledge.InvalidFields(wrong)
}

// agentProblem returns what is wrong with an agent of a project.
func (ps *projectSettings) agentProblem(ctx context.Context, p knowledge.Principal, id, project string) (string, error) {
	seen := map[string]bool{}
	for next := []string{id}; len(next) > 0 && len(seen) < maxAgents; next = next[1:] {
		switch {
		case next[0] == project && len(seen) == 0:
			return "is the project itself, which cannot ask itself", nil
		case next[0] == project:
			return "asks this project in turn, by its own agents: remove one of them", nil
		case seen[next[0]]:
			continue
		}
		asked, err := ps.projects.Project(ctx, p, next[0])
		if err == nil && asked.ID != next[0] || knowledge.IsCode(err, knowledge.CodeNotFound) {
			if len(seen) == 0 {
				return "must be the id of a project that you can read", nil
			}
			seen[next[0]] = true
			continue
		}
		if err != nil {
			return "", fmt.Errorf("read project %s: %w", next[0], err)
		}
		seen[next[0]] = true
		for _, t := range asked.Config.Tools.Custom {
			if t.Agent != nil {
				next = append(next, t.Agent.ID)
			}
		}
	}
	return "", nil
}
