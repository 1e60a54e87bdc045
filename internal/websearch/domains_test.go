package websearch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/websearch"
)

func parse(t *testing.T, given ...string) websearch.Domains {
	t.Helper()
	d, err := websearch.ParseDomains("body.whitelisted_domains", given)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParseDomains(t *testing.T) {
	t.Parallel()
	got := parse(t, "Example.COM", " *.b.org ", "https://c.org/docs", "d.org.", "bücher.de", "127.0.0.1", "[::1]:8080", "localhost:80")
	want := websearch.Domains{"example.com", "b.org", "c.org", "d.org", "xn--bcher-kva.de", "127.0.0.1", "::1", "localhost"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []string{"", "a b", "user@example.com", "https://", "*", "a..b", "fe80::1%eth0"} {
		if _, err := websearch.ParseDomains("body.x", []string{wrong}); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// TestOnly: what may be used with a list of domains, and what only looks like it.
func TestOnly(t *testing.T) {
	t.Parallel()
	rules := websearch.Rules{Only: []websearch.Domains{parse(t, "example.com", "bücher.de", "127.0.0.1")}}
	for address, want := range map[string]bool{
		"https://example.com/a":            true,
		"http://EXAMPLE.com":               true,
		"https://docs.example.com/a?b#c":   true,
		"https://a.b.example.com":          true,
		"https://example.com:8443/":        true,
		"https://bücher.de/":               true,
		"https://www.xn--bcher-kva.de/":    true,
		"http://127.0.0.1:9000/":           true,
		"https://evil-example.com/":        false,
		"https://example.com.evil.org/":    false,
		"https://example.comevil.org/":     false,
		"https://evil.org/example.com":     false,
		"https://evil.org/?u=example.com":  false,
		"https://evil.org#.example.com":    false,
		"https://example.com@evil.org/":    false,
		"https://user@example.com/":        false,
		"https://example.com:80@evil.org/": false,
		"https://example.com./":            false,
		"https://example.com%2eevil.org/":  false,
		"https://exаmple.com/":             false, // the third letter is Cyrillic
		"https://xn--exmple-cua.com/":      false,
		"https://a.127.0.0.1/":             false,
		"http://2130706433/":               false,
		"ftp://example.com/":               false,
		"javascript:example.com":           false,
		"//example.com/":                   false,
		"https:///example.com":             false,
		"":                                 false,
		"https://com/":                     false,
	} {
		if got := rules.Allow(address); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

func TestTwoListsOfOnly(t *testing.T) {
	t.Parallel()
	rules := websearch.Rules{Only: []websearch.Domains{parse(t, "a.org", "b.org"), parse(t, "docs.a.org", "c.org")}}
	for address, want := range map[string]bool{"https://docs.a.org/": true, "https://a.org/": false, "https://c.org/": false} {
		if got := rules.Allow(address); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

func TestNeverAndBonus(t *testing.T) {
	t.Parallel()
	rules := websearch.Rules{Never: parse(t, "spam.org"), Bonus: parse(t, "good.org")}
	for address, want := range map[string]bool{
		"https://spam.org/": false, "https://www.spam.org/a": false, "https://SPAM.org./": false, "https://notspam.org/": true, "https://any.com:81/": true,
	} {
		if got := rules.Allow(address); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
	preferred, other := rules.Score("https://docs.good.org/", 0.9), rules.Score("https://other.org/", 1)
	if preferred <= other || preferred > 1 || rules.Score("https://good.org/", 1) != 1 {
		t.Errorf("a preferred page has %v, another %v", preferred, other)
	}
	if got := (websearch.Rules{}).Score("https://good.org/", 0.9); got != 0.9 {
		t.Errorf("without preferred domains a page has %v", got)
	}
}
