package console_test

import (
	"os"
	"strings"
	"testing"
)

// TestEmbedIsOneSmallFile bounds what every page of another site loads that shows an agent.
func TestEmbedIsOneSmallFile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("static/embed.js")
	if err != nil {
		t.Fatal(err)
	}
	if len(text) == 0 || len(text) > 25<<10 || strings.Contains(string(text), "import ") || strings.Contains(string(text), "import(") {
		t.Errorf("it has %d bytes, and must have at most 25 KB and load nothing", len(text))
	}
}
