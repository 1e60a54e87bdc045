package question

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/quota"
)

// sharedRates counts against limits that several processes share.
type sharedRates struct {
	leases *quota.Leases
	now    func() time.Time
}

func newSharedRates(s Store, now func() time.Time) *sharedRates {
	return &sharedRates{now: now, leases: quota.NewLeases(quota.LeaseConfig{
		// A limit is used up by 20 leases, each a write to SQL. The last of the allowance may be
		// refused to one process while another has it leased.
		Share: 20, Largest: 50,
		Life: time.Minute, // after that the limit has as many again
		Take: s.TakeTokens,
	})}
}

// take implements limiter.
func (r *sharedRates) take(ctx context.Context, name string, perMinute int) (remaining int, wait time.Duration, err error) {
	got, err := r.leases.Take(ctx, r.now(), name, perMinute)
	return got.Remaining, got.Wait, err
}
