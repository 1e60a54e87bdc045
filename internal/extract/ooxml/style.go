package ooxml

import (
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/script"
)

// style is a style of a Word document.
type style struct {
	name    string // in lower case; built-in styles have English names in every language
	base    string // id of the style that it extends
	outline int    // outline level from 0 on, -1 = not set
	numID   string // list
	level   int    // of the list from 0 on, -1 = not set
	hidden  bool
	bold    bool
	size    int // of the font in half points, 0 = not set
	script  script.Position
}

// styles are the styles of a document by id.
type styles struct {
	byID     map[string]style
	standard string // id of the style of paragraphs without one
}

func (p *pack) styles(document string) (styles, error) {
	s := styles{byID: map[string]style{}}
	part := p.partOfKind(document, "styles")
	if part == "" {
		return s, nil
	}
	root, err := p.tree(part)
	if err != nil {
		return s, err
	}
	for _, n := range root.Children("style") {
		id := n.Attr("styleId")
		properties, look := n.Child("pPr"), n.Child("rPr")
		s.byID[id] = style{
			name: strings.ToLower(value(n.Child("name"))), base: value(n.Child("basedOn")),
			outline: number(properties.Child("outlineLvl"), -1), numID: value(properties.Child("numPr", "numId")),
			level:  number(properties.Child("numPr", "ilvl"), -1),
			hidden: isOn(look.Child("vanish")), bold: isOn(look.Child("b")), size: number(look.Child("sz"), 0),
			script: positionOf(value(look.Child("vertAlign"))),
		}
		if n.Attr("type") == "paragraph" && n.Attr("default") == "1" {
			s.standard = id
		}
	}
	return s, nil
}

// chain calls visit with a style and those that it extends, until visit returns
// false.
func (s styles) chain(id string, visit func(style) bool) {
	for range 20 { // a style can extend itself
		st, ok := s.byID[id]
		if !ok || !visit(st) {
			return
		}
		id = st.base
	}
}

// headingLevel returns the level of a heading from 1 on, 0 if the style is not the
// style of a heading.
func (s styles) headingLevel(id string) int {
	level := 0
	s.chain(id, func(st style) bool {
		if rest, ok := strings.CutPrefix(st.name, "heading "); ok {
			level, _ = strconv.Atoi(rest) // 0 if it is not a number
		}
		if level == 0 && st.outline >= 0 && st.outline < 9 {
			level = st.outline + 1
		}
		return level == 0 && st.outline < 0
	})
	return level
}

// list returns the list of a style, "" if it has none, the level that the style states,
// -1 if it states none, and the styles from this one to the one that states the list.
func (s styles) list(id string) (numID string, level int, ids []string) {
	level = -1
	s.chain(id, func(st style) bool {
		numID, ids = st.numID, append(ids, id)
		if level < 0 {
			level = st.level
		}
		id = st.base
		return numID == ""
	})
	return numID, level, ids
}

// position returns where the text of a run stands on its line.
func (s styles) position(properties *markup.Node) script.Position {
	if properties == nil {
		return script.OnLine
	}
	if direct := properties.Child("vertAlign"); direct != nil {
		return positionOf(value(direct))
	}
	at := shifted(properties)
	if id := value(properties.Child("rStyle")); id != "" && at == script.OnLine {
		s.chain(id, func(st style) bool {
			at = st.script
			return at == script.OnLine
		})
	}
	return at
}

// leastShift is how far text is raised or lowered at least, in half points, that is an exponent or
// an index rather than moved into line with a picture.
const leastShift = 4

// shifted returns the position of small text that is raised or lowered by a distance.
func shifted(properties *markup.Node) script.Position {
	if properties.Child("sz") == nil {
		return script.OnLine
	}
	switch distance := number(properties.Child("position"), 0); {
	case distance >= leastShift:
		return script.Raised
	case distance <= -leastShift:
		return script.Lowered
	}
	return script.OnLine
}

func positionOf(align string) script.Position {
	switch align {
	case "superscript":
		return script.Raised
	case "subscript":
		return script.Lowered
	}
	return script.OnLine
}

// isHidden reports whether a style hides its text.
func (s styles) isHidden(id string) bool { return s.byID[id].hidden }

// look returns whether text in a style is bold, and the size of its font in half
// points, 0 if the style does not set it.
func (s styles) look(id string) (bold bool, size int) {
	s.chain(id, func(st style) bool {
		bold = bold || st.bold
		if size == 0 {
			size = st.size
		}
		return true
	})
	return bold, size
}

// value returns the val attribute of an element, "" for nil.
func value(n *markup.Node) string {
	if n == nil {
		return ""
	}
	return n.Attr("val")
}

// number returns the val attribute of an element as a number.
func number(n *markup.Node, otherwise int) int {
	i, err := strconv.Atoi(value(n))
	if err != nil {
		return otherwise
	}
	return i
}

// isOn reports whether an element that switches something on is there and does not
// switch it off.
func isOn(n *markup.Node) bool {
	if n == nil {
		return false
	}
	switch value(n) {
	case "0", "false", "off", "none":
		return false
	}
	return true
}
