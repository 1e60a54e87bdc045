package ooxml

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
)

// math returns a formula in one line, as it would be typed: (a+b)/c, x^2, √(y).
func math(n *markup.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range n.Nodes {
		b.WriteString(mathPart(c))
	}
	return b.String()
}

func mathPart(n *markup.Node) string {
	part := func(name string) string { return math(n.Child(name)) }
	switch n.Name {
	case "t":
		return n.Content()
	case "f":
		return group(part("num")) + "/" + group(part("den"))
	case "sSup":
		return part("e") + "^" + group(part("sup"))
	case "sSub":
		return part("e") + "_" + group(part("sub"))
	case "sSubSup":
		return part("e") + "_" + group(part("sub")) + "^" + group(part("sup"))
	case "rad":
		return part("deg") + "√(" + part("e") + ")"
	case "nary":
		sign := value(n.Child("naryPr", "chr"))
		if sign == "" {
			sign = "∫"
		}
		return sign + limit("_", part("sub")) + limit("^", part("sup")) + " " + part("e")
	case "d":
		var parts []string
		for _, e := range n.Children("e") {
			parts = append(parts, math(e))
		}
		return "(" + strings.Join(parts, ", ") + ")"
	case "func":
		return part("fName") + " " + part("e")
	case "limLow":
		return part("e") + "_" + group(part("lim"))
	case "limUpp":
		return part("e") + "^" + group(part("lim"))
	case "m":
		return matrix(n)
	case "rPr", "fPr", "naryPr", "dPr", "radPr", "ctrlPr", "sSupPr", "sSubPr", "mPr", "funcPr":
		return ""
	}
	return math(n)
}

func matrix(n *markup.Node) string {
	var rows []string
	for _, row := range n.Children("mr") {
		var cells []string
		for _, e := range row.Children("e") {
			cells = append(cells, math(e))
		}
		rows = append(rows, strings.Join(cells, ", "))
	}
	return "[" + strings.Join(rows, "; ") + "]"
}

// limit returns a limit of a sum or an integral with its sign.
func limit(sign, s string) string {
	if s == "" {
		return ""
	}
	return sign + group(s)
}

// group puts an expression of several characters into brackets.
func group(s string) string {
	if len([]rune(s)) <= 1 {
		return s
	}
	return "(" + s + ")"
}
