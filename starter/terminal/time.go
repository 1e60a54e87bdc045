package terminal

import (
	"fmt"
	"io"
	"time"
)

// Time writes a time to the second in the reader's zone, with the zone's offset; zero is
// nothing.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 -0700")
}

// datesAfter is the age after which a day says more than the number of days since.
const datesAfter = 60 * 24 * time.Hour

// When writes a time for a table: on a screen how long ago it was, or after two months its
// day; elsewhere as Time does.
func When(out io.Writer, t time.Time) string {
	age := time.Since(t)
	switch {
	case t.IsZero() || Width(out) == 0:
		return Time(t)
	case age >= datesAfter:
		return t.Local().Format(time.DateOnly)
	case age >= 48*time.Hour:
		return fmt.Sprintf("%d d ago", age/(24*time.Hour))
	case age >= time.Hour:
		return fmt.Sprintf("%d h ago", age/time.Hour)
	case age >= time.Minute:
		return fmt.Sprintf("%d min ago", age/time.Minute)
	case age >= time.Second:
		return fmt.Sprintf("%d s ago", age/time.Second)
	default:
		return "now" // also where the server's clock is ahead
	}
}

// Duration writes a time span in its two largest units.
func Duration(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
}
