package localmodel_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

const rates = `Sources: <source_1 document="travel.pdf">
Receipts are kept for ten years. Breakfast is served until ten.

| Expense | Domestic | Abroad |
| --- | --- | --- |
| Breakfast | 12 EUR | 18 EUR |
| Dinner | 30 EUR | 45 EUR |

| Plant | 2023 Units | 2023 EUR | 2024 Units | 2024 EUR | Staff |
| --- | --- | --- | --- | --- | --- |
| Kiel | 1 | 10 | 3 | 33 | 70 |
| Bremen | 2 | 20 | 4 | 44 | 80 |

|  | 2023 | 2024 |
| --- | --- | --- |
| Net sales | 1,406 | 1,512 |
| Operating income | 211 | 240 |
| Dividends | 15 |
</source_1>`

// TestAnswersFromTables asks for cells by the names of their row and column.
func TestAnswersFromTables(t *testing.T) {
	t.Parallel()
	for question, test := range map[string]struct{ want, lacks string }{
		"How much is dinner abroad?":                         {"Expense: Dinner, Abroad: 45 EUR. <source_1>", "30"},
		"What does breakfast cost abroad?":                   {"Expense: Breakfast, Abroad: 18 EUR. <source_1>", "12 EUR"},
		"How many units did Kiel make in 2024?":              {"Plant: Kiel, 2024 Units: 3.", "33"},
		"What was the operating income in 2024?":             {"Operating income, 2024: 240. <source_1>", "211"},
		"How high were the dividends?":                       {"Dividends, 2023: 15.", "Net sales"},
		"How many people are the staff of the Bremen plant?": {"Plant: Bremen, Staff: 80.", "Kiel"},
	} {
		got := answer(t, []model.Message{{Role: model.RoleSystem, Content: rates}, {Role: model.RoleUser, Content: question}})
		if !strings.Contains(got, test.want) || strings.Contains(got, test.lacks) {
			t.Errorf("%s\n got %q\nwant %q and no %q", question, got, test.want, test.lacks)
		}
	}
}
