package charset_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ behaviour, data, declared, want string }{
		{"UTF-8 is kept", "café 日本 😀", "", "café 日本 😀"},
		{"a UTF-8 byte order mark is removed", "\xef\xbb\xbfx", "", "x"},
		{"UTF-16 little endian", "\xff\xfeh\x00\xe9\x00=\xd8\x00\xde", "", "hé😀"},
		{"UTF-16 big endian", "\xfe\xff\x00h\x00i", "", "hi"},
		{"a declared character set", "caf\xe9 \x80", "windows-1252", "café €"},
		{"a declaration is not needed for UTF-8", "é", "windows-1252", "é"},
		{"Windows and old Mac line ends", "a\r\nb\rc\n", "", "a\nb\nc\n"},
		{"control characters are removed", "a\x00b\x07c\x1bd\x7fe\u0085f\tg", "", "abcde\nf\tg"},
		{"a form feed ends a paragraph", "a\fb", "", "a\n\nb"},
		{"line separators become line ends", "a\u2028b\u2029c", "", "a\nb\n\nc"},
		{"noncharacters and marks inside the text are removed", "a\ufeffb\ufffec\U0001ffffd\ufdd0e", "", "abcde"},
		{"invisible characters are removed", "Öffnungs\u00adzeiten, zero\u200bwidth, word\u2060joiner", "", "Öffnungszeiten, zerowidth, wordjoiner"},
		{"the joiners of scripts and emoji are kept", "\u0645\u06cc\u200c\u062e, \U0001f469\u200d\U0001f680", "", "\u0645\u06cc\u200c\u062e, \U0001f469\u200d\U0001f680"},
		{"a replacement character is kept", "a\ufffdb", "", "a\ufffdb"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			got, err := charset.Decode([]byte(tc.data), tc.declared)
			if err != nil || got != tc.want {
				t.Errorf("Decode = %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestAssumed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text string }{
		{"windows-1252", "café"},
		{"windows-1252", "Name;Straße;Ort\nMüller;Hauptstraße 3;Köln\nJäger;Bahnhof 2;Düsseldorf\n"},
		{"windows-1252", "The price is “£12” – or €15. It’s fine, and everything else is plain English text."},
		{"windows-1250", "Zażółć gęślą jaźń. Proszę wymienić baterię w urządzeniu."},
		{"windows-1251", "Москва является столицей России. Температура воздуха сегодня."},
		{"koi8-r", "Москва является столицей России. Температура воздуха сегодня."},
		{"shift_jis", "これは日本語の文書です。電池を交換してください。"},
		{"euc-jp", "これは日本語の文書です。電池を交換してください。"},
		{"gb18030", "这是一个中文文件。请更换电池。我们的产品保修两年。"},
		{"big5", "這是一個中文文件。請更換電池。我們的產品保固兩年。"},
		{"iso-2022-jp", "これは日本語の文書です。電池を交換してください。"},
		{"utf-16le", "The pier has a lighthouse, and it’s open."},
		{"utf-16le", "Маяк стоит на молу."},
		{"utf-16be", "Маяк стоит на молу, один."},
		{"utf-16le", "这是一个中文文件。请更换电池。"},
		{"utf-16be", "منارة على الرصيف 😀"},
		{"euc-kr", "이것은 한국어 문서입니다. 배터리를 교체하십시오."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			encoding, err := htmlindex.Get(tc.name)
			if err != nil {
				t.Fatal(err)
			}
			data, err := encoding.NewEncoder().Bytes([]byte(strings.Repeat("plain\n", 20_000) + tc.text))
			if err != nil {
				t.Fatal(err)
			}
			text, err := charset.Decode(data, "")
			if name := charset.Assumed(data, ""); name != tc.name || err != nil || !strings.HasSuffix(text, tc.text) {
				t.Errorf("%s is assumed, %v, and the text ends in %q", name, err, text[max(0, len(text)-40):])
			}
		})
	}
	for _, text := range []string{
		"plain", "café", "\xff\xfeh\x00", "a\x00b", "zeros \x00\x00 in a text of several words\x00.", "\x01\x00\x02\x00\x03\x00",
		"\x1b[31mred\x1b[0m", "h\x00\xd8\x00\x00\xd8i\x00",
	} {
		if name := charset.Assumed([]byte(text), ""); name != "" {
			t.Errorf("%q is assumed for %q", name, text)
		}
	}
	if name := charset.Assumed([]byte("M\x04a\x04O\x04:\x04 \x00!\x04"), "windows-1252"); name != "utf-16le" {
		t.Errorf("%q is assumed for UTF-16 that is declared as something else", name)
	}
	if name := charset.Assumed([]byte("caf\xe9"), "windows-1252"); name != "" {
		t.Errorf("%q is assumed, though the set is declared", name)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, data, declared string
		code                      knowledge.Code
	}{
		{"UTF-8 with a wrong byte", strings.Repeat("Öffnungszeiten für Gäste. ", 9) + "\xff", "", knowledge.CodeMalformed},
		{"bytes that are no text of any set", strings.Repeat("This line has \xc3\x28 and \xff\xfe\xfd in it.\n", 300), "", knowledge.CodeMalformed},
		{"a wrong byte after much text", strings.Repeat("A good line.\n", 5000) + "a bad one: \xc3\x28\n", "", knowledge.CodeMalformed},
		{"wrong bytes in JSON", "{\"a\": \"\xc3\x28 \xff\"}", "", knowledge.CodeMalformed},
		{"bytes with a NUL", "caf\xe9\x00", "", knowledge.CodeMalformed},
		{"bytes declared as UTF-8 that are not", "caf\xe9", "utf-8", knowledge.CodeMalformed},
		{"an unknown character set", "caf\xe9", "klingon", knowledge.CodeMalformed},
		{"too much text", strings.Repeat("a", charset.MaxText+1), "", knowledge.CodeTooLarge},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if _, err := charset.Decode([]byte(tc.data), tc.declared); !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %s", err, tc.code)
			}
		})
	}
}

func TestDeclared(t *testing.T) {
	t.Parallel()
	for mediaType, want := range map[string]string{
		"text/plain; charset=ISO-8859-1": "windows-1252", // as browsers take it
		"text/plain; charset=Shift_JIS":  "shift_jis", "text/plain; charset=utf-8": "", "text/plain; charset=mine": "",
		"text/html; charset=iso-2022-kr": "", // has no decoder
		"text/plain":                     "", "": "", "nonsense;;": "",
	} {
		if got := charset.Declared(mediaType); got != want {
			t.Errorf("Declared(%q) = %q, want %q", mediaType, got, want)
		}
	}
}

func TestLinesKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\r\nb\rc\n":         "a\nb\nc\n",
		"a\n\fb\n":            "a\n\n\nb\n", // which must end a paragraph
		"[Page 1]\n\f\nRFC\n": "[Page 1]\n\nRFC\n",
		"a\r\n\f\r\nb":        "a\n\nb",
		"\f":                  "",
	} {
		if got := charset.Clean(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
