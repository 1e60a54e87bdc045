package store_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/store"
)

func TestTablesComeAfterThoseToWhichTheyRefer(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + t.TempDir() + "/cairn.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	err = s.ReadAll(t.Context(), func(m *store.Move) error {
		at := map[string]int{}
		for i, table := range m.Tables() {
			at[table.Name] = i + 1
		}
		for _, pair := range [][2]string{{"projects", "workspaces"}, {"chunks", "documents"}, {"messages", "conversations"}, {"message_chunks", "messages"}, {"import_pages", "imports"}, {"imports", "import_sources"}} {
			if at[pair[0]] == 0 || at[pair[1]] == 0 || at[pair[0]] < at[pair[1]] {
				t.Errorf("%s is table %d, %s is table %d", pair[0], at[pair[0]], pair[1], at[pair[1]])
			}
		}
		if at["goose_db_version"] != 0 || at["rate_limits"] != 0 {
			t.Error("tables of the database alone are moved")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
