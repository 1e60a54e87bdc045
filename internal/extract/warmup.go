package extract

import (
	"context"
	"errors"
	"sync"
)

// warmup fills the cache of a pool with compiled pdfium. A child that parses cannot
// write there, or a hostile document could leave code for all others. So a child that
// parses nothing does it.
type warmup struct {
	mu      sync.Mutex
	done    chan struct{} // closed when the cache is filled, or could not be; nil = not begun
	running sync.WaitGroup
}

// warmed returns a channel that is closed when a child may start pdfium: at once without
// a cache, else when it is filled. Of a cache that cannot be filled the log says why, and
// the next call tries again; a child then compiles pdfium for itself.
func (p *Pool) warmed() <-chan struct{} {
	w := &p.cache
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done != nil {
		return w.done
	}
	done := make(chan struct{})
	if p.cfg.CacheDir == "" {
		return nil // the child does not wait
	}
	w.done = done
	w.running.Go(func() {
		defer close(done)
		if err := p.warm(p.closed); err != nil {
			w.mu.Lock()
			w.done = nil
			w.mu.Unlock()
			if p.closed.Err() == nil {
				p.cfg.Logger.Warn("cannot fill the cache of the PDF reader", "error", err)
			}
		}
	})
	return done
}

// warm has a child of its own start pdfium, which compiles it into the cache unless it is
// there.
func (p *Pool) warm(ctx context.Context) error {
	c, err := startChild(ctx, p.cfg, true)
	if err != nil {
		return err
	}
	defer c.stop()
	if err := writeFrame(c.in, request{Warm: true}); err != nil {
		return c.fault()
	}
	ctx, cancel := context.WithTimeout(ctx, libraryTimeout)
	defer cancel()
	for {
		select {
		case a, ok := <-c.responses:
			switch {
			case !ok || a.err != nil:
				return c.fault()
			case a.response.Note != "":
				continue
			case a.response.Error != nil:
				return a.response.Error.toError()
			}
			return nil
		case <-ctx.Done():
			c.kill()
			return errors.Join(errors.New("pdfium did not start"), context.Cause(ctx))
		}
	}
}
