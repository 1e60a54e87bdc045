package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// UsageBy names to whom usage is attributed.
type UsageBy string

// The owners of usage. A run has one owner: the person for whom it was started, or the key
// that started it for nobody.
const (
	UsageByProject UsageBy = "project"
	UsageByKey     UsageBy = "key"
	UsageByUser    UsageBy = "user"
)

// OwnedUsage is the usage of a project, a key or a person.
type OwnedUsage struct {
	ID   string // "" = the runs that belong to none
	Name string // "" = it is not known any more
	Days []knowledge.DayUsage
}

// usedRuns begins a query of what the runs used that began in [from, to). The calls that an
// answer made in another project are in the usage of that answer, and are counted there
// alone.
func (s *projectStore) usedRuns(from, to time.Time) *bun.SelectQuery {
	return s.reader.NewSelect().Model((*runRow)(nil)).Column("r.project", "r.owner", "r.kind", "r.status", "r.created_at", "r.ended_at", "r.usage").
		ColumnExpr("COALESCE(i.published, 0)").Join("LEFT JOIN imports AS i ON i.run_id = r.id AND r.kind = 'import'").
		Where("r.created_at >= ? AND r.created_at < ? AND r.usage <> '' AND r.parent = ''", micros(from), micros(to))
}

// usageSums are sums by day, model, and the currency of the costs.
type usageSums map[string]*knowledge.DayUsage

// addUsed adds the run of a row of usedRuns to the sums of its owner.
func addUsed(rows *sql.Rows, sumsOf func(project, owner string) usageSums) error {
	var row runRow
	var imported int
	if err := rows.Scan(&row.Project, &row.Owner, &row.Kind, &row.Status, &row.CreatedAt, &row.EndedAt, &row.Usage, &imported); err != nil {
		return failure(err)
	}
	var used knowledge.RunUsage
	if err := json.Unmarshal([]byte(row.Usage), &used); err != nil {
		return fmt.Errorf("decode the usage of a run of project %s: %w", row.Project, err)
	}
	sums, day := sumsOf(row.Project, row.Owner), fromMicros(row.CreatedAt).UTC().Format(time.DateOnly)
	key := day + " " + used.Model + " " + used.Currency
	sum := sums[key]
	if sum == nil {
		sum = &knowledge.DayUsage{Day: day, RunUsage: knowledge.RunUsage{Model: used.Model}}
		sums[key] = sum
	}
	sum.Runs++
	sum.Documents += imported
	sum.Add(used.Usage)
	switch {
	case row.Kind == knowledge.KindQuery, row.Kind == knowledge.KindResearch:
		sum.Questions++
	case row.Kind == knowledge.KindIngest && row.Status == knowledge.RunCompleted:
		sum.Documents++
	}
	if !row.Kind.Traits().Answers && row.EndedAt > row.CreatedAt {
		used.Seconds = fromMicros(row.EndedAt).Sub(fromMicros(row.CreatedAt)).Seconds()
	}
	sum.Seconds = math.Round(1000*(sum.Seconds+used.Seconds)) / 1000
	return nil
}

// days returns the sums by their day, model and currency.
func (s usageSums) days() []knowledge.DayUsage {
	list := []knowledge.DayUsage{}
	for _, key := range slices.Sorted(maps.Keys(s)) {
		list = append(list, *s[key])
	}
	return list
}

// ProjectUsage returns what the runs of a project used that began in [from, to), by the
// day in UTC, the model, and the currency of the costs, in this order. A project that the principal does not cover is
// CodeNotFound.
func (s *projectStore) ProjectUsage(ctx context.Context, p knowledge.Principal, idOrName string, from, to time.Time) ([]knowledge.DayUsage, error) {
	project, err := s.Project(ctx, p, idOrName)
	if err != nil {
		return nil, err
	}
	sums := usageSums{}
	q := s.usedRuns(from, to).Where("r.workspace = ? AND r.project = ?", project.Workspace, project.ID)
	if err := eachUsed(ctx, q, func(string, string) usageSums { return sums }); err != nil {
		return nil, fmt.Errorf("read the usage of project %s: %w", project.ID, err)
	}
	return sums.days(), nil
}

func eachUsed(ctx context.Context, q *bun.SelectQuery, sumsOf func(project, owner string) usageSums) error {
	rows, err := q.Rows(ctx)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := addUsed(rows, sumsOf); err != nil {
			return err
		}
	}
	return failure(rows.Err())
}

// Usage is ProjectUsage for each project, key or person whose runs the principal covers, in
// the order of their ids. It needs the permission usage.read. Of a run that a key started for a person
// the key is not known.
func (s *projectStore) Usage(ctx context.Context, p knowledge.Principal, by UsageBy, from, to time.Time) ([]OwnedUsage, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	if !p.May(knowledge.UsageRead) {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "reading the usage of a workspace needs the permission usage.read")
	}
	names, err := s.usageNames(ctx, p, by)
	if err != nil {
		return nil, fmt.Errorf("read the names for usage: %w", failure(err))
	}
	owned := map[string]usageSums{}
	err = eachUsed(ctx, within(s.usedRuns(from, to), "r", p), func(project, owner string) usageSums {
		id := usageOwner(by, project, owner)
		if owned[id] == nil {
			owned[id] = usageSums{}
		}
		return owned[id]
	})
	if err != nil {
		return nil, fmt.Errorf("read usage by %s: %w", by, err)
	}
	list := []OwnedUsage{}
	for _, id := range slices.Sorted(maps.Keys(owned)) {
		name := names[id]
		if by == UsageByUser {
			_, name, _ = strings.Cut(id, ":")
		}
		list = append(list, OwnedUsage{ID: id, Name: name, Days: owned[id].days()})
	}
	return list, nil
}

// usageOwner returns to whom a run is attributed, "" = to none. owner is that of
// knowledge.Principal.Owner.
func usageOwner(by UsageBy, project, owner string) string {
	kind, id, _ := strings.Cut(owner, ":")
	switch {
	case by == UsageByProject:
		return project
	case by == UsageByKey && kind == "k":
		return id
	case by == UsageByUser && kind == "u":
		return "user:" + id
	case by == UsageByUser && kind == "x":
		return "externalUser:" + id
	}
	return ""
}

// usageNames returns the names of projects or keys by their ids.
func (s *projectStore) usageNames(ctx context.Context, p knowledge.Principal, by UsageBy) (map[string]string, error) {
	query := map[UsageBy]string{
		UsageByProject: "SELECT id, name FROM projects WHERE workspace = ?",
		UsageByKey:     "SELECT id, name FROM api_keys WHERE workspace = ?",
	}[by]
	names := map[string]string{}
	if query == "" {
		return names, nil
	}
	err := each(ctx, s.reader, query, []any{p.Workspace()}, func(rows *sql.Rows) error {
		var id, name string
		err := rows.Scan(&id, &name)
		names[id] = name
		return err
	})
	return names, err
}
