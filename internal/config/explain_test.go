package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/config"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cairn.yaml")
	text := "listen: 127.0.0.1:1\nlimits:\n  parsers: 3\negress:\n  allow: [10.0.0.0/8]\nauth:\n  jwt:\n    secret: " + strings.Repeat("s", 40) + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	options := config.Options{File: file, Environ: []string{"CAIRN_LISTEN=127.0.0.1:2", "CAIRN_SECRETS__BUCKET=env:KEY", "CAIRN_SECRETS__BUCKET__HOSTS=x.net", "KEY=hidden"}}
	for _, test := range []struct{ key, value, from string }{
		{"listen", "127.0.0.1:2", "environment variable CAIRN_LISTEN"},
		{"limits.parsers", "3", "configuration file " + file},
		{"limits.file_bytes", "100MB", "default"},
		{"egress.allow", "- 10.0.0.0/8", "configuration file " + file},
		{"auth.jwt.secret", "'********'", "configuration file " + file},
		{"secrets.bucket", "env:KEY", "environment variable CAIRN_SECRETS__BUCKET"},
		{"secrets.bucket.value", "env:KEY", "environment variable CAIRN_SECRETS__BUCKET"},
		{"secrets.bucket.hosts", "- x.net", "environment variable CAIRN_SECRETS__BUCKET__HOSTS"},
		{"secrets.bucket.uses", "[]", "default"},
	} {
		e, err := config.Explain(test.key, options)
		if err != nil || strings.Trim(e.Value, "'") != strings.Trim(test.value, "'") || e.From != test.from || !strings.Contains(e.Meaning, "Defaults to ") || e.Key != test.key {
			t.Errorf("%s: %+v, %v", test.key, e, err)
		}
	}
	for _, key := range []string{"limits.file_byte", "limits", "", "secrets.other", "secrets.bucket.owner"} {
		if e, err := config.Explain(key, options); err == nil {
			t.Errorf("%q is explained as %+v", key, e)
		}
	}
	if _, err := config.Explain("limits.file_byte", options); err == nil || !strings.Contains(err.Error(), "limits.file_bytes") {
		t.Errorf("the nearest key is not named: %v", err)
	}
}
