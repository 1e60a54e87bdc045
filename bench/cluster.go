package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/process"
	"github.com/cairn-rag/cairn/internal/service"
)

const (
	clusterDocuments = 160
	clusterQuestions = 40 // by one client
	clusterLoad      = 80 // by 8 clients
	clusterStreams   = 32 // at the same time
	streamDelay      = 50 * time.Millisecond
	apartMillis      = 100 // by which first tokens may come later in a cluster
)

// form is a way to run Cairn, whose documents, questions and streams are measured. like is the
// form of one process on the same stores, "" = none.
type form struct {
	name  string
	like  string
	start func(ctx context.Context, b *bench, m *modeltest.Server) (*deployment, error)
}

const (
	alone         = "one process"
	aloneOnMilvus = "one process with PostgreSQL and Milvus"
)

// forms are measured one after another, in one run.
var forms = []form{
	{alone, "", func(ctx context.Context, b *bench, m *modeltest.Server) (*deployment, error) {
		return b.oneProcess(ctx, m)
	}},
	{"one process with PostgreSQL", alone, func(ctx context.Context, b *bench, m *modeltest.Server) (*deployment, error) {
		return b.withServices(ctx, m, (*deployment).startWithPostgres)
	}},
	{aloneOnMilvus, alone, func(ctx context.Context, b *bench, m *modeltest.Server) (*deployment, error) {
		return b.withServices(ctx, m, func(d *deployment, ctx context.Context, b *bench) error {
			return errors.Join(d.startMilvus(ctx), d.startWithPostgres(ctx, b))
		})
	}},
	{"2 APIs, 2 workers, index in a file", alone, func(ctx context.Context, b *bench, m *modeltest.Server) (*deployment, error) {
		return b.withServices(ctx, m, roles(2, (*deployment).useIndexFile))
	}},
	{"2 APIs, 2 workers, all services", aloneOnMilvus, func(ctx context.Context, b *bench, m *modeltest.Server) (*deployment, error) {
		return b.withServices(ctx, m, roles(2, (*deployment).startMilvus))
	}},
}

// clusters measures what one process carries, and what a cluster of two APIs and two
// workers does on Temporal and the metadata in PostgreSQL, the blobs in a bucket and the
// index in a file or in Milvus's light server. All of it shares the processors of this
// machine.
func clusters(ctx context.Context, b *bench) ([]figure, error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	texts, _, err := b.queries()
	if err != nil {
		return nil, err
	}
	tokens := map[string]float64{} // first token p50 of the forms
	for _, f := range forms {
		c, err := b.carries(ctx, f, list[:clusterDocuments], texts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		first := lower(f.name+": first token p50 ms, 1 client", c.token)
		if tokens[f.name] = c.token; f.like != "" {
			first = first.aim(tokens[f.like] + apartMillis)
		}
		printFigures(b.out, append(c.figures, first))
	}
	return nil, nil
}

// carried is what a form carries.
type carried struct {
	token   float64 // first token p50 of one client, ms
	figures []figure
}

func (b *bench) carries(ctx context.Context, f form, list []abstract, texts []string) (c carried, err error) {
	m := modeltest.New(modeltest.Options{Tokens: 60})
	defer m.Close()
	d, err := f.start(ctx, b, m)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	figures := func(more ...figure) {
		for _, one := range more {
			one.name = f.name + ": " + one.name
			c.figures = append(c.figures, one)
		}
	}
	if err := d.ingest(ctx, list, figures); err != nil {
		return c, err
	}
	if _, _, err := d.ask(ctx, texts, 4, 16); err != nil { // to warm up
		return c, err
	}
	t, _, err := d.ask(ctx, texts, 1, clusterQuestions)
	if err != nil {
		return c, err
	}
	c.token = t.token.quantile(.5)
	if err := d.search(ctx, texts, figures); err != nil {
		return c, err
	}
	figures(lower("first token p95 ms, 1 client", t.token.quantile(.95)), lower("end p50 ms, 1 client", t.end.quantile(.5)))
	before := d.spent()
	t, took, err := d.ask(ctx, texts, 8, clusterLoad)
	if err != nil {
		return c, err
	}
	figures(higher("questions/s, 8 clients", clusterLoad/took.Seconds()), lower("first token p50 ms, 8 clients", t.token.quantile(.5)))
	figures(d.spent().since(before, "question", clusterLoad)...)
	return c, d.stream(ctx, m, texts, figures)
}

// ingest measures uploads of abstracts by 8 clients.
func (d *deployment) ingest(ctx context.Context, list []abstract, figures func(...figure)) error {
	sizes, err := d.sizes(ctx)
	if err != nil {
		return err
	}
	before := d.spent()
	took, err := d.apis[0].upload(ctx, list)
	if err != nil {
		return err
	}
	n := float64(len(list))
	figures(higher("documents/s, 8 clients", n/took.Seconds()))
	figures(d.spent().since(before, "document", n)...)
	grown, err := d.sizes(ctx)
	for _, name := range slices.Sorted(maps.Keys(grown)) {
		if size := float64(grown[name]-sizes[name]) / 1000 / n; size > 0 {
			figures(lower("KB a document in the database "+name, size))
		}
	}
	return err
}

// sizes returns the bytes of each database of PostgreSQL, if there is one.
func (d *deployment) sizes(ctx context.Context) (map[string]int64, error) {
	if d.postgres == nil {
		return nil, nil
	}
	return d.postgres.DatabaseBytes(ctx)
}

// search measures searches without an answer by one client.
func (d *deployment) search(ctx context.Context, texts []string, figures func(...figure)) error {
	var times samples
	before := d.spent()
	_, err := load(ctx, 1, clusterQuestions, func(ctx context.Context, i int) error {
		begin := time.Now()
		defer func() { times.add(time.Since(begin)) }()
		body := map[string]any{"text": texts[i%len(texts)], "projectId": "default"}
		return d.apis[0].send(ctx, "POST", "/workspaces/default/webhooks/retrieve-context", body, nil)
	})
	figures(lower("search p50 ms, 1 client", times.quantile(.5)))
	figures(d.spent().since(before, "search", clusterQuestions)...)
	return err
}

// stream measures answers that all stream at the same time, 20 tokens a second each.
func (d *deployment) stream(ctx context.Context, m *modeltest.Server, texts []string, figures func(...figure)) error {
	for range clusterStreams {
		m.ScriptChat(modeltest.Reply{TokenDelay: streamDelay})
	}
	before := d.spent()
	t, took, err := d.ask(ctx, texts, clusterStreams, clusterStreams)
	if err != nil {
		return err
	}
	figures(lower(fmt.Sprintf("first token p50 ms, %d streams", clusterStreams), t.token.quantile(.5)),
		lower(fmt.Sprintf("slowest stream s, %d streams", clusterStreams), t.end.quantile(1)/1000))
	figures(d.spent().since(before, "second of a stream", clusterStreams*took.Seconds())...)
	return nil
}

// deployment is Cairn in one form, with its services.
type deployment struct {
	apis      []remote
	processes map[int]string // by their ids
	closers   []func() error
	env       []string // of Cairn's processes
	postgres  *service.Process
}

func (d *deployment) close() (err error) {
	for i := len(d.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, d.closers[i]())
	}
	return err
}

// ask asks n questions from so many clients, each at the next API.
func (d *deployment) ask(ctx context.Context, texts []string, clients, n int) (*timings, time.Duration, error) {
	var t timings
	took, err := load(ctx, clients, n, func(ctx context.Context, i int) error {
		return t.ask(ctx, d.apis[i%len(d.apis)], texts[i%len(texts)])
	})
	return &t, took, err
}

// processorTime is in seconds, by the name of the process: "Cairn" is all of its own.
type processorTime map[string]float64

func (d *deployment) spent() processorTime {
	p := processorTime{}
	for pid, name := range d.processes {
		used, _ := process.TreeCPU(pid) // 0 if it has ended
		p[name] += used.Seconds()
	}
	return p
}

// since returns the processor time after before, for each of n things.
func (p processorTime) since(before processorTime, thing string, n float64) (list []figure) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		list = append(list, lower("CPU ms a "+thing+", "+name, (p[name]-before[name])*1000/n))
	}
	return list
}

func (b *bench) oneProcess(ctx context.Context, m *modeltest.Server, env ...string) (*deployment, error) {
	s, _, err := b.serve(ctx, append(modelEnv(m), env...)...)
	if err != nil {
		return nil, err
	}
	return &deployment{apis: []remote{s.remote()}, processes: map[int]string{s.PID(): "Cairn"}, closers: []func() error{s.remove}}, nil
}

// program returns the path of the built command.
func (b *bench) program() (string, error) { return filepath.Abs(b.binary) }
