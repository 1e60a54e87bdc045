package extract_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// typeByExtension is the media type of the shared files, by extension.
var typeByExtension = map[string]string{
	".txt": extract.TypeText, ".md": extract.TypeMarkdown, ".html": extract.TypeHTML, ".pdf": extract.TypePDF,
	".csv": extract.TypeCSV, ".c": "text/x-c", ".java": "text/x-java", ".xml": extract.TypeXML,
	".vtt": extract.TypeWebVTT, ".srt": extract.TypeSubRip, ".eml": extract.TypeMail, ".mhtml": extract.TypeMHT,
	".docx": extract.TypeDOCX, ".pptx": extract.TypePPTX, ".xlsx": extract.TypeXLSX, ".doc": extract.TypeDOC,
	".ppt": extract.TypePPT, ".xls": extract.TypeXLS, ".rtf": extract.TypeRTF, ".key": extract.TypeKeynote,
	".odt": extract.TypeODT, ".odp": extract.TypeODP, ".epub": extract.TypeEPUB, ".zip": extract.TypeZIP,
	".png": extract.TypePNG, ".jpg": extract.TypeJPEG, ".gif": extract.TypeGIF, ".tif": extract.TypeTIFF,
	".mp3": extract.TypeMP3, ".wav": extract.TypeWAV, ".m4a": extract.TypeM4A, ".flac": extract.TypeFLAC,
	".ogg": extract.TypeOGG, ".mp4": extract.TypeMP4,
}

// byContent is the media type of the shared files whose extension is wrong.
var byContent = map[string]string{
	"testODTnotaZipFile.odt": extract.TypeText, // it says so itself
}

// typeOfShared returns the media type that a shared file should have.
func typeOfShared(path string) string {
	if mediaType := byContent[filepath.Base(path)]; mediaType != "" {
		return mediaType
	}
	return typeByExtension[filepath.Ext(path)]
}

// TestSniffSharedFiles detects the format of each file, also under other names.
func TestSniffSharedFiles(t *testing.T) {
	t.Parallel()
	for _, path := range allFiles(t) {
		base, want := filepath.Base(path), typeOfShared(path)
		t.Run(filepath.Join(filepath.Base(filepath.Dir(path)), base), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := extract.Sniff(base, "", data)
			f, ok := extract.FormatOf(want)
			if !ok {
				t.Fatalf("no format %q in the table", want)
			}
			if f.IsRead() {
				if err != nil || got != want {
					t.Errorf("Sniff: %q, %v, want %q", got, err, want)
				}
				return
			}
			wantUnsupported(t, err, f.Name)
			for _, name := range []string{"notes.txt", "page.html", "data.json", "report.pdf", ""} {
				_, err := extract.Sniff(name, "", data)
				wantUnsupported(t, err, "")
			}
		})
	}
}

func wantUnsupported(t *testing.T, err error, kind string) {
	t.Helper()
	if !knowledge.IsCode(err, knowledge.CodeUnsupportedFormat) {
		t.Errorf("error %v, want code %s", err, knowledge.CodeUnsupportedFormat)
		return
	}
	message := knowledge.AsError(err).Message
	if !strings.Contains(message, kind) {
		t.Errorf("message %q, want it to name %q", message, kind)
	}
	for _, known := range []string{"TXT", "Markdown", "HTML", "PDF", "CSV", "TSV", "JSON", "source code"} {
		if !strings.Contains(message, known) {
			t.Errorf("message %q does not say that %s is supported", message, known)
		}
	}
}

func TestSniffByContentThenName(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ behaviour, name, content, want string }{
		{"plain text", "a.txt", "hello", extract.TypeText},
		{"text without a name", "", "hello there", extract.TypeText},
		{"text with the extension of another kind", "a.docx", "hello", extract.TypeText},
		{"UTF-16 with its mark is text", "a.txt", "\xff\xfeh\x00i\x00", extract.TypeText},
		{"UTF-16 without a mark is text whatever its name", "notes", "M\x04a\x04O\x04:\x04 \x00!\x04", extract.TypeText},
		{"a page in UTF-16 without a mark", "a", "<\x00h\x00t\x00m\x00l\x00>\x00:\x04", extract.TypeHTML},
		{"Latin-1 is accepted here, and the parser refuses it", "a.txt", "caf\xe9 au lait", extract.TypeText},
		{"UTF-8 cut in the middle of a character is text", "a.txt", "caf\xc3", extract.TypeText},
		{"bytes with the name of a text are left to the parser", "a.txt", "\x00\x01\x02\x03", extract.TypeText},
		{"a PDF is one whatever its name", "a.txt", "%PDF-1.7\n", extract.TypePDF},
		{"a PDF may have junk before it", "a", "\x00\x00junk\n%PDF-1.7\n", extract.TypePDF},
		{"a text about PDF is text", "a.txt", "A file begins with %PDF-1.7 or so", extract.TypeText},
		{"a page is HTML whatever its name", "a.txt", "<!DOCTYPE html>\n<html><body>x</body></html>", extract.TypeHTML},
		{"a page with a comment first", "a", "<!-- x -->\n<HTML>x", extract.TypeHTML},
		{"XHTML is HTML", "a.xhtml", "<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>", extract.TypeHTML},
		{"a drawing", "a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", extract.TypeSVG},
		{"XML without a declaration", "a.xml", "<note><to>x</to></note>", extract.TypeXML},
		{"XML with a declaration", "a.txt", "<?xml version='1.0'?>\n<note/>", extract.TypeXML},
		{"subtitles", "a.txt", "WEBVTT\n\n00:00.000 --> 00:01.000\nx", extract.TypeWebVTT},
		{"Markdown by name", "README.md", "# Title", extract.TypeMarkdown},
		{"Markdown that begins with a tag", "README.md", "<img src=x>\n\n# Title", extract.TypeMarkdown},
		{"Markdown that begins with a block tag", "README.md", "<h1 align=\"center\">Heron</h1>\n\n## Install", extract.TypeMarkdown},
		{"a page is HTML also by the name of Markdown", "a.md", "<html><h1>x</h1></html>", extract.TypeHTML},
		{"a piece of a page", "", "<h1>x</h1>", extract.TypeHTML},
		{"a piece of a page with another name", "a.txt", "<h1>x</h1>", extract.TypeHTML},
		{"AsciiDoc by name", "a.adoc", "== Title", extract.TypeAsciiDoc},
		{"AsciiDoc by its header", "a.txt", "= Title\nAnn <a@example.com>\n:toc:\n\nText", extract.TypeAsciiDoc},
		{"AsciiDoc without a name", "", "// a\n= Title\n:toc: left\n", extract.TypeAsciiDoc},
		{"a sum is no title of AsciiDoc", "a.txt", "= 5\nThe result: 5\n", extract.TypeText},
		{"Markdown with the header of AsciiDoc", "a.md", "= Title\n:toc:\n", extract.TypeMarkdown},
		{"LaTeX by name", "a.tex", "\\section{x}", extract.TypeLaTeX},
		{"LaTeX by its class", "a.txt", "% x\n\\documentclass[a4paper]{article}\n", extract.TypeLaTeX},
		{"LaTeX by its class, without a name", "", "\\documentclass{article}", extract.TypeLaTeX},
		{"a text about LaTeX", "a.txt", "A text begins with \\documentclass{article}.", extract.TypeText},
		{"a style of LaTeX is source code", "a.sty", "\\ProvidesPackage{x}", "text/x-tex"},
		{"CSV by name", "a.CSV", "a,b\n1,2", extract.TypeCSV},
		{"TSV by name", "a.tsv", "a\tb", extract.TypeTSV},
		{"JSON by name", "a.json", "{}", extract.TypeJSON},
		{"JSON by content", "", `{"a": [1, 2]}`, extract.TypeJSON},
		{"JSON lines by name", "a.jsonl", "{}\n{}", extract.TypeNDJSON},
		{"JSON lines by content", "", "{\"a\":1}\n{\"a\":2}\n", extract.TypeNDJSON},
		{"braces without JSON inside", "", "{this is not JSON}", extract.TypeText},
		{"Go by name", "main.go", "package main", "text/x-go"},
		{"a component that begins with a tag", "a.vue", "<template></template>", "text/x-vue"},
		{"a makefile", "Makefile", "all:", "text/x-makefile"},
		{"a script by its first line", "run", "#!/usr/bin/env python3\n", "text/x-python"},
		{"mail with a date and an address, without the headers of mail software", "a.txt", "Date: Tue, 29 Jul 2025 12:42:06 +0000\nFrom: Ann <ann@example.com>\nTo: bob@example.com\nSubject: =?utf-8?B?UHLDvGZ1bmc=?=\n\nIn August.", extract.TypeMail},
		{"mail by its name", "a.eml", "From: Ann\nSubject: Tea\n\nAt four.", extract.TypeMail},
		{"mail in UTF-16", "a.eml", "\xff\xfe" + strings.Join(strings.Split("From: a@b.de\nSubject: Tea\n\nAt four.", ""), "\x00") + "\x00", extract.TypeMail},
		{"an article of news is not mail", "a", "From: ann@example.com\nNewsgroups: rec.tea\nSubject: Tea\nDate: Tue, 29 Jul 2025 12:42:06 +0000\n\nAt four.", extract.TypeText},
		{"a mailbox of short messages", "a.mbox", "From a@x.com Tue Jul 29 12:42:06 2025\nFrom: a@x.com\nSubject: one\n\nBody one.\n", extract.TypeMail},
		{"a message of which only the subject is left", "a.eml", "Subject: =?utf-8?B?w5Zs?=\n\nText.\n", extract.TypeMail},
		{"a letter that begins with From", "a.txt", "From Berlin Tue we drove on in 2024\nTo: Hamburg\n\nAt four.", extract.TypeText},
		{"a memo with From and To is not mail", "a.txt", "From: Ann\nTo: Bob\nSubject: Tea\nDate: today\n\nAt four.", extract.TypeText},
		{"a path in the name does not matter", "../../x.md", "hi", extract.TypeMarkdown},
		{"terminal colours are text", "a.log", "\x1b[31mred\x1b[0m", extract.TypeText},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			got, err := extract.Sniff(tc.name, "", []byte(tc.content))
			if err != nil || got != tc.want {
				t.Errorf("Sniff(%q, %q) = %q, %v, want %q", tc.name, tc.content, got, err, tc.want)
			}
		})
	}
}

func TestSniffByDeclaredType(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ behaviour, name, declared, content, want string }{
		{"where there is no extension", "Handbook", "text/markdown; charset=utf-8", "# Leave", extract.TypeMarkdown},
		{"where the extension is unknown", "Handbook 1.2", extract.TypeMarkdown, "# Leave", extract.TypeMarkdown},
		{"a page may begin in any way", "page", extract.TypeHTML, "Hello <b>you</b>", extract.TypeHTML},
		{"a page that a script makes", "index.php", extract.TypeHTML, "<!doctype html><p>x", extract.TypeHTML},
		{"source code that is declared as text", "index.php", extract.TypeText, "<?php echo 1;", "text/x-php"},
		{"not against the name", "notes.txt", extract.TypeMarkdown, "# Leave", extract.TypeText},
		{"not against the content", "page", extract.TypeMarkdown, "<!doctype html><p>x", extract.TypeHTML},
		{"a PDF is one whatever was declared", "a", extract.TypeHTML, "%PDF-1.7\n", extract.TypePDF},
		{"text declared as plain may be JSON", "a", extract.TypeText, "{\"a\": 1}", extract.TypeJSON},
		{"an unsupported declared kind is ignored", "a", "application/octet-stream", "hello", extract.TypeText},
		{"with a character set that is not UTF-8", "a", "text/html; charset=latin1", "<p>caf\xe9", "text/html; charset=windows-1252"},
		{"with a character set alone", "a.txt", "text/x-any; charset=Shift_JIS", "\x82\xa0", "text/plain; charset=shift_jis"},
		{"a character set that the content contradicts is ignored", "a.txt", "text/plain; charset=latin1", "caf\u00e9", extract.TypeText},
		{"an unknown character set is ignored", "a.txt", "text/plain; charset=mine", "hello", extract.TypeText},
		{"a malformed media type is ignored", "a", "; text", "hello", extract.TypeText},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			got, err := extract.Sniff(tc.name, tc.declared, []byte(tc.content))
			if err != nil || got != tc.want {
				t.Errorf("Sniff = %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

// TestSniffRecordings: what is in the file decides. Its end, and so whether it can be
// decoded, is not looked at.
func TestSniffRecordings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, name, content string
		want                     string // "" = it is empty
	}{
		{"a recording under another name", "talk.txt", "fLaC\x00\x00\x00\x22", extract.TypeFLAC},
		{"a recording that is cut off", "talk.wav", "RIFF\x24\x00\x00\x00WAVEfmt ", extract.TypeWAV},
		{"a text under the name of a recording", "talk.mp3", "Minutes of a meeting", extract.TypeText},
		{"nothing", "talk.mp3", "", ""},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			got, err := extract.Sniff(tc.name, "", []byte(tc.content))
			if got != tc.want || knowledge.IsCode(err, knowledge.CodeEmpty) != (tc.want == "") {
				t.Errorf("Sniff = %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestSniffRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, name, content string
		code                     knowledge.Code
	}{
		{"nothing", "a.txt", "", knowledge.CodeEmpty},
		{"white space", "a.md", " \n\t\r\n ", knowledge.CodeEmpty},
		{"a byte order mark", "a.txt", "\xef\xbb\xbf", knowledge.CodeEmpty},
		{"a byte order mark of UTF-16 and spaces", "a.txt", "\xff\xfe \x00\n\x00", knowledge.CodeEmpty},
		{"bytes of no known kind", "a.bin", "\x00\x01\x02\x03\x04", knowledge.CodeUnsupportedFormat},
		{"PostScript", "a.txt", "%!PS-Adobe-3.0", knowledge.CodeUnsupportedFormat},
		{"a program", "a.txt", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00", knowledge.CodeUnsupportedFormat},
		{"a gzip file", "a.txt", "\x1f\x8b\x08\x00\x00\x00\x00\x00", knowledge.CodeUnsupportedFormat},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			got, err := extract.Sniff(tc.name, "", []byte(tc.content))
			if !knowledge.IsCode(err, tc.code) {
				t.Errorf("Sniff = %q, %v, want code %s", got, err, tc.code)
			}
		})
	}
}

func FuzzSniff(f *testing.F) {
	for _, seed := range []string{"", "hello", "{\"a\":1}", "<html>", "%PDF-1.4", "PK\x03\x04", "From: a\nTo: b\nMIME-Version: 1.0\n", "\xff\xfea\x00", "WEBVTT"} {
		f.Add("a.txt", []byte(seed))
		f.Add("", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, name string, head []byte) {
		mediaType, err := extract.Sniff(name, "", head)
		switch {
		case err == nil && mediaType == "":
			t.Error("neither a media type nor an error")
		case err != nil && !knowledge.IsCode(err, knowledge.CodeEmpty) && !knowledge.IsCode(err, knowledge.CodeUnsupportedFormat):
			t.Errorf("error %v has another code", err)
		}
	})
}
