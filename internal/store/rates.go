package store

import (
	"context"
	"time"
)

// TokenRequest asks for a part of what may be done in a minute.
type TokenRequest struct {
	Name      string // of the limit
	PerMinute int    // of the limit, above 0
	Tokens    int    // how many are wanted, above 0
	Now       time.Time
}

// Tokens are the tokens that TakeTokens took of a limit.
type Tokens struct {
	Taken int
	Left  int           // that the limit still has
	Wait  time.Duration // until it has one, if none was taken
}

// idleRatesPerTake is how many idle limits each TakeTokens deletes.
const idleRatesPerTake = 5

// TakeTokens takes as many of the wanted tokens as the limit has left. A limit has its
// tokens of one minute at first, and gets them back evenly over a minute. Of several
// callers at once no two get the same token.
//
// The row of a limit is one time, used_until: each token moves it on by its share of a
// minute, and it may be a minute ahead of the clock. A limit that is further ahead than
// clocks differ was written by a clock that was wrong, and counts as new.
func (s *leaseStore) TakeTokens(ctx context.Context, r TokenRequest) (tokens Tokens, err error) {
	now, minute := micros(s.orNow(r.Now)), time.Minute.Microseconds()
	share := max(minute/int64(r.PerMinute), 1)
	err = s.count(ctx, "take tokens of a rate limit", func(ctx context.Context, tx transaction) error {
		var used int64
		_, err := first(ctx, tx, []any{&used}, `INSERT INTO rate_limits (name, used_until) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET
			used_until = CASE WHEN rate_limits.used_until < excluded.used_until THEN excluded.used_until ELSE rate_limits.used_until END
			RETURNING used_until`, r.Name, now)
		if err != nil {
			return err
		}
		if used > now+minute+maxSkew.Microseconds() {
			if used, err = now, resetRate(ctx, tx, r.Name, now); err != nil {
				return err
			}
		}
		left := max(int((now+minute-used)/share), 0)
		if left == 0 {
			tokens = Tokens{Wait: time.Duration(used+share-now-minute) * time.Microsecond}
			return nil
		}
		taken := min(left, r.Tokens)
		tokens = Tokens{Taken: taken, Left: left - taken}
		_, err = tx.exec(ctx, "UPDATE rate_limits SET used_until = used_until + ? WHERE name = ?", int64(taken)*share, r.Name)
		if err == nil { // a limit that is unused for an hour is as good as a new one
			_, err = tx.exec(ctx, "DELETE FROM rate_limits WHERE name IN (SELECT name FROM rate_limits WHERE used_until < ? ORDER BY used_until LIMIT ?)",
				now-time.Hour.Microseconds(), idleRatesPerTake)
		}
		return err
	})
	return tokens, err
}

// resetRate makes a limit a new one.
func resetRate(ctx context.Context, tx transaction, name string, now int64) error {
	_, err := tx.exec(ctx, "UPDATE rate_limits SET used_until = ? WHERE name = ?", now, name)
	return err
}
