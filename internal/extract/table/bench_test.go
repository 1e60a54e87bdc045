package table_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/table"
)

// BenchmarkRead reads a file of 10 MB: 100,000 rows of eight columns.
func BenchmarkRead(b *testing.B) {
	var in strings.Builder
	in.WriteString("number,name,city,street,amount,currency,date,comment\n")
	for i := range 100_000 {
		fmt.Fprintf(&in, "%d,customer %d,Springfield,%d Evergreen Terrace,%d.50,EUR,2024-03-%02d,\"delivered, with a comment that says so\"\n", i, i, i%900, i%10_000, i%28+1)
	}
	b.SetBytes(int64(in.Len()))
	b.ReportAllocs()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		blocks := table.Read(in.String(), 0)
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(blocks)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB-held")
}
