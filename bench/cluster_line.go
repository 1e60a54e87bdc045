package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/process"
	"github.com/cairn-rag/cairn/internal/service"
)

const (
	lineWarm      = 32 // documents before the measured ones: workers start their parsers with them
	lineDocuments = 160
	lineQuestions = 80
	lineClients   = 24 // who ask
	// workerShare is what each worker has of a processor. Four of them with an API, Temporal,
	// PostgreSQL and Milvus stay below two processors, so that the workers are the limit.
	workerShare = .06
)

// lineWorkers are the numbers of workers of the line.
var lineWorkers = [...]int{1, 2, 4}

// clusterLine measures documents/s and questions/s of one API and some workers, each of
// which has a small share of a processor, as if it were on a small machine of its own. On
// machines of their own the services have no such limit either, so the line says how much
// another worker adds, and not where a cluster ends.
func clusterLine(ctx context.Context, b *bench) (figures []figure, err error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	texts, _, err := b.queries()
	if err != nil {
		return nil, err
	}
	var one linePoint
	for _, n := range lineWorkers {
		p, err := b.linePoint(ctx, n, list[:lineWarm+lineDocuments], texts)
		if err != nil {
			return nil, fmt.Errorf("%d workers: %w", n, err)
		}
		name := fmt.Sprintf("workers %d: ", n)
		figures = append(figures, higher(name+"documents/s", p.documents), higher(name+"questions/s", p.questions))
		if n == 1 {
			one = p
			continue
		}
		figures = append(figures, higher(name+"documents/s / those of one", p.documents/one.documents),
			higher(name+"questions/s / those of one", p.questions/one.questions))
	}
	return figures, nil
}

// linePoint is what so many workers do.
type linePoint struct{ documents, questions float64 } // a second

func (b *bench) linePoint(ctx context.Context, workers int, list []abstract, texts []string) (p linePoint, err error) {
	m := modeltest.New(modeltest.Options{Tokens: 60})
	defer m.Close()
	d, err := b.withServices(ctx, m, func(d *deployment, ctx context.Context, b *bench) error {
		return d.startLine(ctx, b, workers)
	})
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if _, err := d.apis[0].upload(ctx, list[:lineWarm]); err != nil {
		return p, err
	}
	took, err := d.apis[0].upload(ctx, list[lineWarm:])
	if err != nil {
		return p, err
	}
	p.documents = lineDocuments / took.Seconds()
	_, took, err = d.ask(ctx, texts, lineClients, lineQuestions)
	p.questions = lineQuestions / took.Seconds()
	return p, err
}

// startLine starts the other services, with Milvus's core as the index, one API, and workers
// that are held to their share.
func (d *deployment) startLine(ctx context.Context, b *bench, workers int) error {
	key, err := d.startServices(ctx)
	if err != nil {
		return err
	}
	milvus, err := service.MilvusCore(tools)
	if err != nil {
		return err
	}
	d.env = append(d.env, "CAIRN_VECTOR__URL="+milvus.MilvusCoreURL())
	if err := d.boot(ctx, milvus, "Milvus"); err != nil {
		return err
	}
	program, err := b.program()
	if err != nil {
		return err
	}
	if err := d.migrate(ctx, program); err != nil {
		return err
	}
	for range workers {
		worker, err := d.startRole(ctx, program, "worker")
		if err != nil {
			return err
		}
		d.closers = append(d.closers, hold(worker.PID(), workerShare))
	}
	api, err := d.startRole(ctx, program, "api")
	if err != nil {
		return err
	}
	d.apis = append(d.apis, remote{url: "http://" + api.Address, key: key})
	return nil
}

// hold holds a process and its children to a share of one processor, until release: it is
// stopped while it is ahead of its share.
func hold(pid int, share float64) (release func() error) {
	const look, mostSaved = 5 * time.Millisecond, 50 * time.Millisecond
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(look)
		defer tick.Stop()
		before, _ := process.TreeCPU(pid)
		last, saved, stopped := time.Now(), time.Duration(0), false
		for {
			select {
			case <-done:
				_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
				return
			case now := <-tick.C:
				used, _ := process.TreeCPU(pid)
				saved = min(saved+time.Duration(float64(now.Sub(last))*share)-(used-before), mostSaved)
				last, before = now, used
				if ahead := saved < 0; ahead != stopped {
					stopped = ahead
					_ = syscall.Kill(pid, map[bool]syscall.Signal{true: syscall.SIGSTOP, false: syscall.SIGCONT}[ahead])
				}
			}
		}
	}()
	return func() error { close(done); <-ended; return nil }
}
