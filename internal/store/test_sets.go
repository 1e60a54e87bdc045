package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// testSetStore has the test sets.
type testSetStore struct{ *database }

// maxTestSets bounds the test sets of a workspace.
const maxTestSets = 10_000

// TestSet is a set of questions with their expected answers. It is shared in its workspace,
// by those who may read its project.
type TestSet struct {
	ID        string
	Workspace string
	Project   string
	Name      string
	Owner     string
	Version   int    // the newest, 1 = first
	Hash      string // of the items of that version
	Count     int    // of its items
	CreatedAt time.Time
	UpdatedAt time.Time
}

// TestItems are the items of a version of a test set, as JSON. The store does not read them.
type TestItems struct {
	Items json.RawMessage
	Count int
	Hash  string
}

type testSetRow struct {
	bun.BaseModel `bun:"table:test_sets,alias:t"`
	ID            string `bun:"id,pk"`
	Workspace     string `bun:"workspace"`
	Project       string `bun:"project"`
	Name          string `bun:"name"`
	Owner         string `bun:"owner"`
	Version       int    `bun:"version"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`

	Hash  string `bun:"hash,scanonly"`
	Count int    `bun:"count,scanonly"`
}

func (r testSetRow) testSet() TestSet {
	return TestSet{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, Name: r.Name, Owner: r.Owner, Version: r.Version, Hash: r.Hash, Count: r.Count,
		CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
	}
}

type testSetVersionRow struct {
	bun.BaseModel `bun:"table:test_set_versions,alias:v"`
	TestSet       string `bun:"test_set,pk"`
	Version       int    `bun:"version,pk"`
	Hash          string `bun:"hash"`
	Count         int    `bun:"count"`
	Items         string `bun:"items"`
	CreatedAt     int64  `bun:"created_at"`
}

// AddTestSet stores a new test set and its first version. A test set that the same owner
// stored before under this id is returned as it is. A project that the principal does not
// cover is not found.
func (s *testSetStore) AddTestSet(ctx context.Context, p knowledge.Principal, set TestSet, items TestItems) (TestSet, error) {
	if err := requireProjectOf(p, set.Project); err != nil {
		return TestSet{}, err
	}
	now := micros(s.orNow(set.CreatedAt))
	row := testSetRow{
		ID: set.ID, Workspace: p.Workspace(), Project: set.Project, Name: set.Name, Owner: p.Owner(), Version: 1, CreatedAt: now, UpdatedAt: now,
		Hash: items.Hash, Count: items.Count,
	}
	var again TestSet
	err := s.write(ctx, "add test set "+set.ID, func(ctx context.Context, tx transaction) error {
		again = TestSet{}
		var before testSetRow
		there, err := testSetTable.first(ctx, tx, &before, "t.id = ? AND t.workspace = ? AND t.owner = ?", row.ID, row.Workspace, row.Owner)
		if err != nil {
			return err
		}
		if there {
			again = before.testSet()
			return nil
		}
		if err := requireProject(ctx, tx, row.Workspace, row.Project); err != nil {
			return err
		}
		return addTestSet(ctx, tx, &row, items)
	})
	if err == nil && again.ID != "" {
		return s.TestSet(ctx, p, again.ID)
	}
	return row.testSet(), err
}

func addTestSet(ctx context.Context, tx transaction, row *testSetRow, items TestItems) error {
	count, err := tx.NewSelect().Model((*testSetRow)(nil)).Where("t.workspace = ?", row.Workspace).Count(ctx)
	if err == nil && count >= maxTestSets {
		err = knowledge.Errorf(knowledge.CodeLimitReached, "this workspace has %d test sets, which is the limit: remove one first", count)
	}
	if err == nil {
		err = testSetTable.insert(ctx, tx, row)
	}
	if isDuplicate(err) {
		return knowledge.Errorf(knowledge.CodeConflict, "there is a test set %q already", row.ID).WithCause(err)
	}
	if err != nil {
		return err
	}
	return addTestSetVersion(ctx, tx, row, items)
}

func addTestSetVersion(ctx context.Context, tx transaction, row *testSetRow, items TestItems) error {
	return testSetVersionTable.insert(ctx, tx, &testSetVersionRow{
		TestSet: row.ID, Version: row.Version, Hash: items.Hash, Count: items.Count, Items: string(items.Items), CreatedAt: row.UpdatedAt,
	})
}

// testSets begins a query of test sets with the hash and the count of their newest version.
func (s *testSetStore) testSets(rows *[]testSetRow, p knowledge.Principal) *bun.SelectQuery {
	q := s.reader.NewSelect().Model(rows).Column("t.id", "t.workspace", "t.project", "t.name", "t.owner", "t.version", "t.created_at", "t.updated_at").
		ColumnExpr("v.hash, v.count").Join("JOIN test_set_versions AS v ON v.test_set = t.id AND v.version = t.version")
	return within(q, "t", p)
}

// TestSet returns a test set of the principal's workspace and projects.
func (s *testSetStore) TestSet(ctx context.Context, p knowledge.Principal, id string) (TestSet, error) {
	if err := requireWorkspace(p); err != nil {
		return TestSet{}, err
	}
	var rows []testSetRow
	if err := s.testSets(&rows, p).Where("t.id = ?", id).Scan(ctx); err != nil {
		return TestSet{}, fmt.Errorf("read test set %s: %w", id, failure(err))
	}
	if len(rows) == 0 {
		return TestSet{}, knowledge.NotFound("test set", id)
	}
	return rows[0].testSet(), nil
}

// TestSetQuery asks for test sets. Empty fields ask for all.
type TestSetQuery struct {
	Project string
	Name    string
	Page
}

// TestSets lists test sets, newest first.
func (s *testSetStore) TestSets(ctx context.Context, p knowledge.Principal, query TestSetQuery) ([]TestSet, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	var rows []testSetRow
	q := s.testSets(&rows, p)
	if query.Project != "" {
		q = q.Where("t.project = ?", query.Project)
	}
	if query.Name != "" {
		q = q.Where("t.name = ?", query.Name)
	}
	q, limit, err := newestFirst(q, "t", "test_sets", query.Page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list test sets: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r testSetRow) position { return position{List: "test_sets", Order: r.CreatedAt, ID: r.ID} })
	return convert(rows, testSetRow.testSet), cursor, nil
}

// TestSetItems returns the items of a version of a test set, 0 = the newest.
func (s *testSetStore) TestSetItems(ctx context.Context, p knowledge.Principal, id string, version int) (TestItems, error) {
	set, err := s.TestSet(ctx, p, id)
	if err != nil {
		return TestItems{}, err
	}
	if version == 0 {
		version = set.Version
	}
	var row testSetVersionRow
	there, err := testSetVersionTable.first(ctx, s.reader, &row, "v.test_set = ? AND v.version = ?", id, version)
	if err == nil && !there {
		err = knowledge.Errorf(knowledge.CodeNotFound, "the test set %q has no version %d", id, version)
	}
	if err != nil {
		return TestItems{}, fmt.Errorf("read the items of test set %s: %w", id, failure(err))
	}
	return TestItems{Items: json.RawMessage(row.Items), Count: row.Count, Hash: row.Hash}, nil
}

// TestSetPatch changes a test set. Nil fields stay.
type TestSetPatch struct {
	Name  *string
	Items *TestItems // other items than those of the newest version make a new one
}

// UpdateTestSet changes a test set and returns it.
func (s *testSetStore) UpdateTestSet(ctx context.Context, p knowledge.Principal, id string, patch TestSetPatch) (TestSet, error) {
	if _, err := s.TestSet(ctx, p, id); err != nil {
		return TestSet{}, err
	}
	err := s.write(ctx, "change test set "+id, func(ctx context.Context, tx transaction) error {
		var row testSetRow
		there, err := testSetTable.first(ctx, tx, &row, "t.id = ? AND t.workspace = ?", id, p.Workspace())
		if err == nil && !there {
			err = knowledge.NotFound("test set", id)
		}
		if err != nil {
			return err
		}
		if patch.Name != nil {
			row.Name = *patch.Name
		}
		row.UpdatedAt = micros(s.now())
		if patch.Items != nil {
			var newest testSetVersionRow
			if _, err := testSetVersionTable.first(ctx, tx, &newest, "v.test_set = ? AND v.version = ?", id, row.Version); err != nil {
				return err
			}
			if newest.Hash != patch.Items.Hash {
				row.Version++
				if err := addTestSetVersion(ctx, tx, &row, *patch.Items); err != nil {
					return err
				}
			}
		}
		return testSetTable.update(ctx, tx, &row)
	})
	if err != nil {
		return TestSet{}, err
	}
	return s.TestSet(ctx, p, id)
}

// RemoveTestSet deletes a test set with all its versions. Evaluations keep the questions
// that they asked.
func (s *testSetStore) RemoveTestSet(ctx context.Context, p knowledge.Principal, id string) error {
	if _, err := s.TestSet(ctx, p, id); err != nil {
		return err
	}
	return s.write(ctx, "remove test set "+id, func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.NewDelete().Model((*testSetRow)(nil)).Where("id = ? AND workspace = ?", id, p.Workspace()).Exec(ctx))
		if err == nil && !there {
			err = knowledge.NotFound("test set", id)
		}
		return err
	})
}
