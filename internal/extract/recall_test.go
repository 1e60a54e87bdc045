package extract_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"golang.org/x/text/unicode/norm"
)

// leastRecall is the least share of the unique words of an independent reader that
// must be in the text, over all files of a format.
var leastRecall = map[string]float64{
	"docx": .96, "pptx": .90, "xlsx": .97, "odt": .96, "odp": .96, "rtf": .95, "doc": .95, "ppt": .95, "xls": .95,
}

// brokenFiles are those that are damaged or encrypted, and one that is a text.
var brokenFiles = map[string]bool{
	"testWORD_truncated.docx": true, "protected_upper_case.docx": true, "testPPT_protected_passtika.pptx": true,
	"testODTEncrypted.odt": true, "testODTnotaZipFile.odt": true,
}

// TestOfficeRecall compares the words of office documents with those that
// LibreOffice prints: into PDF, which pdftotext reads, and for spreadsheets into CSV
// with the values as shown, because a printed cell ends where the next one begins.
// Words that a document shows of an embedded one may be in that one.
func TestOfficeRecall(t *testing.T) {
	t.Parallel()
	tools := format.FindTools()
	if tools.LibreOffice == "" || tools.PDFToText == "" {
		skipOrFail(t, "LibreOffice or pdftotext is missing; apt-get install libreoffice-writer libreoffice-calc libreoffice-impress poppler-utils")
	}
	byFormat := map[string][]string{}
	for _, path := range allFiles(t) {
		kind := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
		if _, ok := leastRecall[kind]; ok && filepath.Base(filepath.Dir(path)) == "office" && !brokenFiles[filepath.Base(path)] {
			byFormat[kind] = append(byFormat[kind], path)
		}
	}
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tools})
	references := printAll(t, tools, byFormat)
	for kind, least := range leastRecall {
		t.Run(kind, func(t *testing.T) {
			found, all := 0, 0
			for _, path := range byFormat[kind] {
				got := map[string]bool{}
				addExtracted(t, pool, path, got, 2)
				missing, printed := []string{}, wholeWords(references[filepath.Base(path)], got)
				for word := range printed {
					if all++; got[word] {
						found++
					} else {
						missing = append(missing, word)
					}
				}
				if len(missing) > 0 {
					t.Logf("%s lacks %d of %d words: %q", filepath.Base(path), len(missing), len(printed), missing[:min(len(missing), 20)])
				}
			}
			recall := float64(found) / float64(max(all, 1))
			t.Logf("recall %.3f: %d of %d words in %d files", recall, found, all, len(byFormat[kind]))
			if all == 0 || recall < least {
				t.Errorf("recall %.3f, want %.2f", recall, least)
			}
		})
	}
}

// printAll returns the text that LibreOffice prints of each file.
func printAll(t *testing.T, tools format.Tools, byFormat map[string][]string) map[string]string {
	t.Helper()
	var texts, sheets []string
	for kind, paths := range byFormat {
		if kind == "xls" || kind == "xlsx" {
			sheets = append(sheets, paths...)
		} else {
			texts = append(texts, paths...)
		}
	}
	folder := t.TempDir()
	soffice(t, tools, folder, "pdf", texts)
	soffice(t, tools, folder, "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1", sheets)
	references := map[string]string{}
	for _, path := range append(texts, sheets...) {
		base := filepath.Base(path)
		stem := filepath.Join(folder, base, strings.TrimSuffix(base, filepath.Ext(base)))
		if out, err := exec.CommandContext(t.Context(), tools.PDFToText, stem+".pdf", "-").Output(); err == nil {
			references[base] = string(out)
		}
		tables, err := filepath.Glob(filepath.Join(folder, base, "*.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range tables {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			references[base] += "\n" + string(data)
		}
	}
	return references
}

// wholeWords returns the words of a printed text but for the numbers of its pages. A word
// that is too wide for its line continues in the next one, and how wide it is depends on the
// fonts of the machine: its parts count as one word where the whole was found.
func wholeWords(text string, found map[string]bool) map[string]bool {
	var list []string
	for line := range strings.Lines(text) {
		next := fieldsOf(line)
		if last := len(list) - 1; last >= 0 && len(next) > 0 && found[list[last]+next[0]] && (!found[list[last]] || !found[next[0]]) {
			next[0] = list[last] + next[0]
			list = list[:last]
		}
		list = append(list, next...)
	}
	words := map[string]bool{}
	for _, word := range list {
		words[word] = true
	}
	for page := range strings.Count(text, "\f") + 1 {
		delete(words, strconv.Itoa(page))
	}
	return words
}

// soffice converts files, each into a folder with its name: the names without their
// extensions are not unique.
func soffice(t *testing.T, tools format.Tools, folder, filter string, paths []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	byExtension := map[string][]string{}
	for _, path := range paths {
		byExtension[filepath.Ext(path)] = append(byExtension[filepath.Ext(path)], path)
	}
	for extension, paths := range byExtension {
		out := filepath.Join(folder, extension)
		arguments := append([]string{"--headless", "-env:UserInstallation=file://" + filepath.Join(folder, "profile"), "--convert-to", filter, "--outdir", out}, paths...)
		if message, err := exec.CommandContext(ctx, tools.LibreOffice, arguments...).CombinedOutput(); err != nil {
			t.Fatalf("soffice: %v: %s", err, message)
		}
		for _, path := range paths {
			base := filepath.Base(path)
			own := filepath.Join(folder, base)
			if err := os.MkdirAll(own, 0o700); err != nil {
				t.Fatal(err)
			}
			made, err := filepath.Glob(filepath.Join(out, strings.TrimSuffix(base, extension)+"[.\\-]*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range made {
				if err := os.Rename(file, filepath.Join(own, filepath.Base(file))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// addExtracted adds the words of a file and of the documents in it, so many levels
// deep.
func addExtracted(t *testing.T, pool *extract.Pool, path string, words map[string]bool, depth int) {
	t.Helper()
	folder := t.TempDir()
	result, err := pool.Extract(t.Context(), extract.Input{Name: filepath.Base(path), Path: path, Folder: folder})
	if err != nil {
		t.Logf("%s: %v", filepath.Base(path), err)
		return
	}
	for _, b := range result.Layout.Blocks {
		addWords(words, b.Text)
	}
	for _, child := range result.Children {
		if depth > 1 {
			addExtracted(t, pool, filepath.Join(folder, child.File), words, depth-1)
		}
	}
}

func addWords(words map[string]bool, text string) {
	for _, word := range fieldsOf(text) {
		words[word] = true
	}
}

// fieldsOf returns the words of a text in lower case.
func fieldsOf(text string) []string {
	text = strings.ReplaceAll(strings.ToLower(norm.NFKC.String(text)), "\u00ad", "")
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}
