package hypertext

import (
	"strings"

	"golang.org/x/net/html"
)

// Formula returns a formula in MathML in one line, as it would be typed: (a+b)/c, x^2,
// √(y).
func Formula(n *html.Node) string {
	return strings.Join(strings.Fields(formula(n)), " ")
}

func formula(n *html.Node) string {
	if n.Type == html.TextNode {
		return strings.Join(strings.Fields(n.Data), " ")
	}
	if n.Type != html.ElementNode {
		return ""
	}
	parts := elements(n)
	part := func(i int) string {
		if i >= len(parts) {
			return ""
		}
		return formula(parts[i])
	}
	switch n.Data {
	case "annotation", "annotation-xml", "mphantom":
		return ""
	case "semantics":
		return part(0)
	case "mfrac":
		return group(part(0)) + "/" + group(part(1))
	case "msup", "mover":
		return base(parts, part(0)) + above(part(1)) + spaceAfter(part(0))
	case "msub", "munder":
		return part(0) + below(part(1)) + spaceAfter(part(0))
	case "msubsup", "munderover":
		return base(parts, part(0)) + below(part(1)) + above(part(2)) + spaceAfter(part(0))
	case "msqrt":
		return "√(" + joined(n) + ")"
	case "mroot":
		return part(1) + "√(" + part(0) + ")"
	case "mfenced":
		return fenced(n, parts)
	case "mtable":
		return "[" + each(parts, "; ") + "]"
	case "mtr", "mlabeledtr":
		return each(parts, ", ")
	case "mo":
		return operator(joined(n))
	case "mspace":
		return " "
	}
	return joined(n)
}

// base returns what an exponent belongs to. An expression without brackets gets them.
func base(parts []*html.Node, text string) string {
	if len(parts) > 0 && parts[0].Data == "mrow" {
		return group(text)
	}
	return text
}

func joined(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(formula(c))
	}
	return b.String()
}

func elements(n *html.Node) []*html.Node {
	var found []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			found = append(found, c)
		}
	}
	return found
}

func each(parts []*html.Node, separator string) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = formula(p)
	}
	return strings.Join(texts, separator)
}

func fenced(n *html.Node, parts []*html.Node) string {
	open, end := "(", ")"
	for _, a := range n.Attr {
		switch a.Key {
		case "open":
			open = a.Val
		case "close":
			end = a.Val
		}
	}
	return open + each(parts, ", ") + end
}

// operator returns an operator without the characters that no one sees, such as the
// one for a product without a sign.
func operator(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '\u2061' && r <= '\u2064' {
			return -1
		}
		return r
	}, s)
}

func above(s string) string {
	if s == "" || strings.Trim(s, "′'″") == "" {
		return s
	}
	return "^" + group(s)
}

func below(s string) string {
	if s == "" {
		return ""
	}
	return "_" + group(s)
}

// spaceAfter parts a sum or an integral with its limits from what follows.
func spaceAfter(sign string) string {
	if strings.ContainsAny(sign, "∑∏∫∮") {
		return " "
	}
	return ""
}

// group puts an expression of several characters into brackets, unless it is a number
// or has them.
func group(s string) string {
	if strings.Trim(s, "0123456789.,") == "" || len([]rune(s)) <= 1 || isBracketed(s) {
		return s
	}
	return "(" + s + ")"
}

func isBracketed(s string) bool {
	depth := 0
	for i, r := range s {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 && i < len(s)-1 {
			return false
		}
	}
	return depth == 0
}
