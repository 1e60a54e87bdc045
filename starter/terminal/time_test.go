package terminal_test

import (
	"io"
	"regexp"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/starter/terminal"
)

func TestWhen(t *testing.T) {
	t.Parallel()
	const second = `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$`
	screen := terminal.Screen{Writer: io.Discard, Width: 80}
	for _, test := range []struct {
		name string
		out  io.Writer
		age  time.Duration
		want string
	}{
		{"a_minute_on_a_screen", screen, 90 * time.Second, `^1 min ago$`},
		{"hours_on_a_screen", screen, 47*time.Hour + 59*time.Minute, `^47 h ago$`},
		{"days_on_a_screen", screen, 59*24*time.Hour + time.Hour, `^59 d ago$`},
		{"months_on_a_screen", screen, 61 * 24 * time.Hour, `^\d{4}-\d\d-\d\d$`},
		{"a_clock_that_is_ahead", screen, -time.Hour, `^now$`},
		{"a_screen_that_shows_all", terminal.Wide(screen), time.Hour, second},
		{"a_pipe", io.Discard, time.Hour, second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := terminal.When(test.out, time.Now().Add(-test.age)); !regexp.MustCompile(test.want).MatchString(got) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := terminal.When(screen, time.Time{}) + terminal.When(io.Discard, time.Time{}); got != "" {
		t.Errorf("no time is %q", got)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		3 * time.Millisecond: "0.003 s", 59 * time.Second: "59 s", 90 * time.Second: "1 min 30 s",
		3599 * time.Second: "59 min 59 s", 25 * time.Hour: "25 h 0 min", 75 * time.Hour: "3 d 3 h",
	} {
		if got := terminal.Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}
