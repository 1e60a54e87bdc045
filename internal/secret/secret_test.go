package secret_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/secret"
)

func newBox(t *testing.T) *secret.Box {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestBox(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	sealed, err := box.Seal("open sesame", "document 1")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(sealed, "sesame") {
		t.Errorf("the sealed value holds the plain one: %s", sealed)
	}

	t.Run("the same key and context open a value", func(t *testing.T) {
		t.Parallel()
		if plain, err := box.Open(sealed, "document 1"); err != nil || plain != "open sesame" {
			t.Errorf("Open = %q, %v", plain, err)
		}
	})
	t.Run("two seals of a value differ", func(t *testing.T) {
		t.Parallel()
		if again, err := box.Seal("open sesame", "document 1"); err != nil || again == sealed {
			t.Errorf("Seal = %q, %v", again, err)
		}
	})
	t.Run("an empty value is a value", func(t *testing.T) {
		t.Parallel()
		empty, err := box.Seal("", "c")
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := box.Open(empty, "c"); err != nil || plain != "" {
			t.Errorf("Open = %q, %v", plain, err)
		}
	})

	flipped := []byte(sealed)
	flipped[len(flipped)/2] ^= 1
	for name, open := range map[string]func() (string, error){
		"another context": func() (string, error) { return box.Open(sealed, "document 2") },
		"another key":     func() (string, error) { return newBox(t).Open(sealed, "document 1") },
		"a changed value": func() (string, error) { return box.Open(string(flipped), "document 1") },
		"a cut value":     func() (string, error) { return box.Open(sealed[:10], "document 1") },
		"a plain value":   func() (string, error) { return box.Open("open sesame", "document 1") },
		"no value":        func() (string, error) { return box.Open("", "document 1") },
	} {
		t.Run(name+" does not open", func(t *testing.T) {
			t.Parallel()
			if plain, err := open(); plain != "" || !errors.Is(err, secret.ErrOpen) {
				t.Errorf("Open = %q, %v", plain, err)
			}
		})
	}
}

func TestNewBox(t *testing.T) {
	t.Parallel()
	if _, err := secret.NewBox([]byte("short")); err == nil {
		t.Error("a short key is accepted")
	}
}
