package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/config"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bucket.json")
	if err := os.WriteFile(path, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, config.Options{
		File:    file(t, "secrets:\n  from-file: file:"+path+"\n  from-env: env:BUCKET\n"),
		Environ: []string{"BUCKET=hidden", "CAIRN_SECRETS__BY_VARIABLE=env:BUCKET"},
	})
	for name, want := range map[string]string{"from-file": "first", "from-env": "hidden", "by_variable": "hidden"} {
		got, err := c.Secret(name)
		if err != nil || string(got) != want || !c.HasSecret(name) {
			t.Errorf("secret %s is %q, %v", name, got, err)
		}
	}
	if err := os.WriteFile(path, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Secret("from-file"); err != nil || string(got) != "second" {
		t.Errorf("after a change of the file it is %q, %v", got, err)
	}
	if _, err := c.Secret("other"); !errors.Is(err, config.ErrNoSecret) || c.HasSecret("other") {
		t.Errorf("a secret that is not there: %v", err)
	}
	shown := c.Masked()
	if strings.Contains(shown, "hidden") || !strings.Contains(shown, "from-env: env:BUCKET") {
		t.Errorf("shown as\n%s", shown)
	}
	again := load(t, config.Options{File: file(t, shown), Environ: []string{"BUCKET=hidden"}})
	if len(again.Secrets) != 3 {
		t.Errorf("read back as %v", again.Secrets)
	}
}

func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"secrets:\n  a: env:MISSING": "names the environment variable MISSING, which is not set",
		"secrets:\n  a: hunter2":     "write env:VARIABLE or file:/absolute/path, not the secret itself",
		"secrets:\n  a: file:b.json": "write env:VARIABLE or file:/absolute/path",
		"secrets:\n  A B: env:PATH":  "a name has lower case letters",
		"secrets: env:PATH":          "secrets",
	} {
		_, err := config.Load(config.Options{File: file(t, text), Environ: []string{"PATH=/bin"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestSecretsOfHosts(t *testing.T) {
	t.Parallel()
	c := load(t, config.Options{
		File:    file(t, "secrets: {shop: 'env:A', wide: 'env:A', open: 'env:A'}\nsecret_hosts: {shop: [api.example.com, 10.0.0.1]}"),
		Environ: []string{"A=a", "CAIRN_SECRET_HOSTS__WIDE=*.example.org"},
	})
	for name, hosts := range map[string]map[string]bool{
		"shop": {"api.example.com": true, "API.example.com.": true, "10.0.0.1": true, "example.com": false, "api.example.com.evil.net": false, "xapi.example.com": false, "": false},
		"wide": {"a.example.org": true, "a.b.example.org": true, "example.org": false, "evilexample.org": false, ".example.org": false, "": false},
		"open": {"anything.net": true, "": true},
	} {
		for host, allowed := range hosts {
			value, err := c.SecretFor(name, host)
			if allowed != (err == nil && string(value) == "a") || !allowed && !errors.Is(err, config.ErrOtherHost) {
				t.Errorf("%s for %q: %q, %v", name, host, value, err)
			}
		}
	}
	if !strings.Contains(c.Masked(), "secret_hosts:\n  shop:\n    - api.example.com") {
		t.Error(c.Masked())
	}
	for _, wrong := range []string{"{none: [x.net]}", "{shop: []}", "{shop: ['https://x.net']}", "{shop: ['x.net:443']}", "{shop: ['*']}"} {
		if _, err := config.Load(config.Options{File: file(t, "secrets: {shop: 'env:A'}\nsecret_hosts: "+wrong), Environ: []string{"A=a"}}); err == nil || !strings.Contains(err.Error(), "secret_hosts.") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
