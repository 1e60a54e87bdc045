package intake_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/intake"
)

func FuzzNames(f *testing.F) {
	for _, seed := range []string{"a.txt", "../../etc/passwd", `C:\x\y`, "a\r\nb", "a\x00b", "\u202ea", " / . / ", "\xff", strings.Repeat("é", 513), "a/\u00a0/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name, err := intake.CleanName(given, "body.name")
		if err != nil {
			return
		}
		switch n := utf8.RuneCountInString(name); {
		case n == 0 || n > 512 || !utf8.ValidString(name):
			t.Errorf("%q became %q", given, name)
		case strings.ContainsAny(name, `/\`) || strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }):
			t.Errorf("%q became %q, which is not safe to show", given, name)
		}
		if again, err := intake.CleanName(name, "body.name"); err != nil || again != name {
			t.Errorf("%q became %q, and that %q, %v", given, name, again, err)
		}
	})
}
