package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// uploadClients is how many clients upload at the same time.
const uploadClients = 8

// settled is the time after which a server has returned what its start left behind.
const settled = 12 * time.Second

// upload posts abstracts that are not there yet, one by one, and waits until all
// are published.
func (s *server) upload(ctx context.Context, list []abstract) (time.Duration, error) {
	return s.remote().upload(ctx, list)
}

func (r remote) upload(ctx context.Context, list []abstract) (time.Duration, error) {
	before, err := r.count(ctx, "published")
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	_, err = load(ctx, uploadClients, len(list), func(ctx context.Context, i int) error {
		a := list[i]
		text := a.title + "\n\n" + a.text
		if a.text == "" { // two abstracts have none
			text = "There is no text of abstract " + a.id + "."
		}
		body := map[string]any{"name": "abstract " + a.id, "externalId": a.id, "content": map[string]any{"text": text}}
		return r.send(ctx, "POST", "/workspaces/default/webhooks/document?projectId=default", body, nil)
	})
	if err != nil {
		return 0, err
	}
	for {
		n, err := r.count(ctx, "published")
		if err != nil {
			return 0, err
		}
		if n >= before+len(list) {
			return time.Since(begin), nil
		}
		if time.Since(begin) > 10*time.Minute {
			return 0, fmt.Errorf("%d of %d documents were published in 10 minutes", n-before, len(list))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// published counts the published documents.
func (s *server) published(ctx context.Context) (int, error) { return s.count(ctx, "published") }

// count counts the documents with a status.
func (s *server) count(ctx context.Context, status string) (int, error) {
	return s.remote().count(ctx, status)
}

func (r remote) count(ctx context.Context, status string) (int, error) {
	var page struct{ Total int }
	err := r.send(ctx, "GET", "/workspaces/default/webhooks/documents?projectId=default&limit=1&status="+status, nil, &page)
	return page.Total, err
}

// ingest measures single uploads of short documents by 8 clients.
func ingest(ctx context.Context, b *bench) (figures []figure, err error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	list = list[:b.documents]
	m := modeltest.New(modeltest.Options{})
	defer m.Close()
	s, cold, err := b.serveWithModel(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	if err := sleep(ctx, settled); err != nil {
		return nil, err
	}
	idle, own, before := s.residentMB(), s.ownMB(), s.cpu()
	took, err := s.upload(ctx, list)
	if err != nil {
		return nil, err
	}
	n := float64(len(list))
	return []figure{
		higher("documents/s, 8 clients", n/took.Seconds()).aim(60),
		lower("CPU ms a document", (s.cpu()-before)*1000/n).aim(33),
		lower("RSS idle MB", idle),
		lower("RSS idle MB, without pages of files", own),
		lower("RSS highest MB", s.peakMB()).aim(400),
		lower("start on a new folder s", cold.Seconds()),
	}, nil
}

// restart measures the time to readiness on a folder with documents, after
// SIGKILL: the median of three.
func restart(ctx context.Context, b *bench) (figures []figure, err error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	m := modeltest.New(modeltest.Options{})
	defer m.Close()
	s, _, err := b.serveWithModel(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	if _, err := s.upload(ctx, list[:400]); err != nil {
		return nil, err
	}
	var times []float64
	for range 3 {
		if err := s.kill(); err != nil {
			return nil, err
		}
		took, err := s.start(ctx)
		if err != nil {
			return nil, err
		}
		times = append(times, took.Seconds())
		if err := s.rest(ctx); err != nil {
			return nil, err
		}
	}
	slices.Sort(times)
	return []figure{lower("restart after SIGKILL to ready s, 400 documents", times[1]).aim(1)}, nil
}
