package server

import (
	"context"
	"slices"
	"time"
)

// releasePatience bounds the time to wake imports.
const releasePatience = 30 * time.Second

// releaseHeld wakes the imports that wait for an endpoint each time one takes requests
// again. It wakes them at the start too: what the process before knew of its endpoints is
// gone, and nothing is held any more.
func (p *platform) releaseHeld(context.Context) error {
	clients := append(slices.Clone(p.chats.Clients()), p.embed, p.transcribe)
	lifted := make(chan struct{}, 1)
	lifted <- struct{}{}
	for _, c := range clients {
		if c != nil {
			c.WhenLifted(func() {
				select {
				case lifted <- struct{}{}:
				default: // it will be looked at
				}
			})
		}
	}
	p.background(func(ctx context.Context) {
		for {
			select {
			case <-lifted:
				p.wakeHeld(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return nil
}

// wakeHeld signals the pages of imports that wait. Those that it does not reach try again
// when they are told to.
func (p *platform) wakeHeld(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releasePatience)
	defer cancel()
	list, err := p.store.HeldForSystem(ctx)
	for _, held := range list {
		if err == nil {
			err = p.workflow.ReleaseImport(ctx, held, false)
		}
	}
	if err != nil {
		p.log.WarnContext(ctx, "imports that waited for a model are not woken; they try again within minutes", "error", err)
	}
}
