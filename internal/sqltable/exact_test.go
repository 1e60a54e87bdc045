package sqltable_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// sales returns a CSV file of so many rows of sales, and the cents of 2023 by region.
func sales(rows int) (csv string, cents map[string]int64) {
	random := rand.New(rand.NewPCG(1, 2))
	regions := []string{"North", "South", "East", "West"}
	cents = map[string]int64{}
	var b strings.Builder
	b.WriteString("Date,Region,Product,Quantity,Amount\n")
	for range rows {
		day := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, random.IntN(4*365))
		region := regions[random.IntN(len(regions))]
		amount := random.Int64N(1_000_000_00) - 1_000_00 // some are returned
		if day.Year() == 2023 {
			cents[region] += amount
		}
		fmt.Fprintf(&b, "%s,%s,Product %d,%d,%s\n", day.Format(time.DateOnly), region, random.IntN(50), 1+random.IntN(20), inUnits(amount))
	}
	return b.String(), cents
}

func inUnits(cents int64) string { return big.NewRat(cents, 100).FloatString(2) }

func TestSumsAreRightToTheCent(t *testing.T) {
	t.Parallel()
	csv, cents := sales(100_000)
	_, path := write(t, "sales.csv", csv)
	got := query(t, path, "SELECT region, sum(amount) FROM sales WHERE date LIKE '2023-%' GROUP BY region ORDER BY region")
	var want []string
	for _, region := range []string{"East", "North", "South", "West"} {
		sum := strings.TrimSuffix(strings.TrimRight(inUnits(cents[region]), "0"), ".")
		want = append(want, region+";"+sum)
	}
	if got != strings.Join(want, "\n") {
		t.Errorf("the sums are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestSumsOfOppositeNumbers sums what a sum of floating point numbers without compensation
// gets wrong: a thousandth of a cent of each of many numbers, and numbers that cancel out.
func TestSumsOfOppositeNumbers(t *testing.T) {
	t.Parallel()
	var lines []string
	for range 20_000 {
		lines = append(lines, "90071992547.09", "0.01", "-90071992547.09")
	}
	_, path := write(t, "sums.csv", "label,amount\nx,"+strings.Join(lines, "\nx,"))
	if got := query(t, path, "SELECT sum(amount), count(*) FROM sums"); got != "200;60000" {
		t.Errorf("the sum is %s", got)
	}
}

func BenchmarkSumByRegion(b *testing.B) {
	csv, _ := sales(100_000)
	_, path := write(b, "sales.csv", csv)
	for b.Loop() {
		query(b, path, "SELECT region, sum(amount) FROM sales WHERE date LIKE '2023-%' GROUP BY region")
	}
}
