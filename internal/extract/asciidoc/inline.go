package asciidoc

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/extract/latex"
	"github.com/cairn-rag/cairn/internal/extract/script"
)

var (
	anchor     = regexp.MustCompile(`(?:\[\[[^\]]*\]\]|\banchor:[^\[\s]*\[[^\]]*\]|\(\(\([^)]*\)\)\)|\bindexterm:\[[^\]]*\]) ?`)
	reference  = regexp.MustCompile(`<<#?([^,<>]+)(?:,\s*([^<>]+))?>>`)
	link       = regexp.MustCompile(`\b((?:https?|ftp|irc|mailto|link|xref|image|icon|menu|kbd|btn|footnote|footnoteref|pass|stem|latexmath|asciimath|indexterm2):[^\s\[\]<>]*)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]`)
	indexed    = regexp.MustCompile(`\(\(([^()]+)\)\)`)
	named      = regexp.MustCompile(`\\?\{([\w-]+)\}`)
	role       = regexp.MustCompile(`\[[.#%\w" -]*\]([#*_` + "`" + `])`)
	raised     = regexp.MustCompile(`\^([^\s^]+)\^`)
	lowered    = regexp.MustCompile(`~([^\s~]+)~`)
	quotation  = strings.NewReplacer("\"`", "“", "`\"", "”", "'`", "‘", "`'", "’")
	characters = map[string]string{
		"nbsp": "\u00a0", "amp": "&", "lt": "<", "gt": ">", "plus": "+", "vbar": "|", "startsb": "[", "endsb": "]", "caret": "^", "tilde": "~",
		"asterisk": "*", "backtick": "`", "backslash": `\`, "sp": " ", "space": " ", "empty": "", "zwsp": "", "wj": "", "apos": "'", "quot": `"`,
		"deg": "°", "ldquo": "“", "rdquo": "”", "lsquo": "‘", "rsquo": "’", "two-colons": "::", "two-semicolons": ";;", "cpp": "C++",
	}
)

// maxInserted bounds the bytes that attributes insert into a text.
const maxInserted = 1 << 20

// inline returns text without its marks. Code in it stays as it is.
func (r *reader) inline(s string) string {
	s = quotation.Replace(s)
	var b strings.Builder
	for s != "" {
		start, end := codeSpan(s)
		if start < 0 {
			b.WriteString(r.plain(s))
			break
		}
		b.WriteString(r.plain(s[:start]))
		b.WriteString(strings.Trim(s[start:end], "`+"))
		s = s[end:]
	}
	return strings.TrimSpace(b.String())
}

// codeSpan returns the first code in a text, with its marks, and -1 if there is none.
func codeSpan(s string) (start, end int) {
	for start = 0; start < len(s); start++ {
		if s[start] != '`' {
			continue
		}
		mark := "`"
		if strings.HasPrefix(s[start:], "``") {
			mark = "``"
		}
		from := start + len(mark)
		if at := strings.Index(s[from:], mark); at > 0 {
			return start, from + at + len(mark)
		}
		return -1, 0 // no mark behind it either
	}
	return -1, 0
}

// plain returns text in which no code is without its marks.
func (r *reader) plain(s string) string {
	s = named.ReplaceAllStringFunc(s, func(name string) string {
		if escaped, ok := strings.CutPrefix(name, `\`); ok {
			return escaped
		}
		key := strings.ToLower(name[1 : len(name)-1])
		if value, ok := r.attributes[key]; ok && r.inserted+len(value) < maxInserted {
			r.inserted += len(value)
			return value
		}
		if value, ok := characters[key]; ok {
			return value
		}
		return name
	})
	s = anchor.ReplaceAllString(s, "")
	s = reference.ReplaceAllStringFunc(s, func(found string) string {
		m := reference.FindStringSubmatch(found)
		if m[2] != "" {
			return m[2]
		}
		return m[1]
	})
	s = link.ReplaceAllStringFunc(s, linkText)
	s = indexed.ReplaceAllString(s, "$1")
	s = role.ReplaceAllString(s, "$1")
	s = raised.ReplaceAllStringFunc(s, func(x string) string { return script.Super(strings.Trim(x, "^")) })
	s = lowered.ReplaceAllStringFunc(s, func(x string) string { return script.Sub(strings.Trim(x, "~")) })
	for _, mark := range []string{"**", "__", "##", "++"} {
		s = withoutDouble(s, mark)
	}
	for _, mark := range "*_#+" {
		s = withoutMark(s, mark)
	}
	return s
}

// linkText returns the text of a link or of another macro, or its address without one.
func linkText(found string) string {
	m := link.FindStringSubmatch(found)
	kind, target, _ := strings.Cut(m[1], ":")
	text := strings.ReplaceAll(m[2], `\]`, "]")
	switch kind {
	case "footnote", "footnoteref":
		if text == "" {
			return ""
		}
		return " (" + link.ReplaceAllStringFunc(text, linkText) + ")"
	case "latexmath", "stem":
		if kind == "latexmath" || strings.Contains(text, `\`) {
			return latex.Formula(text)
		}
	case "menu":
		return target + " > " + text
	case "image", "icon", "https", "http", "ftp", "irc", "mailto", "link", "xref":
		text, _, _ = strings.Cut(strings.TrimSuffix(text, "^"), ",window=")
		if text = strings.Trim(text, `"`); text != "" || kind == "image" || kind == "icon" {
			return text
		}
		if kind == "http" || kind == "https" || kind == "ftp" || kind == "irc" {
			return m[1]
		}
		return strings.TrimPrefix(target, "#")
	}
	return text
}

// withoutDouble removes pairs of a mark of two characters around a text. Marks beside spaces
// are none: C++ and C++.
func withoutDouble(s, mark string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, mark)
		if !found || after == "" {
			break
		}
		inside, rest, closed := strings.Cut(after, mark)
		if !closed {
			break
		}
		b.WriteString(before)
		if inside == "" || strings.TrimSpace(inside) != inside {
			b.WriteString(mark)
			s = after
			continue
		}
		b.WriteString(inside)
		s = rest
	}
	b.WriteString(s)
	return b.String()
}

// withoutMark removes pairs of a mark that stand around words.
func withoutMark(s string, mark rune) string {
	runes := []rune(s)
	isWord := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	isSpace := func(i int) bool { return i < 0 || i >= len(runes) || unicode.IsSpace(runes[i]) }
	out := make([]rune, 0, len(runes))
	begun := -1 // where the mark that is open is in out
	for i, c := range runes {
		switch {
		case c != mark || i > 0 && (runes[i-1] == '\\' || runes[i-1] == mark) || i+1 < len(runes) && runes[i+1] == mark:
		case begun < 0 && !isWord(i-1) && !isSpace(i+1):
			begun = len(out)
		case begun >= 0 && !isSpace(i-1) && !isWord(i+1) && len(out) > begun+1:
			out = slices.Delete(out, begun, begun+1)
			begun = -1
			continue
		}
		if c == '\\' && i+1 < len(runes) && runes[i+1] == mark {
			continue
		}
		out = append(out, c)
	}
	return string(out)
}
