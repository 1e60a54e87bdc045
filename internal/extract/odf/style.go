package odf

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/script"
)

// style is a style of paragraphs, tables or slides.
type style struct {
	name   string // shown, in lower case
	parent string
	list   string // list style of its paragraphs
	hidden bool   // of a sheet or a slide
	bold   string // weight of the font, "" = the parent's
	size   float64
	script script.Position
}

// level is how one level of a list is numbered. format is "" for bullets.
type level struct {
	format, prefix, suffix string
	start                  int
	shown                  int // how many levels the number shows
}

type styles struct {
	byName  map[string]style
	lists   map[string]map[int]level // by name, then by level from 1 on
	outline map[int]level            // of headings
}

func newStyles() styles {
	return styles{byName: map[string]style{}, lists: map[string]map[int]level{}, outline: map[int]level{}}
}

// add adds the styles of styles.xml.
func (s *styles) add(root *markup.Node) {
	if root == nil {
		return
	}
	for _, group := range root.Nodes {
		for _, n := range group.Nodes {
			s.addOne(n)
		}
	}
}

func (s *styles) addOne(n *markup.Node) {
	switch n.Name {
	case "style":
		shown := n.Attr("display-name")
		if shown == "" {
			shown = strings.ReplaceAll(n.Attr("name"), "_20_", " ")
		}
		s.byName[n.Attr("family")+" "+n.Attr("name")] = style{
			name: strings.ToLower(shown), parent: n.Attr("parent-style-name"), list: n.Attr("list-style-name"),
			hidden: n.Child("table-properties").Attr("display") == "false" || n.Child("drawing-page-properties").Attr("visibility") == "hidden",
			bold:   n.Child("text-properties").Attr("font-weight"), size: points(n.Child("text-properties").Attr("font-size")),
			script: positionOf(n.Child("text-properties").Attr("text-position")),
		}
	case "list-style":
		s.lists[n.Attr("name")] = readLevels(n)
	case "outline-style":
		s.outline = readLevels(n)
	}
}

func readLevels(n *markup.Node) map[int]level {
	levels := map[int]level{}
	for _, c := range n.Nodes {
		at := office.Int(c.Attr("level"), 0)
		switch c.Name {
		case "list-level-style-number", "outline-level-style":
			levels[at] = level{
				format: c.Attr("num-format"), prefix: c.Attr("num-prefix"), suffix: c.Attr("num-suffix"),
				start: office.Int(c.Attr("start-value"), 1), shown: office.Int(c.Attr("display-levels"), 1),
			}
		case "list-level-style-bullet", "list-level-style-image":
			levels[at] = level{}
		}
	}
	return levels
}

// is reports whether a paragraph style is one of these, or extends one.
func (s *styles) is(name string, names ...string) bool {
	for range 20 { // a style can extend itself
		st, ok := s.byName["paragraph "+name]
		shown := st.name
		if !ok {
			shown = strings.ToLower(strings.ReplaceAll(name, "_20_", " "))
		}
		for _, n := range names {
			if shown == n {
				return true
			}
		}
		if name = st.parent; name == "" {
			return false
		}
	}
	return false
}

// look returns how text in a style looks, where the style does not say it as other.
func (s *styles) look(family, name string, other office.Look) office.Look {
	bold, size := "", 0.0
	for range 20 { // a style can extend itself
		st := s.byName[family+" "+name]
		bold, size = cmp.Or(bold, st.bold), cmp.Or(size, st.size)
		if name = st.parent; name == "" {
			break
		}
	}
	if bold != "" {
		other.Bold = bold == "bold" || bold > "500" && bold <= "900"
	}
	other.Size = cmp.Or(size, other.Size)
	return other
}

// position returns where text in a style stands on its line, where the style does not
// say it as other.
func (s *styles) position(name string, other script.Position) script.Position {
	for range 20 { // a style can extend itself
		st := s.byName["text "+name]
		if st.script != script.OnLine {
			return st.script
		}
		if name = st.parent; name == "" {
			break
		}
	}
	return other
}

// positionOf returns the position that a value such as "super 58%" or "-33% 58%" states.
func positionOf(s string) script.Position {
	shift, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	switch {
	case shift == "sub", strings.HasPrefix(shift, "-"):
		return script.Lowered
	case shift == "super", strings.Trim(shift, "0%") != "":
		return script.Raised
	}
	return script.OnLine
}

// points returns a size such as 12pt, 0 if it is not in points.
func points(s string) float64 {
	size, err := strconv.ParseFloat(strings.TrimSuffix(s, "pt"), 64)
	if err != nil {
		return 0
	}
	return size
}

func (s *styles) isHidden(family, name string) bool { return s.byName[family+" "+name].hidden }

const maxLevels = 10

// counters counts the items of a list by level, 0 = the first.
type counters struct {
	counts [maxLevels]int
	begun  [maxLevels]bool
}

// next counts an item on a level from 0 on, and returns its number, "" for a bullet.
func (c *counters) next(levels map[int]level, at int, start string) string {
	at = min(max(at, 0), maxLevels-1)
	this := levels[at+1]
	switch first := office.Int(start, -1); {
	case first >= 0:
		c.counts[at] = first
	case c.begun[at]:
		c.counts[at]++
	default:
		c.counts[at] = this.start
	}
	for above := range at { // levels that were skipped
		if !c.begun[above] {
			c.counts[above], c.begun[above] = levels[above+1].start, true
		}
	}
	c.begun[at] = true
	for deeper := at + 1; deeper < maxLevels; deeper++ {
		c.begun[deeper] = false
	}
	if this.format == "" {
		return ""
	}
	var parts []string
	for k := max(at-this.shown+1, 0); k <= at; k++ {
		if l := levels[k+1]; l.format != "" {
			parts = append(parts, office.Number(max(c.counts[k], l.start), l.format))
		}
	}
	return strings.TrimSpace(this.prefix + strings.Join(parts, ".") + this.suffix)
}
