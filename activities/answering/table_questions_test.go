package answering_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
)

// order is a row of the file of TestTableQuestions.
type order struct {
	id, date, region, product string
	pieces, cents             int64
}

func orders(count int) []order {
	regions, products := []string{"North", "South", "East", "West"}, []string{"Pump", "Valve", "Hose", "Filter", "Gauge"}
	list := make([]order, count)
	for i := range list {
		list[i] = order{
			id: fmt.Sprintf("S-%05d", i+1), date: fmt.Sprintf("%d-%02d-%02d", 2021+i%4, 1+i*7%12, 1+i*11%28),
			region: regions[i/4*13%4], product: products[i/3*17%5], pieces: int64(1 + i*3%9), cents: int64(i*7919%500_000 + 99),
		}
	}
	return list
}

// tableQuestion is a question with the query that a model would write, the rows from which it
// must be answered, and what these rows come to.
type tableQuestion struct {
	text, sql string
	of        func(order) bool
	result    func([]order) string
}

func units(cents int64) string {
	text := big.NewRat(cents, 100).FloatString(2)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func sumOf(rows []order) string {
	var cents int64
	for _, o := range rows {
		cents += o.cents
	}
	return units(cents)
}

func countOf(rows []order) string { return fmt.Sprint(len(rows)) }

func mostOf(rows []order) string {
	return slices.MaxFunc(rows, func(a, b order) int { return cmp.Compare(a.cents, b.cents) }).id
}

// tableQuestions returns 30 questions: sums, counts, largest rows and single rows.
func tableQuestions() []tableQuestion {
	var list []tableQuestion
	for _, region := range []string{"North", "South", "East", "West"} {
		in := func(o order) bool { return o.region == region && strings.HasPrefix(o.date, "2023") }
		where := " FROM orders WHERE region = '" + region + "' AND date LIKE '2023%'"
		list = append(list,
			tableQuestion{"What did we sell in 2023 in the region " + region + "?", "SELECT sum(amount)" + where, in, sumOf},
			tableQuestion{"How many orders were there in 2023 in the region " + region + "?", "SELECT count(*)" + where, in, countOf},
			tableQuestion{"Which order of 2023 in the region " + region + " is the largest?", "SELECT order_id" + where + " ORDER BY amount DESC LIMIT 1", in, mostOf})
	}
	for _, product := range []string{"Pump", "Valve", "Hose", "Filter"} {
		of := func(o order) bool { return o.product == product && o.pieces >= 5 }
		where := " FROM orders WHERE product = '" + product + "' AND pieces >= 5"
		list = append(list,
			tableQuestion{"What is the sum of all orders of five or more pieces of the product " + product + "?", "SELECT sum(amount)" + where, of, sumOf},
			tableQuestion{"How many orders of the product " + product + " have five or more pieces?", "SELECT count(*)" + where, of, countOf})
	}
	for _, number := range []int{7, 423, 811, 1204, 1999, 2046, 2500, 2711, 2890, 2999} {
		id := fmt.Sprintf("S-%05d", number)
		list = append(list, tableQuestion{"What is the amount of the order " + id + "?", "SELECT amount FROM orders WHERE order_id = '" + id + "'",
			func(o order) bool { return o.id == id }, sumOf})
	}
	return list
}

// TestTableQuestions asks 30 questions about a file of 3,000 rows. With the query that a model
// would write, all answers are right. Passages alone can answer a question only if a search finds
// every row that it is about: the test counts for how many it does. It shows the reach of both
// ways, and not how well a model writes queries.
func TestTableQuestions(t *testing.T) {
	t.Parallel()
	all := orders(3000)
	var csv strings.Builder
	csv.WriteString("Order ID,Date,Region,Product,Pieces,Amount\n")
	for _, o := range all {
		fmt.Fprintf(&csv, "%s,%s,%s,%s,%d,%s\n", o.id, o.date, o.region, o.product, o.pieces, big.NewRat(o.cents, 100).FloatString(2))
	}
	f := newFixture(t)
	f.AnswerWith(func(d *answering.Dependencies) { d.Library, d.Tables, d.TempDir = f.Store, queries{}, t.TempDir() })
	f.Parser.Read = func(extract.Input) (format.Result, error) {
		return format.Result{Layout: knowledge.Layout{MediaType: extract.TypeCSV, Blocks: table.Read(csv.String(), ',')}}, nil
	}
	f.Publish(f.Upload("orders.csv", csv.String(), func(nv *store.NewVersion) { nv.MediaType, nv.Enrichment.Tables = extract.TypeCSV, true }))
	questions := tableQuestions()
	byTable, byPassages := 0, 0
	for _, q := range questions {
		run := f.Ask(q.text, func(r *knowledge.Request) { r.Config.AI.Tables = true })
		needed := slices.DeleteFunc(slices.Clone(all), func(o order) bool { return !q.of(o) })
		if told := f.reads(run, tool.QueryTable, fmt.Sprintf(`{"document":"orders.csv","sql":%q}`, q.sql)); strings.Contains(told, "| "+q.result(needed)+" |") {
			byTable++
		} else {
			t.Errorf("%s: want %s in %s", q.text, q.result(needed), told)
		}
		if f.findsAll(run, needed) {
			byPassages++
		}
	}
	t.Logf("of %d questions, tables answer %d, and passages alone have the rows of %d", len(questions), byTable, byPassages)
	if len(questions) != 30 || byPassages >= byTable {
		t.Errorf("passages alone have the rows of %d of %d questions", byPassages, len(questions))
	}
}

// findsAll reports whether the search of a question finds all rows.
func (f *fixture) findsAll(run knowledge.RunRef, rows []order) bool {
	f.Helper()
	search, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
	f.Must(err)
	var found strings.Builder
	for _, p := range search.Found.Passages {
		chunk, err := f.Store.Chunk(f.Ctx, activitytest.Member(), p.ChunkID)
		f.Must(err)
		found.WriteString(chunk.Text + "\n")
	}
	return !slices.ContainsFunc(rows, func(o order) bool { return !strings.Contains(found.String(), o.id) })
}
