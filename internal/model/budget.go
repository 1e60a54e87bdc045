package model

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// budget is how much an endpoint still takes, of requests or of tokens, as the headers
// of its last answer said. The zero budget is unlimited.
type budget struct {
	limit, remaining float64
	at, reset        time.Time // remaining was counted at the time at, and is limit again at reset; a reset in the past ends the budget
	refills          bool      // steadily until reset, not at once
}

// ready returns when the endpoint takes n.
func (b *budget) ready(now time.Time, n float64) time.Time {
	if !b.reset.After(now) {
		return now
	}
	if b.limit > 0 {
		n = min(n, b.limit) // a larger request has to be tried at some time
	}
	if b.refills && b.limit > b.remaining {
		part := float64(now.Sub(b.at)) / float64(b.reset.Sub(b.at))
		b.remaining, b.at = b.remaining+part*(b.limit-b.remaining), now
	}
	switch {
	case b.remaining >= n:
		return now
	case b.refills && b.limit > b.remaining:
		part := (n - b.remaining) / (b.limit - b.remaining)
		return now.Add(time.Duration(part * float64(b.reset.Sub(now))))
	default:
		return b.reset
	}
}

// update reads the headers of an answer. kind is "requests" or "tokens". An answer
// without such headers changes nothing.
func (b *budget) update(now time.Time, h http.Header, kind string) {
	prefixes := []struct {
		before, after string
		refills       bool
	}{
		{"X-Ratelimit-", "-" + kind, true}, // as OpenAI sends them
		{"Ratelimit-", "", false}, {"X-Ratelimit-", "", false},
	}
	if kind == "tokens" {
		prefixes = prefixes[:1]
	}
	for _, p := range prefixes {
		remaining, err := strconv.ParseFloat(h.Get(p.before+"Remaining"+p.after), 64)
		pause := pause(h.Get(p.before+"Reset"+p.after), now)
		if err != nil || !(remaining >= 0) || pause == 0 {
			continue
		}
		limit, _ := strconv.ParseFloat(h.Get(p.before+"Limit"+p.after), 64) // 0 = not known
		*b = budget{limit: limit, remaining: remaining, at: now, reset: now.Add(pause), refills: p.refills}
		return
	}
	if kind == "requests" {
		b.updateFromList(now, h)
	}
}

// The parameters of the header RateLimit: what remains, and the seconds until the reset.
var (
	remainingParameter = regexp.MustCompile(`\b(?:r|remaining)=(\d{1,9})\b`)
	resetParameter     = regexp.MustCompile(`\b(?:t|reset)=(\d{1,9})\b`)
)

// updateFromList reads the header RateLimit, which lists policies ("burst";r=0;t=30) or,
// in its older form, describes one (limit=9, remaining=0, reset=30). The first policy
// that is used up counts.
func (b *budget) updateFromList(now time.Time, h http.Header) {
	value := strings.Join(h.Values("Ratelimit"), ",")
	policies := strings.Split(value, ",")
	if strings.Contains(value, "remaining=") {
		policies = []string{value}
	}
	for _, policy := range policies {
		remaining, reset := remainingParameter.FindStringSubmatch(policy), resetParameter.FindStringSubmatch(policy)
		if remaining == nil || reset == nil || strings.Trim(remaining[1], "0") != "" {
			continue
		}
		if pause := pause(reset[1], now); pause > 0 {
			*b = budget{reset: now.Add(pause)}
			return
		}
	}
}

// pause reads the time until a reset: "6m0s", "120ms", seconds, or a point in time in
// seconds since 1970 or as RFC 3339. It returns 0 for anything else.
func pause(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if seconds > 1e8 { // three years
			seconds -= float64(now.Unix())
		}
		return boundedWait(seconds * float64(time.Second))
	}
	if d, err := time.ParseDuration(value); err == nil {
		return boundedWait(float64(d))
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return boundedWait(float64(at.Sub(now)))
	}
	return 0
}
