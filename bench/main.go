package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// measure is one part of the benchmark.
type measure struct {
	name string
	// compared says that -base compares the measure when no measure is named.
	compared bool
	run      func(ctx context.Context, b *bench) ([]figure, error)
}

// measures are the parts in the order of the report.
var measures = []measure{
	{"ingest", true, ingest},
	{"question", true, question},
	{"tail", true, tail},
	{"cost", true, cost},
	{"restart", true, restart},
	{"retrieve", true, retrieve},
	{"completions", false, completions},
	{"streams", false, idleStreams},
	{"console", false, consoles},
	{"drop", false, drops},
	{"cranfield", false, cranfield},
	{"retrieval", false, retrieval},
	{"search", false, search},
	{"pdf", false, pdf},
	{"publish", false, publish},
	{"backlog", false, backlog},
	{"crash", false, crash},
	{"import", false, bulk},
	{"import-crash", false, bulkCrash},
	{"import-fair", false, bulkFair},
	{"blobs", false, blobs},
	{"protect", false, protect},
	{"retention", false, retention},
	{"evaluate", false, evaluations},
	{"cluster", false, clusters},
	{"cluster-line", false, clusterLine},
}

// bench is what every measure needs.
type bench struct {
	binary     string
	data       string // the folder of shared data
	seed       uint64
	documents  int    // how many are ingested and searched
	objects    int    // how many are imported
	files      int    // how many the drop measure drops
	items      int    // of the evaluation of the evaluate measure
	tailRounds int    // rounds of questions in the tail measure
	streams    int    // open streams of the streams measure
	backlog    string // PDFs of the backlog measure and their pages

	// Of the retention measure.
	aged     int    // documents
	action   string // remove or inactive
	database string // sqlite or postgres

	// Of the search measure.
	sizes        string // of the indexes
	searches     int    // questions of each number of clients
	dir          string // where the indexes are
	milvus       string // noMilvus, a server to start, or milvus://host:port
	milvusChunks int    // the largest size that is written to Milvus

	out io.Writer // for details beside the figures
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // the servers end too
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures one binary, or compares it with the binary of another commit.
func run(ctx context.Context) error {
	b := &bench{documents: 1400, tailRounds: 10, out: os.Stdout}
	c := comparison{versions: "bin/versions"}
	flag.StringVar(&b.binary, "binary", "bin/cairn", "the built command")
	flag.StringVar(&b.data, "data", "../shared/data", "the folder with cranfield and files")
	flag.IntVar(&b.objects, "objects", 20000, "how many objects are imported")
	flag.IntVar(&b.files, "files", 10_000, "how many files the drop measure drops on the console")
	flag.IntVar(&b.items, "items", 10_000, "how many questions the evaluate measure evaluates")
	flag.IntVar(&b.streams, "streams", 10_000, "how many streams the streams measure opens")
	flag.Uint64Var(&b.seed, "seed", 1, "seed of the moments of kills")
	flag.StringVar(&b.backlog, "backlog", "200x100", "how many PDFs the backlog measure uploads, and their pages")
	flag.IntVar(&b.aged, "aged", 1_000_000, "how many documents the retention measure removes or hides")
	flag.StringVar(&b.action, "action", "inactive", "what the retention measure does with them: remove or inactive")
	flag.StringVar(&b.database, "database", "sqlite", "the database of the retention measure: sqlite or postgres")
	flag.StringVar(&b.sizes, "sizes", "1400,10000,100000/10,1000000", "sizes of the search measure in chunks, and after a slash in how many workspaces")
	flag.IntVar(&b.searches, "searches", 400, "how many questions the search measure asks with each number of clients")
	flag.StringVar(&b.dir, "dir", "", "the folder for the indexes of the search measure, 4 KB a chunk; the system's folder for temporary files by default")
	flag.StringVar(&b.milvus, "milvus", milvusCore, "the Milvus of the search measure: milvus://host:port, none, or the core or light server of .ci/stand-ins, which it starts for each size")
	flag.IntVar(&b.milvusChunks, "milvus-chunks", 100_000, "the largest size that the search measure writes to Milvus")
	flag.StringVar(&c.base, "base", "", "the commit to compare with")
	flag.IntVar(&c.rounds, "rounds", 5, "with -base: rounds in which each version is measured once")
	flag.Float64Var(&c.threshold, "threshold", 5, "with -base: percent by which a measure may be worse")
	flag.Parse()
	chosen, err := choose(flag.Args(), c.base != "")
	if err != nil {
		return err
	}
	if c.base != "" {
		b.documents, b.tailRounds = 400, 1 // a round of both versions takes minutes
		return c.run(ctx, b, chosen)
	}
	var failed error
	for _, m := range chosen {
		fmt.Printf("\n## %s\n\n", m.name)
		figures, err := m.run(ctx, b)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", m.name, err))
			continue
		}
		printFigures(os.Stdout, figures)
	}
	return failed
}

// choose returns the named measures, or the default ones if none is named.
func choose(names []string, compare bool) ([]measure, error) {
	var known []string
	for _, m := range measures {
		known = append(known, m.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%q is none of %s", name, strings.Join(known, ", "))
		}
	}
	var chosen []measure
	for _, m := range measures {
		if slices.Contains(names, m.name) || len(names) == 0 && (m.compared || !compare) {
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}
