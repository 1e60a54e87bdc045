package html

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// cutter takes the furniture out of a page and leaves a mark at its place, because
// the converter knows nothing of furniture.
type cutter struct {
	units  []unit
	isMain []bool
	at     map[*html.Node]int  // the unit that begins with a node
	holds  map[*html.Node]bool // elements that hold main text
	cut    []knowledge.Block
}

// cutFurniture takes the units that are not main text out of a page, and returns them
// as blocks, one for each element that holds nothing else.
func cutFurniture(root *html.Node, units []unit, isMain []bool) []knowledge.Block {
	c := cutter{units: units, isMain: isMain, at: map[*html.Node]int{}, holds: map[*html.Node]bool{}}
	for i, u := range units {
		c.at[u.nodes[0]] = i
		for n := u.parent; isMain[i] && n != nil && !c.holds[n]; n = n.Parent {
			c.holds[n] = true
		}
	}
	c.children(root)
	return c.cut
}

// children cuts the furniture out of an element that holds main text.
func (c *cutter) children(parent *html.Node) {
	for n := parent.FirstChild; n != nil; {
		i, begins := c.at[n]
		switch {
		case begins:
			next := c.units[i].nodes[len(c.units[i].nodes)-1].NextSibling
			if !c.isMain[i] {
				c.take(parent, c.units[i].nodes, c.units[i].text)
			}
			n = next
		case c.holds[n]:
			c.children(n)
			n = n.NextSibling
		default:
			next := n.NextSibling
			if lines := c.lines(n, nil); len(lines) > 0 {
				c.take(parent, []*html.Node{n}, strings.Join(lines, "\n"))
			}
			n = next
		}
	}
}

// lines appends the texts of the units inside an element.
func (c *cutter) lines(n *html.Node, lines []string) []string {
	if i, begins := c.at[n]; begins {
		lines = append(lines, c.units[i].text)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		lines = c.lines(child, lines)
	}
	return lines
}

// take removes nodes from their parent and leaves a mark, before the list or table
// that they are in.
func (c *cutter) take(parent *html.Node, nodes []*html.Node, text string) {
	place, before := parent, nodes[0]
	for n := parent; n != nil; n = n.Parent {
		if n.Parent != nil && (n.DataAtom == atom.Table || n.DataAtom == atom.Ul || n.DataAtom == atom.Ol || n.DataAtom == atom.Dl) {
			place, before = n.Parent, n
			break
		}
	}
	p := &html.Node{Type: html.ElementNode, DataAtom: atom.P, Data: "p"}
	p.AppendChild(&html.Node{Type: html.TextNode, Data: markOf(len(c.cut))})
	place.InsertBefore(p, before)
	c.cut = append(c.cut, knowledge.Block{Kind: furnitureKind(nodes[0], parent), Text: text})
	for _, n := range nodes {
		parent.RemoveChild(n)
	}
}

// furnitureKind returns the kind of furniture that a node in an element is.
func furnitureKind(n, parent *html.Node) knowledge.BlockKind {
	for ; n != nil; n, parent = parent, parent.Parent {
		switch {
		case n.DataAtom == atom.Footer, attr(n, "role") == "contentinfo":
			return knowledge.BlockFooter
		case n.DataAtom == atom.Header, attr(n, "role") == "banner":
			return knowledge.BlockHeader
		case parent == nil:
			return knowledge.BlockFurniture
		}
	}
	return knowledge.BlockFurniture
}

// A mark is the number of a block of furniture between two characters that have no
// meaning, and that withoutMarks removes from every page.
const markStart, markEnd = "\ue0f0", "\ue0f1"

var (
	markIn       = regexp.MustCompile(markStart + `(\d+)` + markEnd)
	withoutMarks = strings.NewReplacer(markStart, "", tableStart, "", markEnd, "")
)

func markOf(i int) string { return fmt.Sprint(markStart, i, markEnd) }

// putFurniture replaces the marks in blocks by the furniture.
func putFurniture(blocks, furniture []knowledge.Block) []knowledge.Block {
	if len(furniture) == 0 {
		return blocks
	}
	out := make([]knowledge.Block, 0, len(blocks)+len(furniture))
	for _, b := range blocks {
		marks := markIn.FindAllStringSubmatch(b.Text, -1)
		if len(marks) > 0 {
			b.Text = strings.TrimSpace(markIn.ReplaceAllString(b.Text, ""))
		}
		if b.Text != "" {
			out = append(out, b)
		}
		for _, mark := range marks {
			i, err := strconv.Atoi(mark[1])
			if err == nil && i < len(furniture) {
				out = append(out, furniture[i])
			}
		}
	}
	return out
}
