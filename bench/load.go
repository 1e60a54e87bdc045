package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// load calls work n times from so many clients at the same time, until one call
// fails; i counts the calls. It returns the time that all took.
func load(ctx context.Context, clients, n int, work func(ctx context.Context, i int) error) (time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	begin := time.Now()
	for range clients {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := work(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return time.Since(begin), context.Cause(ctx)
}

// clientCount names a number of clients in a figure.
func clientCount(n int) string {
	if n == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", n)
}

// samples are durations that several clients gather.
type samples struct {
	mu   sync.Mutex
	list []time.Duration
}

func (s *samples) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, d)
}

// quantile returns the q-quantile in milliseconds.
func (s *samples) quantile(q float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return 0
	}
	slices.Sort(s.list)
	return float64(s.list[min(int(q*float64(len(s.list))), len(s.list)-1)].Microseconds()) / 1000
}

// median returns the middle of some values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
