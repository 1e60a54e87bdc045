package knowledge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestFilterMatches has the conditions of the contract of the indexes.
func TestFilterMatches(t *testing.T) {
	t.Parallel()
	documents := []knowledge.Document{
		{ID: "bare"},
		{ID: "memo", Tags: []string{"red"}, Name: "memo_100%.md", Language: "deu", Classification: "secret", CreatedAt: time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC),
			Metadata: map[string]any{"year": 2026.0, "draft": true, "teams": "sales", "date": "2026-01-15"}},
		{ID: "report", Tags: []string{"red", "blue"}, Name: "Annual Report 2025.pdf", Language: "eng", Classification: "public", CreatedAt: time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC),
			Metadata: map[string]any{"year": 2025.0, "draft": false, "teams": []any{"sales", "ops", 7.0}, "date": "2025-03-01", "a.b": "dotted", "nothing": nil}},
	}
	for _, test := range []struct {
		field string
		op    knowledge.Operator
		value any
		want  string
	}{
		{"tags", "eq", "blue", "report"},
		{"tags", "ne", "blue", "bare memo"},
		{"tags", "in", []any{"blue", "green"}, "report"},
		{"tags", "in", []string{"red"}, "memo report"},
		{"tags", "nin", []any{"blue", "green"}, "bare memo"},
		{"tags", "contains", "red", "memo report"},
		{"tags", "contains", []any{"red", "blue"}, "report"},
		{"tags", "exists", false, "bare"},
		{"tags", "eq", "", ""},
		{"tags", "contains", "", ""},
		{"documentId", "in", []string{"memo", "bare", "gone"}, "bare memo"},
		{"name", "contains", "Report", "report"},
		{"name", "ne", "memo_100%.md", "bare report"},
		{"name", "exists", false, "bare"},
		{"language", "exists", nil, "memo report"},
		{"language", "contains", "", "memo report"},
		{"classification", "eq", "", ""},
		{"classification", "ne", "", "bare memo report"},
		{"createdAt", "eq", "2025-03-01T13:00:00+01:00", "report"},
		{"createdAt", "ne", "2026-01-15", "bare report"},
		{"createdAt", "lte", "2026-01-15", "memo report"},
		{"createdAt", "exists", false, "bare"},
		{"metadata.year", "eq", "2025", ""},
		{"metadata.year", "gt", 2025.0, "memo"},
		{"metadata.year", "gt", "0", ""},
		{"metadata.year", "lt", 2025.5, "report"},
		{"metadata.date", "gte", "2025-06-01", "memo"},
		{"metadata.draft", "eq", 1.0, ""},
		{"metadata.draft", "ne", true, "bare report"},
		{"metadata.teams", "contains", "sales", "memo report"},
		{"metadata.teams", "contains", "ale", "memo"},
		{"metadata.teams", "contains", 7.0, "report"},
		{"metadata.teams", "eq", "sales", "memo"},
		{"metadata.nothing", "exists", true, ""},
		{"metadata.a.b", "eq", "dotted", "report"},
	} {
		filter := knowledge.Filter{{Field: test.field, Type: test.op, Value: test.value}}
		var got []string
		for _, d := range documents {
			if filter.Matches(d) {
				got = append(got, d.ID)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s %s %v: %v, want %s", test.field, test.op, test.value, got, test.want)
		}
	}
	both := knowledge.Filter{{Field: "tags", Type: "eq", Value: "red"}, {Field: "metadata.year", Type: "gt", Value: 2025.0}}
	if !both.Matches(documents[1]) || both.Matches(documents[2]) || !(knowledge.Filter{}).Matches(documents[0]) {
		t.Error("not all conditions hold")
	}
}
