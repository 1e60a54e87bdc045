package asciidoc

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

var (
	condition     = regexp.MustCompile(`^\\?(ifdef|ifndef|ifeval|endif)::([^\[\s]*)\[(.*)\]$`)
	attributeName = regexp.MustCompile(`\{(\w[\w-]*)\}`)
	comparison    = regexp.MustCompile(`^\s*(".*?"|'.*?'|[^\s"']*)\s*(==|!=|<=|>=|<|>)\s*(".*?"|'.*?'|[^\s"']*)\s*$`)
	fence         = regexp.MustCompile("^(?:-{4,}|\\.{4,}|`{3,}.*)$")
)

// conditions chooses the lines of a text whose conditions hold.
type conditions struct {
	attributes map[string]string // that the lines so far set
	open       []bool            // for each condition without its end, whether it holds
	hidden     int               // open conditions that do not hold
	verbatim   bool              // between the lines around a listing, where no attribute is set
}

// chosen returns the lines whose conditions hold, and the index of each in the text.
func chosen(lines []string) (kept []string, origins []int) {
	c := conditions{attributes: map[string]string{}}
	for i, line := range lines {
		if line, ok := c.read(line); ok {
			kept, origins = append(kept, line), append(origins, i)
		}
	}
	return kept, origins
}

// read returns the text that a line adds. ok is false if it adds none.
func (c *conditions) read(line string) (text string, ok bool) {
	m := condition.FindStringSubmatch(line)
	switch {
	case m == nil:
		if c.hidden > 0 {
			return "", false
		}
		if fence.MatchString(line) {
			c.verbatim = !c.verbatim
		} else if !c.verbatim {
			setAttribute(c.attributes, line)
		}
		return line, true
	case line[0] == '\\':
		return line[1:], c.hidden == 0
	case m[1] == "endif":
		c.end()
		return "", false
	case m[1] != "ifeval" && m[3] != "": // a condition of one line
		return m[3], c.hidden == 0 && c.holds(m[1], m[2], "")
	}
	holds := c.holds(m[1], m[2], m[3])
	c.open = append(c.open, holds)
	if !holds {
		c.hidden++
	}
	return "", false
}

// end ends the condition that began last.
func (c *conditions) end() {
	last := len(c.open) - 1
	if last < 0 {
		return
	}
	if !c.open[last] {
		c.hidden--
	}
	c.open = c.open[:last]
}

// holds reports whether a condition about the attributes with these names, or one with an
// expression, holds.
func (c *conditions) holds(kind, names, expression string) bool {
	switch kind {
	case "ifdef":
		return c.isSet(names)
	case "ifndef":
		return !c.isSet(names)
	}
	return c.compares(expression)
}

// isSet reports whether any of the names between commas, or all of those between plus
// signs, are set.
func (c *conditions) isSet(names string) bool {
	all := strings.Contains(names, "+")
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == '+' }) {
		if _, set := c.attributes[strings.ToLower(name)]; set != all {
			return set
		}
	}
	return all
}

// compares reports whether the comparison of an expression holds. Text that is no
// comparison hides nothing.
func (c *conditions) compares(expression string) bool {
	m := comparison.FindStringSubmatch(expression)
	if m == nil {
		return true
	}
	left, right := c.operand(m[1]), c.operand(m[3])
	order := cmp.Compare(left, right)
	a, errA := strconv.ParseFloat(left, 64)
	b, errB := strconv.ParseFloat(right, 64)
	if errA == nil && errB == nil {
		order = cmp.Compare(a, b)
	}
	switch m[2] {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// operand returns a side of a comparison with the values of attributes. A sign stands for
// its quotation marks, so that no text is equal to a number.
func (c *conditions) operand(s string) string {
	s = attributeName.ReplaceAllStringFunc(s, func(name string) string {
		return c.attributes[strings.ToLower(strings.Trim(name, "{}"))]
	})
	if n := len(s); n > 1 && strings.ContainsAny(s[:1], `"'`) {
		return "=" + s[1:n-1]
	}
	return s
}

// setAttribute sets or removes the attribute that a line states, and reports whether it
// states one.
func setAttribute(attributes map[string]string, line string) bool {
	m := attribute.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	const most = 1000 // attributes, and bytes of a value
	switch name := strings.ToLower(strings.Trim(m[1], "!")); {
	case name != strings.ToLower(m[1]):
		delete(attributes, name)
	case len(attributes) < most && len(m[2]) < most:
		attributes[name] = m[2]
	}
	return true
}
