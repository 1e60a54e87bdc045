package ooxml

import (
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
)

const levels = 9 // of a list

// level is how one level of a list is numbered.
type level struct {
	start  int
	format string // decimal, bullet, …
	text   string // "%1.%2."
	legal  bool   // all numbers in it are decimal
	style  string // of the paragraphs on this level
}

// list is a list definition, which several lists can share.
type list struct {
	levels [levels]level
	link   string // style whose list counts instead
	counts [levels]int
	begun  bool
}

// instance is a list of the document. The counters belong to its definition.
type instance struct {
	list     *list
	restarts map[int]int   // start of a level, from its first item in this instance on
	replaced map[int]level // levels that differ from the definition
}

// numbering holds the lists of a document by their ids.
type numbering struct{ instances map[string]*instance }

func (p *pack) numbering(document string, s styles) (numbering, error) {
	n := numbering{instances: map[string]*instance{}}
	part := p.partOfKind(document, "numbering")
	if part == "" {
		return n, nil
	}
	root, err := p.tree(part)
	if err != nil {
		return n, err
	}
	lists := map[string]*list{}
	for _, a := range root.Children("abstractNum") {
		l := &list{link: value(a.Child("numStyleLink"))}
		for _, node := range a.Children("lvl") {
			if i := office.Int(node.Attr("ilvl"), 0); i >= 0 && i < levels {
				l.levels[i] = readLevel(node)
			}
		}
		lists[a.Attr("abstractNumId")] = l
	}
	for _, node := range root.Children("num") {
		l := lists[value(node.Child("abstractNumId"))]
		if l == nil {
			continue
		}
		n.instances[node.Attr("numId")] = newInstance(l, node)
	}
	for _, i := range n.instances { // a definition can refer to the list of a style
		if target := n.instances[s.byID[i.list.link].numID]; i.list.link != "" && target != nil {
			i.list = target.list
		}
	}
	return n, nil
}

func newInstance(l *list, node *markup.Node) *instance {
	i := &instance{list: l, restarts: map[int]int{}, replaced: map[int]level{}}
	for _, o := range node.Children("lvlOverride") {
		at := office.Int(o.Attr("ilvl"), 0)
		if lvl := o.Child("lvl"); lvl != nil {
			i.replaced[at] = readLevel(lvl)
		}
		if start := o.Child("startOverride"); start != nil {
			i.restarts[at] = number(start, 1)
		}
	}
	return i
}

func readLevel(n *markup.Node) level {
	return level{
		start: number(n.Child("start"), 0), format: value(n.Child("numFmt")), text: value(n.Child("lvlText")),
		legal: isOn(n.Child("isLgl")), style: value(n.Child("pStyle")),
	}
}

func (i *instance) level(at int) level {
	if l, ok := i.replaced[at]; ok {
		return l
	}
	return i.list.levels[at]
}

// levelOf returns the level of a list whose paragraphs have one of the styles, of which
// the first counts most, else the level that the styles state.
func (n numbering) levelOf(numID string, stated int, styles []string) int {
	if i := n.instances[numID]; i != nil {
		for _, style := range styles {
			for at := range levels {
				if i.level(at).style == style {
					return at
				}
			}
		}
	}
	return min(max(stated, 0), levels-1)
}

// next counts an item of a list, and returns its number as shown: "" for a bullet or
// an unknown list.
func (n numbering) next(numID string, at int) string {
	i := n.instances[numID]
	if i == nil || at < 0 || at >= levels {
		return ""
	}
	l := i.list
	if !l.begun {
		l.begun = true
		for k := range levels {
			l.counts[k] = i.level(k).start - 1
		}
	}
	if start, ok := i.restarts[at]; ok {
		l.counts[at] = start - 1
		delete(i.restarts, at)
	}
	l.counts[at]++
	for k := at + 1; k < levels; k++ {
		l.counts[k] = i.level(k).start - 1
	}
	return i.mark(at)
}

// mark returns the number of the newest item of a level.
func (i *instance) mark(at int) string {
	this := i.level(at)
	if this.format == "bullet" || this.format == "none" {
		return ""
	}
	text := this.text
	for k := range levels {
		place := "%" + strconv.Itoa(k+1)
		if !strings.Contains(text, place) {
			continue
		}
		format := i.level(k).format
		if this.legal {
			format = "decimal"
		}
		text = strings.ReplaceAll(text, place, office.Number(max(i.list.counts[k], i.level(k).start), format))
	}
	return strings.TrimSpace(text)
}
