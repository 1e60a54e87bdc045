package webhook

import "time"

// GiveUpAfter is how long a delivery is attempted.
const GiveUpAfter = 3 * 24 * time.Hour

// The delays between attempts: each is three times as long as the one before.
const (
	firstDelay = time.Second
	maxDelay   = 3 * time.Hour
)

// NextAttempt returns when the next attempt of a delivery is, after so many attempts
// that failed, the last of them at now with the given result: when the webhook asks
// for it, else after a growing delay. The delivery began at since. last is true if
// there is none, because three days are over.
func NextAttempt(attempts int, since, now time.Time, r Result) (at time.Time, last bool) {
	end := since.Add(GiveUpAfter)
	if !now.Before(end) {
		return time.Time{}, true
	}
	delay := r.RetryAfter
	if delay == 0 {
		delay = firstDelay
		for range attempts - 1 {
			delay = min(3*delay, maxDelay)
		}
	}
	if at = now.Add(delay); at.After(end) {
		at = end
	}
	return at, false
}
