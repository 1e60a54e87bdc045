package indextest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
)

// filtered returns the entries for the filter tests. "bare" lacks every field
// that can be absent.
func filtered() []index.Entry {
	return []index.Entry{
		entry("report", "common", func(e *index.Entry) {
			e.Tags = []string{"red", "blue"}
			e.Name, e.Language, e.Classification = "Annual Report 2025.pdf", "eng", "public"
			e.CreatedAt = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
			e.Metadata = map[string]any{"year": 2025.0, "author": "Ada Lovelace", "draft": false,
				"teams": []any{"sales", "ops", 7.0}, "date": "2025-03-01", "a.b": "dotted", `q"uote`: "quoted", "nothing": nil}
		}),
		entry("memo", "common", func(e *index.Entry) {
			e.Tags = []string{"red"}
			e.Name, e.Language, e.Classification = "memo_100%.md", "deu", "secret"
			e.CreatedAt = time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)
			e.Metadata = map[string]any{"year": 2026.0, "author": "Grace Hopper", "draft": true,
				"teams": "sales", "date": "2026-01-15", "a": map[string]any{"b": "nested"}}
		}),
		entry("bare", "common", func(e *index.Entry) {
			e.Name, e.Language, e.CreatedAt = "", "", time.Time{}
		}),
	}
}

// oneCondition are filters of one condition, and the documents that they find.
var oneCondition = []struct {
	field string
	op    knowledge.Operator
	value any
	want  string
}{
	{"tags", "eq", "blue", "report"},
	{"tags", "eq", "red", "memo report"},
	{"tags", "eq", "re", ""},
	{"tags", "ne", "blue", "bare memo"},
	{"tags", "in", []any{"blue", "green"}, "report"},
	{"tags", "nin", []any{"blue", "green"}, "bare memo"},
	{"tags", "contains", "red", "memo report"},
	{"tags", "contains", []any{"red", "blue"}, "report"},
	{"tags", "exists", true, "memo report"},
	{"tags", "exists", false, "bare"},
	{"tags", "eq", "", ""},
	{"tags", "contains", "", ""},
	{"documentId", "eq", "memo", "memo"},
	{"documentId", "in", []string{"memo", "bare", "gone"}, "bare memo"},
	{"documentId", "nin", []any{"memo", "bare"}, "report"},
	{"name", "eq", "memo_100%.md", "memo"},
	{"name", "ne", "memo_100%.md", "bare report"},
	{"name", "contains", "Report", "report"},
	{"name", "contains", "report", ""},
	{"name", "contains", "0%", "memo"},
	{"name", "contains", "memo%md", ""},
	{"name", "exists", false, "bare"},
	{"name", "in", []any{""}, ""},
	{"name", "in", []any{"", "memo_100%.md"}, "memo"},
	{"name", "nin", []any{""}, "bare memo report"},
	{"language", "in", []any{"deu", "fra"}, "memo"},
	{"language", "exists", nil, "memo report"},
	{"language", "contains", "", "memo report"},
	{"name", "gt", "Annual Report 2025.pdf", "memo"},
	{"name", "gte", "Annual Report 2025.pdf", "memo report"},
	{"name", "lt", "memo", "report"},
	{"name", "lte", "memo_100%.md", "memo report"},
	{"name", "gt", "", "memo report"},
	{"name", "lt", "ä", "memo report"},
	{"documentId", "lt", "memo", "bare"},
	{"language", "gte", "eng", "report"},
	{"classification", "lt", "q", "report"},
	{"classification", "eq", "secret", "memo"},
	{"classification", "nin", []any{"secret"}, "bare report"},
	{"classification", "eq", "", ""},
	{"classification", "ne", "", "bare memo report"},
	{"createdAt", "eq", "2025-03-01T13:00:00+01:00", "report"},
	{"createdAt", "ne", "2026-01-15", "bare report"},
	{"createdAt", "gt", "2025-03-01T12:00:00Z", "memo"},
	{"createdAt", "gte", "2025-03-01T12:00:00Z", "memo report"},
	{"createdAt", "lt", "2026-01-15", "report"},
	{"createdAt", "lte", "2026-01-15", "memo report"},
	{"createdAt", "exists", false, "bare"},
	{"createdAt", "in", []any{"2025-03-01T13:00:00+01:00", "2024-01-01"}, "report"},
	{"createdAt", "in", []any{"1970-01-01"}, ""},
	{"createdAt", "nin", []any{"2026-01-15", "2024-01-01"}, "bare report"},
	{"createdAt", "nin", []any{"1970-01-01"}, "bare memo report"},
	{"createdAt", "ne", "1970-01-01", "bare memo report"},
	{"metadata.year", "eq", 2025.0, "report"},
	{"metadata.year", "eq", "2025", ""},
	{"metadata.year", "ne", 2025.0, "bare memo"},
	{"metadata.year", "in", []any{2024.0, 2026.0}, "memo"},
	{"metadata.year", "nin", []any{2024.0, 2026.0}, "bare report"},
	{"metadata.year", "gt", 2025.0, "memo"},
	{"metadata.year", "gte", 2025.0, "memo report"},
	{"metadata.year", "lt", 2025.5, "report"},
	{"metadata.year", "lte", 2024.0, ""},
	{"metadata.year", "gt", "0", ""},
	{"metadata.date", "gte", "2025-06-01", "memo"},
	{"metadata.date", "lt", 3000.0, ""},
	{"metadata.draft", "eq", true, "memo"},
	{"metadata.draft", "eq", 1.0, ""},
	{"metadata.draft", "ne", true, "bare report"},
	{"metadata.author", "contains", "Love", "report"},
	{"metadata.author", "contains", "%", ""},
	{"metadata.author", "contains", "", "memo report"},
	{"metadata.author", "eq", "", ""},
	{"metadata.teams", "contains", "sales", "memo report"},
	{"metadata.teams", "contains", "ale", "memo"},
	{"metadata.teams", "contains", 7.0, "report"},
	{"metadata.teams", "eq", "sales", "memo"},
	{"metadata.teams", "in", []any{"sales", "legal"}, "memo report"},
	{"metadata.teams", "in", []any{7.0}, "report"},
	{"metadata.teams", "in", []any{"ale"}, ""},
	{"metadata.teams", "nin", []any{7.0}, "bare memo"},
	{"metadata.teams", "exists", true, "memo report"},
	{"metadata.nothing", "exists", true, ""},
	{"metadata.a.b", "eq", "dotted", "report"},
	{"metadata.a.b", "exists", true, "report"},
	{`metadata.q"uote`, "eq", "quoted", "report"},
	{"metadata.year ", "exists", true, ""},
}

func testFilters(t *testing.T, open Open) {
	f := newFixture(t, open, filtered()...)
	type condition = knowledge.Condition
	for _, test := range oneCondition {
		t.Run(fmt.Sprintf("%s %s %v", test.field, test.op, test.value), func(t *testing.T) {
			f := f
			f.T = t
			filter := knowledge.Filter{condition{Field: test.field, Type: test.op, Value: test.value}}
			f.bothFind(index.Query{Principal: member(), Filter: filter}, strings.Fields(test.want)...)
		})
	}
	t.Run("a chunk has a language of its own", func(t *testing.T) {
		f := f
		f.T = t
		f.upsert(entry("contract", "common", func(e *index.Entry) { e.ChunkID = "contract-1" }),
			entry("contract", "common", func(e *index.Entry) { e.ChunkID, e.ChunkLanguage = "contract-2", "fra" }))
		for language, want := range map[string]string{"eng": "contract-1", "fra": "contract-2", "deu": ""} {
			filter := knowledge.Filter{{Field: "language", Type: "eq", Value: language}}
			f.bothFind(index.Query{Principal: member(), Documents: []string{"contract"}, Filter: filter}, strings.Fields(want)...)
		}
		f.bothFind(index.Query{Principal: member(), Documents: []string{"contract"}, Filter: knowledge.Filter{{Field: "language", Type: "ne", Value: "eng"}}}, "contract-2")
		f.upsert(entry("contract", "common", func(e *index.Entry) { e.ChunkID = "contract-2" }))
		f.bothFind(index.Query{Principal: member(), Documents: []string{"contract"}, Filter: knowledge.Filter{{Field: "language", Type: "eq", Value: "eng"}}}, "contract-1", "contract-2")
		if err := f.RemoveDocument(f.ctx, workspace, "contract", 1); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("all conditions hold", func(t *testing.T) {
		f := f
		f.T = t
		filter := knowledge.Filter{{Field: "tags", Type: "eq", Value: "red"}, {Field: "metadata.year", Type: "gt", Value: 2025.0}}
		f.bothFind(index.Query{Principal: member(), Filter: filter}, "memo")
		f.bothFind(index.Query{Principal: member(), Filter: filter, Documents: []string{"report", "bare"}})
	})
	t.Run("a request's conditions and its tags", func(t *testing.T) {
		f := f
		f.T = t
		filter := slices.Repeat(knowledge.Filter{{Field: "name", Type: "ne", Value: "x"}}, knowledge.MaxFilterConditions)
		filter = append(filter, knowledge.Condition{Field: "tags", Type: "in", Value: []any{"red"}})
		f.bothFind(index.Query{Principal: member(), Filter: filter}, "memo", "report")
	})
	t.Run("documents narrow", func(t *testing.T) {
		f := f
		f.T = t
		f.bothFind(index.Query{Principal: member(), Documents: []string{"memo", "bare", "gone"}}, "bare", "memo")
	})
	t.Run("a filter does not open what permission closes", func(t *testing.T) {
		f := f
		f.T = t
		f.bothFind(index.Query{Principal: knowledgetest.Principal(knowledge.Claims{Workspace: "other"}),
			Documents: []string{"memo"}, Filter: knowledge.Filter{{Field: "tags", Type: "nin", Value: []any{"x"}}}})
	})
}

func testInjection(t *testing.T, open Open) {
	f := newFixture(t, open, append(filtered(), entry("private", "common secretword", acl("u:alice")))...)
	t.Run("in filters", func(t *testing.T) {
		f := f
		f.T = t
		for _, evil := range []string{
			`metadata.a') OR 1=1 --`, `metadata.$`, `metadata.*`, `metadata.year" OR "1"="1`, `metadata.a[0]`,
			`metadata.') UNION SELECT token FROM acl --`, `metadata.{"a":1}`, "metadata.x\ny",
		} {
			f.bothFind(index.Query{Principal: member(), Filter: knowledge.Filter{{Field: evil, Type: "eq", Value: "x"}}})
			f.bothFind(index.Query{Principal: member(), Filter: knowledge.Filter{{Field: evil, Type: "exists", Value: true}}})
		}
		for _, evil := range []string{`x' OR '1'='1`, `"] OR 1=1 --`, `%`, `_`, `\`, `x"],["`, `') OR 1=1 --`, `[]`} {
			for _, field := range []string{"tags", "name", "documentId", "classification", "metadata.author"} {
				f.bothFind(index.Query{Principal: member(), Filter: knowledge.Filter{{Field: field, Type: "in", Value: []any{evil}}}})
				f.bothFind(index.Query{Principal: member(), Documents: []string{evil}})
			}
		}
	})
	t.Run("wrong filters are refused", func(t *testing.T) {
		f := f
		f.T = t
		for _, c := range []knowledge.Condition{
			{Field: "acl", Type: "exists"}, {Field: "1=1 --", Type: "eq", Value: "x"}, {Field: "metadata.", Type: "eq", Value: "x"},
			{Field: "tags", Type: "= 1 OR", Value: "x"}, {Field: "tags", Type: "gt", Value: "x"}, {Field: "tags", Type: "eq"},
			{Field: "tags", Type: "eq", Value: []any{"a", "b"}}, {Field: "tags", Type: "in", Value: "a"},
			{Field: "tags", Type: "in", Value: []any{}}, {Field: "tags", Type: "in", Value: []any{"a", map[string]any{}}},
			{Field: "name", Type: "eq", Value: 1.0}, {Field: "name", Type: "lt", Value: []any{"a"}}, {Field: "createdAt", Type: "in", Value: []any{"yesterday"}},
			{Field: "createdAt", Type: "contains", Value: "2025"}, {Field: "createdAt", Type: "gt", Value: "yesterday"},
			{Field: "metadata.a", Type: "gt", Value: true}, {Field: "metadata.a", Type: "eq", Value: "a\x00b"},
			{Field: "metadata.a", Type: "exists", Value: "yes"}, {Field: "name", Type: "eq", Value: strings.Repeat("x", 2000)},
			{Field: "documentId", Type: "in", Value: make([]string, knowledge.MaxFilterValues+1)},
		} {
			f.bothFail(index.Query{Principal: member(), Filter: knowledge.Filter{c}, Limit: 10}, knowledge.CodeInvalid)
		}
		f.bothFail(index.Query{Principal: member()}, knowledge.CodeInvalid)
		f.bothFail(index.Query{Principal: member(), Limit: index.MaxLimit + 1}, knowledge.CodeInvalid)
	})
	t.Run("in questions", func(t *testing.T) {
		f := f
		f.T = t
		everything := index.Query{Principal: member(), Limit: 100}
		for _, evil := range []string{
			`"`, `*`, `common*`, `common"`, `"common`, `words:common`, `{words}: common`, `^common`, `common NEAR secretword`,
			`NEAR(common secretword, 2)`, `common AND secretword`, `NOT common`, `common NOT common`, `-common`, `(common`, `common)`,
			`common + x`, `common; DROP TABLE entries`, "common\x00", "\xff\xfecommon", `'common'`, `rank:common`, `x" OR "common`, `AND OR NOT`,
		} {
			got := f.words(everything, evil)
			if strings.Contains(evil, "common") && len(got) != 3 {
				t.Errorf("%q found %v, want the three public entries", evil, got)
			}
			if !strings.Contains(evil, "common") && len(got) != 0 {
				t.Errorf("%q found %v, want nothing", evil, got)
			}
		}
		if got := f.words(everything, "secretword comm"); len(got) != 0 {
			t.Errorf("a word of a private entry, and a part of a word, found %v", got)
		}
	})
}
