package html_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/html"
)

var allPages = flag.Bool("all", false, "measure the main text of all pages and not of every sixth")

// goldPage is a page as its publisher serves it, with pieces of text that a person
// found in its main text and pieces that the person found elsewhere on the page.
type goldPage struct {
	url, content    string
	inside, outside []string
}

// goldPages returns the pages of go-trafilatura's own comparison, which come with
// the module. They are not ours to copy.
func goldPages(t *testing.T) []goldPage {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/markusmobius/go-trafilatura").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(out))
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "scripts", "comparison", "data.go"), nil, 0)
	if err != nil {
		t.Skip("the module cache does not have the pages of go-trafilatura; run: go mod download github.com/markusmobius/go-trafilatura")
	}
	var pages []goldPage
	ast.Inspect(file, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, isKey := pair.Key.(*ast.BasicLit)
		fields, isEntry := pair.Value.(*ast.CompositeLit)
		if !isKey || !isEntry {
			return true
		}
		if page := goldPageOf(dir, fields); page.content != "" {
			page.url = key.Value
			pages = append(pages, page)
		}
		return false
	})
	slices.SortFunc(pages, func(a, b goldPage) int { return strings.Compare(a.url, b.url) })
	return pages
}

func goldPageOf(dir string, fields *ast.CompositeLit) (page goldPage) {
	for _, e := range fields.Elts {
		field, _ := e.(*ast.KeyValueExpr)
		switch field.Key.(*ast.Ident).Name {
		case "File":
			name := stringsOf(field.Value)[0]
			for _, folder := range []string{"comparison", "mock"} {
				if content, err := os.ReadFile(filepath.Join(dir, "test-files", folder, name)); err == nil {
					page.content = string(content)
				}
			}
		case "With":
			page.inside = stringsOf(field.Value)
		case "Without":
			page.outside = stringsOf(field.Value)
		}
	}
	return page
}

// stringsOf returns the string literals in an expression, with single spaces.
func stringsOf(e ast.Expr) (out []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok {
			if s, err := strconv.Unquote(literal.Value); err == nil {
				out = append(out, oneLine(s))
			}
		}
		return true
	})
	return out
}

// oneLine returns text with single spaces and without soft hyphens, which no page shows.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\u00ad", "")), " ")
}

// tally counts the pieces of text that were found.
type tally struct{ inside, missed, outside int }

func (c *tally) add(page goldPage, text string) {
	text = oneLine(text)
	for _, piece := range page.inside {
		if strings.Contains(text, piece) {
			c.inside++
		} else {
			c.missed++
		}
	}
	for _, piece := range page.outside {
		if strings.Contains(text, piece) {
			c.outside++
		}
	}
}

func (c *tally) rates() (precision, recall, f1 float64) {
	precision = float64(c.inside) / float64(c.inside+c.outside)
	recall = float64(c.inside) / float64(c.inside+c.missed)
	return precision, recall, 2 * precision * recall / (precision + recall)
}

// TestMainTextOfPublishedPages measures how well main text is told from furniture.
func TestMainTextOfPublishedPages(t *testing.T) {
	t.Parallel()
	var everything, mainText tally
	for i, page := range goldPages(t) {
		if i%6 != 0 && !*allPages {
			continue
		}
		read, err := html.ReadPage([]byte(page.content), "")
		if err != nil {
			t.Logf("%s: %v", page.url, err)
		}
		var all, kept strings.Builder
		for _, b := range read.Blocks {
			all.WriteString(b.Text + "\n")
			if !b.Kind.IsFurniture() {
				kept.WriteString(b.Text + "\n")
			}
		}
		everything.add(page, all.String())
		mainText.add(page, kept.String())
	}
	precision, recall, f1 := everything.rates()
	t.Logf("everything: precision %.3f, recall %.3f, F1 %.3f", precision, recall, f1)
	precision, recall, f1 = mainText.rates()
	t.Logf("main text: precision %.3f, recall %.3f, F1 %.3f", precision, recall, f1)
	least := 0.92
	if !*allPages {
		least = 0.91 // of fewer pages
	}
	if f1 < least {
		t.Errorf("F1 %.3f of main text, want %.2f at least", f1, least)
	}
}
