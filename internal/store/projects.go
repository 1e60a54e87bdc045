package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// projectStore has the projects.
type projectStore struct {
	*database
	names *generationNames
}

type projectRow struct {
	bun.BaseModel `bun:"table:projects,alias:p"`
	Workspace     string `bun:"workspace,pk"`
	ID            string `bun:"id,pk"`
	Name          string `bun:"name"`
	Config        string `bun:"config"`
	Webhooks      string `bun:"webhooks"` // JSON; "" = none
	Callback      string `bun:"callback_secret"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`
	Generation    string `bun:"generation"`   // of vectors, that searches read
	Filling       string `bun:"filling"`      // of vectors, that a reindex fills; "" = none
	Removing      string `bun:"removing_run"` // the run that removes the project, "" = none
}

func newProjectRow(p knowledge.Project) (projectRow, error) {
	config, err := json.Marshal(p.Config)
	if err != nil {
		return projectRow{}, fmt.Errorf("encode configuration of project %s: %w", p.ID, err)
	}
	webhooks := ""
	if len(p.Webhooks) > 0 {
		if webhooks, err = encode(p.Webhooks); err != nil {
			return projectRow{}, fmt.Errorf("encode webhooks of project %s: %w", p.ID, err)
		}
	}
	return projectRow{
		Workspace: p.Workspace, ID: p.ID, Name: p.Name, Config: string(config), Webhooks: webhooks, Callback: p.CallbackSecret,
		CreatedAt: micros(p.CreatedAt), UpdatedAt: micros(p.UpdatedAt), Generation: p.Generations.Serving, Filling: p.Generations.Filling,
	}, nil
}

func (r projectRow) project() (knowledge.Project, error) {
	p := knowledge.Project{
		ID: r.ID, Workspace: r.Workspace, Name: r.Name, CallbackSecret: r.Callback,
		CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
		Generations: knowledge.Generations{Serving: r.Generation, Filling: r.Filling},
	}
	if err := json.Unmarshal([]byte(r.Config), &p.Config); err != nil {
		return p, fmt.Errorf("decode configuration of project %s: %w", r.ID, err)
	}
	if err := decode(field{r.Webhooks, &p.Webhooks}); err != nil {
		return p, fmt.Errorf("decode webhooks of project %s: %w", r.ID, err)
	}
	return p, nil
}

// CreateProject makes a project, with keys to it; one with its id is a conflict,
// and a workspace that does not exist is not found.
func (s *projectStore) CreateProject(ctx context.Context, p knowledge.Project, keys ...Key) error {
	p.CreatedAt = s.orNow(p.CreatedAt)
	if p.UpdatedAt.IsZero() {
		p.UpdatedAt = p.CreatedAt
	}
	p.Generations.Serving = cmp.Or(p.Generations.Serving, s.names.wanted(p.Config))
	row, err := newProjectRow(p)
	if err != nil {
		return err
	}
	rows := make([]keyRow, len(keys))
	for i, k := range keys {
		k.Workspace, k.Project, k.CreatedAt = p.Workspace, p.ID, s.orNow(k.CreatedAt)
		if rows[i], err = newKeyRow(k); err != nil {
			return err
		}
	}
	return s.write(ctx, "create project "+p.ID, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "DELETE FROM projects WHERE workspace = ? AND id = ? AND removing_run = ?", p.Workspace, p.ID, projectGone)
		if err != nil {
			return err
		}
		_, err = tx.NewInsert().Model(&row).Exec(ctx)
		switch {
		case isDuplicate(err):
			return knowledge.Errorf(knowledge.CodeConflict, "there is a project %q already, or it is still being removed: update it, or choose another id", p.ID).WithCause(err)
		case isOrphan(err):
			return knowledge.NotFound("workspace", p.Workspace)
		}
		for _, key := range rows {
			if err == nil {
				err = insertKey(ctx, tx, key)
			}
		}
		return err
	})
}

// UpdateProject changes the name, the configuration and the webhooks of a project, and
// returns the changed project. It cancels what is pending for a webhook that is
// disabled or removed by that. A project without published documents gets the
// generation of vectors that its configuration asks for; others keep theirs until a
// reindex has filled it. change receives the present one in the same transaction, so that no
// concurrent change is lost; its error is returned.
func (s *projectStore) UpdateProject(ctx context.Context, p knowledge.Principal, id string, change func(*knowledge.Project) error) (knowledge.Project, error) {
	if err := requireProjectOf(p, id); err != nil {
		return knowledge.Project{}, err
	}
	var project knowledge.Project
	err := s.write(ctx, "update project "+id, func(ctx context.Context, tx transaction) error {
		row := projectRow{Workspace: p.Workspace(), ID: id}
		there, err := found(tx.NewSelect().Model(&row).WherePK().Where("p.removing_run = ''").Scan(ctx))
		if err == nil && !there {
			err = knowledge.NotFound("project", id)
		}
		if err != nil {
			return err
		}
		if project, err = row.project(); err != nil {
			return err
		}
		webhooks, before := slices.Clone(project.Webhooks), project.Generations.Serving
		if err := change(&project); err != nil {
			return err
		}
		if row, err = newProjectRow(project); err != nil {
			return err
		}
		_, err = tx.NewUpdate().Model(&row).Column("name", "config", "webhooks", "callback_secret", "updated_at").WherePK().Exec(ctx)
		if err != nil {
			return err
		}
		if wanted := s.names.wanted(project.Config); wanted != before {
			if err := adoptGeneration(ctx, tx, p.Workspace(), id, wanted); err != nil {
				return err
			}
			if project.Generations, err = s.names.of(ctx, tx, p.Workspace(), id); err != nil {
				return err
			}
		}
		return cancelDeliveries(ctx, tx, webhooks, project.Webhooks)
	})
	return project, err
}

// Project returns the project with this id, or else the one with this name. A name
// that several projects have is a conflict.
func (s *projectStore) Project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error) {
	if err := requireWorkspace(p); err != nil {
		return knowledge.Project{}, err
	}
	rows, err := projectTable.all(ctx, s.reader, "p.workspace = ?1 AND (p.id = ?2 OR p.name = ?2) AND (?3 = '' OR p.id = ?3) AND p.removing_run = '' ORDER BY p.id = ?2 DESC LIMIT 2",
		p.Workspace(), idOrName, p.Project())
	if err != nil {
		return knowledge.Project{}, fmt.Errorf("read project %s: %w", idOrName, failure(err))
	}
	switch {
	case len(rows) == 0:
		return knowledge.Project{}, knowledge.NotFound("project", idOrName)
	case len(rows) > 1 && rows[0].ID != idOrName:
		return knowledge.Project{}, knowledge.Errorf(knowledge.CodeConflict, "several projects are named %q: use the id", idOrName)
	}
	return rows[0].project()
}

// maxNamesakes is how many projects of one name are returned.
const maxNamesakes = 100

// ProjectsNamed returns the ids of the projects with this name that the principal covers,
// oldest first, 100 at most.
func (s *projectStore) ProjectsNamed(ctx context.Context, p knowledge.Principal, name string) ([]string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	var ids []string
	q := s.reader.NewSelect().Model((*projectRow)(nil)).Column("p.id").
		Where("p.workspace = ? AND p.name = ? AND p.removing_run = ''", p.Workspace(), name)
	if p.Project() != "" {
		q = q.Where("p.id = ?", p.Project())
	}
	if err := q.OrderExpr("p.created_at, p.id").Limit(maxNamesakes).Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("list the projects named %q: %w", name, failure(err))
	}
	return ids, nil
}

// FindProjects lists those of Projects whose name and id together contain each of the words.
// A page may have fewer projects than its limit, or none, and yet a cursor.
func (s *projectStore) FindProjects(ctx context.Context, p knowledge.Principal, words string, page Page) ([]knowledge.Project, string, error) {
	wanted := foundWords(words)
	return findIn(page, func(page Page) ([]knowledge.Project, string, error) {
		return s.Projects(ctx, p, page)
	}, func(project *knowledge.Project) (bool, error) {
		named := strings.Join(foundWords(project.Name, project.ID), " ")
		return !slices.ContainsFunc(wanted, func(word string) bool { return !strings.Contains(named, word) }), nil
	}, projectPosition)
}

// projectPosition returns the place of a project in the list of Projects.
func projectPosition(p knowledge.Project) position {
	return position{List: "projects", Order: micros(p.CreatedAt), ID: p.ID}
}

// Projects lists the projects that the principal covers, newest first.
func (s *projectStore) Projects(ctx context.Context, p knowledge.Principal, page Page) ([]knowledge.Project, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	var rows []projectRow
	q := s.reader.NewSelect().Model(&rows).Where("p.workspace = ? AND p.removing_run = ''", p.Workspace())
	if p.Project() != "" {
		q = q.Where("p.id = ?", p.Project())
	}
	q, limit, err := newestFirst(q, "p", "projects", page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list projects: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r projectRow) position {
		return position{List: "projects", Order: r.CreatedAt, ID: r.ID}
	})
	list, err := decodeRows(rows, (*projectRow).project)
	return list, cursor, err
}
