package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// fairProbes is how many documents are uploaded, and questions are asked, on a quiet
// server and beside an import.
const fairProbes = 20

// bulkFair measures how much an import delays the uploads and the questions of
// another workspace.
func bulkFair(ctx context.Context, b *bench) (figures []figure, err error) {
	texts, _, err := b.queries()
	if err != nil {
		return nil, err
	}
	s, err := b.withBucket(ctx, &modeltest.Options{Tokens: 60}, map[string]int{"many/": b.objects})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	p := probe{list: s.list, texts: texts}
	if p.client, err = s.otherWorkspace(ctx); err != nil {
		return nil, err
	}
	if _, _, err := p.round(ctx); err != nil { // to warm up
		return nil, err
	}
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	quietUpload, quietToken, err := p.round(ctx)
	if err != nil {
		return nil, err
	}
	busyUpload, busyToken, err := p.beside(ctx, s.server, s.objects)
	if err != nil {
		return nil, err
	}
	return []figure{
		lower("upload to published p50 ms, quiet", quietUpload.quantile(.5)),
		lower("upload to published p50 ms, beside an import", busyUpload.quantile(.5)),
		lower("beside an import / quiet, upload", busyUpload.quantile(.5)/quietUpload.quantile(.5)).aim(3),
		lower("first token p50 ms, quiet", quietToken.quantile(.5)),
		lower("first token p50 ms, beside an import", busyToken.quantile(.5)),
		lower("beside an import / quiet, first token", busyToken.quantile(.5)/quietToken.quantile(.5)).aim(2),
	}, nil
}

// otherWorkspace makes a second workspace with a project, and returns a client of it.
func (s *server) otherWorkspace(ctx context.Context) (*client.Client, error) {
	if err := s.send(ctx, "POST", "/workspaces", map[string]any{"id": "other"}, nil); err != nil {
		return nil, err
	}
	c, err := client.New(client.Config{URL: s.Endpoints().API, Key: s.Key(), Workspace: "other"})
	if err != nil {
		return nil, err
	}
	_, err = c.SaveProject(ctx, client.Project{Name: "default"})
	return c, err
}

// probe uploads documents and asks questions, one after the other.
type probe struct {
	client *client.Client
	list   []abstract
	texts  []string
	done   int // probes
}

// beside makes a round while an import runs.
func (p *probe) beside(ctx context.Context, s *server, objects *bucket) (upload, token *samples, err error) {
	c, err := s.Client()
	if err != nil {
		return nil, nil, err
	}
	i, err := c.StartImport(ctx, client.NewImport{Project: "default", Source: objects.source("many/")})
	if err != nil {
		return nil, nil, err
	}
	for i.Published == 0 && i.Status == "running" && err == nil {
		time.Sleep(20 * time.Millisecond)
		i, err = c.Import(ctx, i.ID)
	}
	if err != nil {
		return nil, nil, err
	}
	if upload, token, err = p.round(ctx); err != nil {
		return nil, nil, err
	}
	if i, err = c.Import(ctx, i.ID); err == nil && i.Status != "running" {
		err = fmt.Errorf("the import was %s before the last question; measure with more -objects", i.Status)
	}
	return upload, token, err
}

// round returns how long documents took from the upload to the publication, and
// questions to the first words.
func (p *probe) round(ctx context.Context) (upload, token *samples, err error) {
	upload, token = &samples{}, &samples{}
	for range fairProbes {
		a := p.list[p.done%len(p.list)]
		begin := time.Now()
		d, err := p.client.AddDocument(ctx, client.NewDocument{Project: "default", Name: fmt.Sprint("note ", p.done), Content: client.Content{Text: a.title + "\n\n" + a.text}})
		if err != nil {
			return nil, nil, err
		}
		if _, err := p.client.Wait(ctx, d.RunID, nil); err != nil {
			return nil, nil, err
		}
		upload.add(time.Since(begin))
		if err := p.ask(ctx, token); err != nil {
			return nil, nil, err
		}
		p.done++
		time.Sleep(50 * time.Millisecond) // so that a round meets several moments of an import
	}
	return upload, token, nil
}

// ask asks one question, adds the time to its first words, and reads it to its end.
func (p *probe) ask(ctx context.Context, token *samples) error {
	begin, said := time.Now(), false
	for e, err := range p.client.Ask(ctx, client.Question{Text: p.texts[p.done%len(p.texts)], Project: "default"}) {
		switch {
		case err != nil:
			return err
		case e.Name == client.EventError:
			return fmt.Errorf("the question failed: %s", e.Data)
		case e.Name == client.EventChunk && !said:
			said = true
			token.add(time.Since(begin))
		}
	}
	return nil
}
