package latex

import (
	"slices"
	"strconv"
	"strings"
)

// The bounds of macros.
const (
	maxMacros     = 5_000
	maxInserted   = 4 << 20 // bytes that macros insert into a text
	maxExpansions = 20      // of macros inside macros
)

// macro is a command that the text defines.
type macro struct {
	parameters int
	usual      string // value of the first parameter if it is optional
	isOptional bool
	body       string
}

// macros inserts what a text's own commands stand for. Commands that the reader knows keep
// their meaning, since texts redefine them for their look.
type macros struct {
	defined  map[string]macro
	inserted int
}

// expand returns a text with its macros inserted, and without their definitions and the text
// that it switches off.
func (m *macros) expand(s string, depth int) string {
	var b strings.Builder
	c := &scanner{s: s}
	for !c.done() {
		at := strings.IndexByte(c.rest(), '\\')
		if at < 0 {
			break
		}
		write(&b, c.rest()[:at])
		c.at += at
		start := c.at
		c.at++
		name := c.command()
		switch {
		case m.define(c, name):
		case name == "iffalse":
			c.skipBranch()
		case m.copied(c, name):
			write(&b, c.s[start:c.at])
		default:
			inserted, ok := m.insert(c, name, depth)
			if !ok {
				inserted = c.s[start:c.at]
			}
			write(&b, inserted)
		}
	}
	write(&b, c.rest())
	return b.String()
}

// write adds a piece of the source. A name at the end of the last piece does not grow.
func write(b *strings.Builder, piece string) {
	if piece == "" {
		return
	}
	if isLetter(piece[0]) && piece[0] != '@' && endsInName(b.String()) {
		b.WriteByte(' ')
	}
	b.WriteString(piece)
}

func endsInName(s string) bool {
	const longest = 60
	s = s[max(0, len(s)-longest):]
	name := strings.TrimRightFunc(s, func(c rune) bool { return c < 0x80 && isLetter(byte(c)) })
	slashes := len(name) - len(strings.TrimRight(name, `\`))
	return len(name) < len(s) && slashes%2 == 1
}

// define reads a definition, whose command is read, and reports whether it is one.
func (m *macros) define(c *scanner, name string) bool {
	before := c.at
	d := macro{}
	defined := ""
	switch name {
	case "newcommand", "renewcommand", "providecommand", "DeclareRobustCommand":
		defined = c.argument()
		if count, ok := c.option(); ok {
			d.parameters, _ = strconv.Atoi(strings.TrimSpace(count)) // none if it is no number
		}
		d.usual, d.isOptional = c.option()
		d.body = c.argument()
	case "DeclareMathOperator":
		defined = c.argument()
		d.body = `\operatorname{` + c.argument() + "}"
	case "NewDocumentCommand", "RenewDocumentCommand", "ProvideDocumentCommand":
		defined = c.argument()
		parameters := strings.Join(strings.Fields(c.argument()), "")
		d.parameters, d.body = len(parameters), c.argument()
		if strings.Trim(parameters, "m") != "" {
			return true // its arguments are shown
		}
	case "def", "gdef":
		defined = c.argument()
		parameters := c.until("{")
		c.at = max(before, c.at-1)
		d.parameters, d.body = strings.Count(parameters, "#"), c.argument()
		if strings.Trim(parameters, "#123456789 ") != "" {
			return true
		}
	default:
		return false
	}
	name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(defined), `\`))
	const mostParameters = 9
	if !isKnown(name) && len(m.defined) < maxMacros && d.parameters >= 0 && d.parameters <= mostParameters {
		m.defined[name] = d
	}
	return true
}

// others are the commands that the reader knows beside the ones in its tables.
var others = strings.Fields(`begin end item title author maketitle caption captionof input include subfile footnote footnotetext cite citep citet ref eqref
	pageref autoref cref Cref nameref parencite textcite textsuperscript textsubscript ensuremath url path nolinkurl verb lstinline frac sqrt text mathrm left right`)

func isKnown(name string) bool {
	_, isHeading := levels[name]
	_, isSign := signs[name]
	_, isAccent := accents[name]
	_, isDropped := dropped[name]
	_, isSecond := second[name]
	_, isSymbol := symbols[name]
	return name == "" || !isLetter(name[0]) || isHeading || isSign || isAccent || isDropped || isSecond || isSymbol || slices.Contains(others, name)
}

// copied skips what is shown as it is, and reports whether it did.
func (m *macros) copied(c *scanner, name string) bool {
	switch name {
	case "verb", "lstinline":
		c.option()
		if c.done() || c.s[c.at] == '{' {
			return true
		}
		mark := c.s[c.at : c.at+1]
		c.at++
		c.until(mark)
		return true
	case "begin":
		name := c.argument()
		if slices.Contains(verbatimNames, name) {
			c.until(`\end{` + name + `}`)
		}
		return true
	}
	return false
}

// insert returns what a macro stands for, whose name is read. ok is false if it is none.
func (m *macros) insert(c *scanner, name string, depth int) (text string, ok bool) {
	d, ok := m.defined[name]
	if !ok || depth >= maxExpansions || m.inserted > maxInserted {
		return "", false
	}
	values := make([]string, d.parameters)
	for i := range values {
		if value, found := c.option(); i == 0 && d.isOptional && found {
			values[i] = value
		} else if i == 0 && d.isOptional {
			values[i] = d.usual
		} else {
			values[i] = c.argument()
		}
	}
	body, keepsSpaces := strings.CutSuffix(strings.TrimSpace(d.body), `\xspace`)
	if d.parameters == 0 && !keepsSpaces && !isBlankNext(c.rest()) {
		c.spaces()
	}
	body = m.filled(body, values)
	m.inserted += len(body)
	return m.expand(body, depth+1), true
}

// isBlankNext reports whether a paragraph ends here.
func isBlankNext(s string) bool {
	s = strings.TrimLeft(s, " \t")
	return strings.HasPrefix(s, "\n") && isBlank(s[1:])
}

// filled returns the body of a macro with the values of its parameters.
func (m *macros) filled(body string, values []string) string {
	var b strings.Builder
	for body != "" {
		before, after, found := strings.Cut(body, "#")
		write(&b, before)
		if !found {
			break
		}
		body = after
		if n := int(strings.TrimLeft(after+"0", "#")[0] - '1'); n >= 0 && n < len(values) && after != "" && after[0] != '#' {
			if m.inserted+b.Len() < maxInserted {
				write(&b, values[n])
			}
			body = after[1:]
		}
	}
	return b.String()
}

// skipBranch skips text that is switched off, to its end or to the text that is read in its
// place.
func (c *scanner) skipBranch() {
	for depth := 0; !c.done(); {
		c.until(`\`)
		switch name := c.command(); {
		case name == "fi" && depth == 0, name == "else" && depth == 0:
			return
		case name == "fi":
			depth--
		case strings.HasPrefix(name, "if") && name != "iff" && name != "ifthenelse":
			depth++
		}
	}
}
