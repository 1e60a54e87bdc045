package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// measures are the parts of the benchmark, in the order of the report.
var measures = []struct {
	name string
	run  func(ctx context.Context, b *bench) error
}{
	{"ingest", ingest},
	{"question", question},
	{"retrieve", retrieve},
	{"cranfield", cranfield},
	{"pdf", pdf},
	{"crash", crash},
}

// bench is what every measure needs.
type bench struct {
	binary string
	data   string // the folder of shared data
	seed   uint64
}

func main() {
	b := &bench{}
	flag.StringVar(&b.binary, "binary", "bin/cairn", "the built command")
	flag.StringVar(&b.data, "data", "../shared/data", "the folder with cranfield and files")
	flag.Uint64Var(&b.seed, "seed", 1, "of the moments of kills")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	failed := measure(ctx, b)
	stop()
	if failed != nil {
		fmt.Fprintln(os.Stderr, "bench:", failed)
		os.Exit(1)
	}
}

// measure runs what the arguments name, or all.
func measure(ctx context.Context, b *bench) error {
	var names []string
	for _, m := range measures {
		names = append(names, m.name)
	}
	for _, name := range flag.Args() {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%q is none of %s", name, strings.Join(names, ", "))
		}
	}
	for _, m := range measures {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), m.name) {
			continue
		}
		fmt.Printf("\n## %s\n\n", m.name)
		if err := m.run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}
