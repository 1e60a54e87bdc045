package script_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/script"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("small print ", 5)
	for _, tc := range []struct {
		at         script.Position
		text, want string
	}{
		{script.OnLine, "6", "6"},
		{script.Raised, "6", "⁶"},
		{script.Lowered, "2", "₂"},
		{script.Raised, "[1]", "[1]"},
		{script.Raised, long, long},
		{script.Lowered, "", ""},
	} {
		if got := script.Write(tc.at, tc.text); got != tc.want {
			t.Errorf("Write(%v, %q) = %q, want %q", tc.at, tc.text, got, tc.want)
		}
	}
}
