package latex

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// scanner reads the source from left to right.
type scanner struct {
	s        string
	at       int
	unclosed int // brackets without a partner that were found
}

func (c *scanner) done() bool { return c.at >= len(c.s) }

// rest returns what is left.
func (c *scanner) rest() string { return c.s[c.at:] }

// command reads the name behind a backslash, and the spaces behind a name of letters.
func (c *scanner) command() string {
	start := c.at
	for c.at < len(c.s) && isLetter(c.s[c.at]) {
		c.at++
	}
	if c.at == start {
		if c.done() {
			return ""
		}
		_, size := utf8.DecodeRuneInString(c.rest())
		c.at += size
		return c.s[start:c.at]
	}
	name := c.s[start:c.at]
	if !c.done() && c.s[c.at] == '*' {
		c.at++
	}
	return name
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b == '@' }

// spaces skips spaces, and one line end.
func (c *scanner) spaces() {
	lines := 0
	for c.at < len(c.s) && strings.IndexByte(" \t\n", c.s[c.at]) >= 0 {
		if c.s[c.at] == '\n' {
			if lines++; lines > 1 {
				return
			}
		}
		c.at++
	}
}

// option reads an optional argument in brackets. ok is false if there is none.
func (c *scanner) option() (text string, ok bool) {
	from := c.at
	c.spaces()
	if c.done() || c.s[c.at] != '[' {
		c.at = from
		return "", false
	}
	end := c.closing('[', ']')
	if end < 0 {
		c.at = from
		return "", false
	}
	text = c.s[c.at+1 : c.at+end]
	c.at += end + 1
	return text, true
}

// argument reads an argument: a group, a command or one character.
func (c *scanner) argument() string {
	c.spaces()
	if c.done() {
		return ""
	}
	switch c.s[c.at] {
	case '{':
		end := c.closing('{', '}')
		if end < 0 {
			return ""
		}
		text := c.s[c.at+1 : c.at+end]
		c.at += end + 1
		return text
	case '}', '&', '$':
		return ""
	case '\\':
		start := c.at
		c.at++
		if name := c.command(); name != "" && isLetter(name[0]) {
			defer c.spaces()
		}
		return c.s[start:c.at]
	}
	_, size := utf8.DecodeRuneInString(c.rest())
	c.at += size
	return c.s[c.at-size : c.at]
}

var overlay = regexp.MustCompile(`^<[0-9.+][0-9a-z.,+:|() -]*>`)

// overlay skips the slides of a presentation on which something is shown: <2->.
func (c *scanner) overlay() { c.at += len(overlay.FindString(c.rest())) }

// closing returns where the bracket ends that is next, -1 if it does not. A text with very
// many that do not is not searched again and again.
func (c *scanner) closing(open, end byte) int {
	const most = 500
	if c.unclosed > most {
		return -1
	}
	at := closing(c.rest(), open, end)
	if at < 0 {
		c.unclosed++
	}
	return at
}

// maxArgument bounds the bytes of an argument, so that a bracket without a partner does not
// have the whole text read again and again.
const maxArgument = 64 << 10

// closing returns where the bracket ends with which a text begins, -1 if it does not.
func closing(s string, open, end byte) int {
	depth, braces := 0, 0
	for i := 0; i < min(len(s), maxArgument); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == open && braces == 0:
			depth++
		case c == end && braces == 0:
			if depth--; depth == 0 {
				return i
			}
		case c == '{':
			braces++
		case c == '}':
			if braces--; braces < 0 {
				return -1
			}
		}
	}
	return -1
}

// until reads up to a mark, which it skips, or to the end.
func (c *scanner) until(mark string) string {
	text, _, _ := strings.Cut(c.rest(), mark)
	c.at = min(len(c.s), c.at+len(text)+len(mark))
	return text
}

// environment reads an environment that has begun, with the ones of the same name in it.
func (c *scanner) environment(name string) string {
	begin, end := `\begin{`+name+`}`, `\end{`+name+`}`
	rest, at := c.rest(), 0
	for depth := 1; depth > 0; {
		next := strings.Index(rest[at:], end)
		if next < 0 {
			at = len(rest)
			break
		}
		depth += strings.Count(rest[at:at+next], begin) - 1
		at += next + len(end)
	}
	text := rest[:at]
	c.at += at
	return strings.TrimSuffix(text, end)
}

// withoutComments returns a text without its comments. A line that is nothing else goes with
// its end. Listings stay as they are.
func withoutComments(s string) string {
	var b strings.Builder
	verbatim := ""
	for line := range strings.Lines(s) {
		if verbatim != "" {
			if strings.Contains(line, verbatim) {
				verbatim = ""
			}
			b.WriteString(line)
			continue
		}
		if at := commentAt(line); at >= 0 {
			if line = line[:at]; strings.TrimSpace(line) == "" {
				continue
			}
		}
		b.WriteString(line)
		for _, name := range verbatimNames {
			if strings.Contains(line, `\begin{`+name+`}`) && !strings.Contains(line, `\end{`+name+`}`) {
				verbatim = `\end{` + name + `}`
			}
		}
	}
	return b.String()
}

// verbatimNames are the environments whose text is shown as it is.
var verbatimNames = []string{"verbatim", "Verbatim", "verbatim*", "lstlisting", "minted", "alltt", "comment"}

// literal returns how far the text of a command goes whose percent signs begin no comment,
// 0 for other commands.
func literal(s string) int {
	const longest = 4096
	s = s[:min(len(s), longest)]
	for _, name := range []string{`\url{`, `\href{`, `\path{`} {
		if rest, ok := strings.CutPrefix(s, name); ok {
			return len(name) + strings.Index(rest, "}")
		}
	}
	if rest, ok := strings.CutPrefix(s, `\verb`); ok && rest != "" && !isLetter(rest[0]) {
		return len(s) - len(rest) + 1 + strings.Index(rest[1:], rest[:1])
	}
	return 0
}

// commentAt returns where the comment of a line begins, -1 if it has none.
func commentAt(line string) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i += max(1, literal(line[i:]))
		case '%':
			return i
		}
	}
	return -1
}
