package model

import (
	"context"
	"net/http"
	"time"
)

// Pacer is a pacer for tests.
type Pacer struct{ pacer }

// Await is await.
func (p *Pacer) Await(ctx context.Context, tokens int, turn Turn) (wait time.Duration, ok bool, err error) {
	return p.await(ctx, tokens, turn)
}

// Observe is observe, now.
func (p *Pacer) Observe(sent time.Time, status int, headers ...string) {
	h := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	p.observe(sent, time.Now(), status, h)
}
