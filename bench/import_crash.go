package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// bulkCrash imports objects while the whole process is killed at random moments.
func bulkCrash(ctx context.Context, b *bench) (figures []figure, err error) {
	s, err := b.withBucket(ctx, &modeltest.Options{}, map[string]int{"many/": b.objects})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	begin := time.Now()
	i, err := s.importOverKills(ctx, s.objects, b.objects, rand.New(rand.NewPCG(b.seed, 0)))
	if err != nil {
		return nil, err
	}
	took := time.Since(begin)
	lost, double, err := settle(ctx, s.server, b.objects)
	if err != nil {
		return nil, err
	}
	n := int64(b.objects)
	return []figure{
		higher(fmt.Sprintf("objects published over %d kills", crashKills), float64(i.Published)).aim(float64(n)),
		lower("objects that the counters count wrong", float64(distance(i.Discovered, n)+distance(i.Published+i.Skipped+i.Failed, n))).aim(0),
		lower("documents lost", float64(lost)).aim(0),
		lower("documents or passages stored twice", float64(double)).aim(0),
		lower("objects read again", float64(s.objects.read.Load()-n)),
		lower("s to the end, starts included", took.Seconds()),
	}, nil
}

// importOverKills imports n objects, and kills the server after each sixth of them and
// a random time.
func (s *server) importOverKills(ctx context.Context, objects *bucket, n int, random *rand.Rand) (client.Import, error) {
	c, err := s.Client()
	if err != nil {
		return client.Import{}, err
	}
	i, err := c.StartImport(ctx, client.NewImport{Project: "default", Source: objects.source("many/")})
	for kills := 0; err == nil && i.Status == "running"; i, err = c.Import(ctx, i.ID) {
		if kills == crashKills || i.Published < int64((kills+1)*n/(crashKills+1)) {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		kills++
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		if err := s.kill(); err != nil {
			return i, err
		}
		if _, err := s.start(ctx); err != nil {
			return i, err
		}
	}
	if err == nil && i.Status != "completed" {
		err = fmt.Errorf("the import is %s", i.Status)
	}
	return i, err
}

func distance(a, b int64) int64 { return max(a-b, b-a) }
