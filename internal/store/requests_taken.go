package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// windowSeconds is how many seconds a limit of requests counts back.
const windowSeconds = 60

// secondCount is how many requests were leased in a second, as [second, requests].
type secondCount [2]int64

// TakeRequests takes as many of the wanted requests as a limit has left in the last sixty
// seconds: none above the limit is taken in any sixty seconds, whatever clock minute they are
// in. Of several callers at once no two get the same request.
func (s *leaseStore) TakeRequests(ctx context.Context, r TokenRequest) (tokens Tokens, err error) {
	now := s.orNow(r.Now)
	err = s.count(ctx, "take requests of a limit", func(ctx context.Context, tx transaction) error {
		var text string
		_, err := first(ctx, tx, []any{&text}, `INSERT INTO request_windows (name, counts, updated_at) VALUES (?, '[]', ?)
			ON CONFLICT (name) DO UPDATE SET updated_at = excluded.updated_at RETURNING counts`, r.Name, micros(now))
		if err != nil {
			return err
		}
		var counts []secondCount
		if err := json.Unmarshal([]byte(text), &counts); err != nil {
			return fmt.Errorf("decode the requests of %s: %w", r.Name, err)
		}
		counts, used := within60(counts, now.Unix())
		left := r.PerMinute - used
		if left <= 0 {
			tokens = Tokens{Wait: time.Unix(counts[0][0]+windowSeconds, 0).Sub(now)}
			return nil
		}
		taken := min(left, r.Tokens)
		tokens = Tokens{Taken: taken, Left: left - taken}
		if text, err = encode(counted(counts, now.Unix(), taken)); err != nil {
			return err
		}
		if _, err = tx.exec(ctx, "UPDATE request_windows SET counts = ? WHERE name = ?", text, r.Name); err != nil {
			return err
		}
		_, err = tx.exec(ctx, "DELETE FROM request_windows WHERE name IN (SELECT name FROM request_windows WHERE updated_at < ? ORDER BY updated_at LIMIT ?)",
			micros(now.Add(-time.Hour)), idleRatesPerTake)
		return err
	})
	return tokens, err
}

// within60 returns the counts of the last sixty seconds, and their sum. Counts that are further
// ahead than clocks differ were written by a clock that was wrong.
func within60(counts []secondCount, now int64) (kept []secondCount, used int) {
	for _, c := range counts {
		if c[0] > now-windowSeconds && c[0] <= now+int64(maxSkew.Seconds()) {
			kept, used = append(kept, c), used+int(c[1])
		}
	}
	return kept, used
}

// counted adds requests to those of a second. The counts stay in the order of their seconds.
func counted(counts []secondCount, second int64, n int) []secondCount {
	at := len(counts)
	for at > 0 && counts[at-1][0] > second {
		at--
	}
	if at > 0 && counts[at-1][0] == second {
		counts[at-1][1] += int64(n)
		return counts
	}
	return append(counts[:at:at], append([]secondCount{{second, int64(n)}}, counts[at:]...)...)
}
