package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ProjectUsage returns what the runs of a project used that began in [from, to), by the
// day in UTC and the model, in this order. The calls that an answer made in another project
// are in the usage of that answer, and are counted there alone. A project that the principal
// does not cover is CodeNotFound.
func (s *projectStore) ProjectUsage(ctx context.Context, p knowledge.Principal, idOrName string, from, to time.Time) ([]knowledge.DayUsage, error) {
	project, err := s.Project(ctx, p, idOrName)
	if err != nil {
		return nil, err
	}
	rows, err := s.reader.NewSelect().Model((*runRow)(nil)).Column("kind", "created_at", "ended_at", "usage").
		Where("r.workspace = ? AND r.created_at >= ? AND r.created_at < ?", project.Workspace, micros(from), micros(to)).
		Where("r.project = ? AND r.usage <> '' AND r.parent = ''", project.ID).Rows(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the usage of project %s: %w", project.ID, failure(err))
	}
	defer rows.Close()
	sums := map[string]*knowledge.DayUsage{}
	for rows.Next() {
		var began, ended int64
		var kind knowledge.RunKind
		var text string
		if err := rows.Scan(&kind, &began, &ended, &text); err != nil {
			return nil, fmt.Errorf("read the usage of project %s: %w", project.ID, failure(err))
		}
		var used knowledge.RunUsage
		if err := json.Unmarshal([]byte(text), &used); err != nil {
			return nil, fmt.Errorf("decode the usage of a run of project %s: %w", project.ID, err)
		}
		day := fromMicros(began).UTC().Format(time.DateOnly)
		sum := sums[day+" "+used.Model]
		if sum == nil {
			sum = &knowledge.DayUsage{Day: day, RunUsage: knowledge.RunUsage{Model: used.Model}}
			sums[day+" "+used.Model] = sum
		}
		sum.Runs++
		sum.Add(used.Usage)
		if !kind.Traits().Answers && ended > began {
			used.Seconds = fromMicros(ended).Sub(fromMicros(began)).Seconds()
		}
		sum.Seconds = math.Round(1000*(sum.Seconds+used.Seconds)) / 1000
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the usage of project %s: %w", project.ID, failure(err))
	}
	list := []knowledge.DayUsage{}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, *sums[key])
	}
	return list, nil
}
