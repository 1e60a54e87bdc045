package main

import (
	"strings"
	"testing"
	"time"
)

func TestPrintFigures(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printFigures(&out, []figure{
		lower("restart s", .84).aim(1), higher("documents/s", 31.52).aim(60), lower("lost", 0).aim(0), lower("end p95 ms", 1234.5),
	})
	const want = `| measure | measured | target | met |
|---|---|---|---|
| restart s | 0.84 | ≤ 1 | yes |
| documents/s | 31.5 | ≥ 60 | no |
| lost | 0 | ≤ 0 | yes |
| end p95 ms | 1234 |  |  |
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestCountSyncs(t *testing.T) {
	t.Parallel()
	got := countSyncs([]byte(`71 fsync(12</tmp/cairn bench/data/temporal/temporal.db-wal>) = 0
72 fdatasync(31</tmp/data/cairn.db-wal> <unfinished ...>
71 fsync(40</tmp/data/blobs/a>) = 0
72 <... fdatasync resumed>)             = 0
73 --- SIGURG {si_signo=SIGURG, si_code=SI_TKILL, si_pid=71, si_uid=0} ---
73 fsync(12</tmp/data/temporal/temporal.db-wal> <unfinished ...>
`))
	if want := (syncs{all: 4, history: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	var s samples
	if s.quantile(.5) != 0 {
		t.Error("no samples have a median")
	}
	for i := range 160 {
		s.add(time.Duration(160-i) * time.Millisecond)
	}
	if got := s.quantile(.5); got != 81 {
		t.Errorf("the median is %v ms, want 81", got)
	}
	if got := s.quantile(1); got != 160 {
		t.Errorf("the slowest took %v ms, want 160", got)
	}
}
