package latex

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/cairn-rag/cairn/internal/extract/script"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// levels are the levels of headings.
var levels = map[string]int{
	"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6, "frametitle": 2,
}

// dropped are the commands that show nothing, with the number of their arguments.
var dropped = map[string]int{
	"label": 1, "usepackage": 1, "documentclass": 1, "pagestyle": 1, "thispagestyle": 1, "vspace": 1, "hspace": 1, "vskip": 0, "bibliographystyle": 1,
	"bibliography": 1, "index": 1, "setlength": 2, "addtolength": 2, "setcounter": 2, "addtocounter": 2, "newcommand": 2, "renewcommand": 2,
	"providecommand": 2, "newenvironment": 3, "renewenvironment": 3, "newtheorem": 2, "DeclareMathOperator": 2, "hypersetup": 1, "lstset": 1,
	"color": 1, "definecolor": 3, "newlength": 1, "graphicspath": 1, "geometry": 1, "pagenumbering": 1, "addcontentsline": 3, "cline": 1, "cmidrule": 1,
	"thanks": 1, "rule": 2, "fontsize": 2, "selectlanguage": 1, "nocite": 1, "phantom": 1, "hphantom": 1, "vphantom": 1, "captionsetup": 1, "date": 1,
	"includegraphics": 1, "theoremstyle": 1, "linespread": 1, "hyphenation": 1, "addbibresource": 1, "usetikzlibrary": 1, "rowcolor": 1, "cellcolor": 1,
	"rowcolors": 3, "arrayrulecolor": 1, "sisetup": 1, "usetheme": 1, "usecolortheme": 1, "titleformat": 5, "titlespacing": 4, "pgfplotsset": 1, "tikzset": 1, "let": 2, "def": 0,
}

// second are the commands of whose arguments only the last one is shown.
var second = map[string]int{
	"href": 2, "textcolor": 2, "colorbox": 2, "parbox": 2, "makebox": 1, "raisebox": 2, "multirow": 3, "multicolumn": 3, "resizebox": 3, "scalebox": 2, "foreignlanguage": 2, "hyperref": 1, "texorpdfstring": 2,
}

// signs are the commands that are characters.
var signs = map[string]string{
	"LaTeX": "LaTeX", "TeX": "TeX", "ldots": "…", "dots": "…", "textellipsis": "…", "textbackslash": `\`, "textasciitilde": "~", "textasciicircum": "^",
	"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ",
	"S": "§", "P": "¶", "copyright": "©", "textcopyright": "©", "textregistered": "®", "texttrademark": "™", "pounds": "£", "euro": "€", "texteuro": "€", "textdegree": "°",
	"textbar": "|", "textless": "<", "textgreater": ">", "textbullet": "•", "textendash": "–", "textemdash": "—", "quad": " ", "qquad": " ", "dag": "†", "ddag": "‡",
	"textquotedblleft": "“", "textquotedblright": "”", "textquoteleft": "‘", "textquoteright": "’", "glqq": "„", "grqq": "“", "flqq": "«", "frqq": "»", "textmu": "µ", "textperthousand": "‰",
	",": " ", ";": " ", ":": " ", " ": " ", "\n": " ", "/": "", "-": "", "!": "", "@": "", "newline": hardBreak, "tabularnewline": hardBreak, "par": "",
}

// accents are the commands that put a mark on a letter.
var accents = map[string]string{
	"`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", `"`: "\u0308", "=": "\u0304", ".": "\u0307",
	"c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "r": "\u030a", "k": "\u0328", "d": "\u0323", "b": "\u0331", "t": "\u0361",
}

// command reads a command, whose backslash is read.
func (r *reader) command(c *scanner) {
	name := c.command()
	if _, isHeading := levels[name]; isHeading {
		r.heading(c, name)
		return
	}
	if mark, ok := accents[name]; ok {
		r.text.WriteString(accented(r.inline(c.argument()), mark))
		return
	}
	if sign, ok := signs[name]; ok {
		r.sign(c, name, sign)
		return
	}
	if count, ok := dropped[name]; ok {
		r.drop(c, name, count)
		return
	}
	if count, ok := second[name]; ok {
		for range count - 1 {
			c.option()
			c.argument()
		}
		c.option()
		r.text.WriteString(r.inline(c.argument()))
		return
	}
	r.other(c, name)
}

func accented(letter, mark string) string {
	if letter == "" { // it stands alone: \^{}
		return map[string]string{accents["^"]: "^", accents["~"]: "~"}[mark]
	}
	letter = strings.NewReplacer("ı", "i", "ȷ", "j").Replace(letter)
	first, rest := letter, ""
	for i := range letter {
		if i > 0 {
			first, rest = letter[:i], letter[i:]
			break
		}
	}
	return norm.NFC.String(first+mark) + rest
}

func (r *reader) sign(c *scanner, name, sign string) {
	if isLetter(name[0]) {
		if rest := c.rest(); strings.HasPrefix(rest, "{}") {
			c.at += 2
		} else if c.spaces(); sign == "" && name == "par" {
			r.end()
		}
	}
	r.text.WriteString(sign)
}

func (r *reader) drop(c *scanner, name string, count int) {
	for range count {
		for range 3 {
			if _, ok := c.option(); !ok {
				break
			}
		}
		if name == "cmidrule" && strings.HasPrefix(c.rest(), "(") {
			c.until(")")
		}
		c.argument()
	}
	if name == "def" {
		c.until("{")
		c.at--
		c.argument()
	}
}

func (r *reader) heading(c *scanner, name string) {
	c.option()
	r.closeLists()
	r.add(knowledge.BlockHeading, levels[name], strings.ReplaceAll(r.inline(c.argument()), "\n", " "))
}

// other reads the commands that are neither signs nor nothing. The arguments of a command
// that is not known are shown.
func (r *reader) other(c *scanner, name string) {
	if text, ok := r.written(c, name); ok {
		r.text.WriteString(text)
		return
	}
	switch name {
	case "begin":
		r.begin(c, c.argument())
	case "end":
		r.finish(c.argument())
	case "item", "bibitem":
		r.item(c)
	case "[":
		r.formula(c.until(`\]`))
	case "title", "author":
		r.names(name, c.argument())
	case "maketitle":
		r.end()
		r.add(knowledge.BlockHeading, 1, r.document.Title)
		r.add(knowledge.BlockParagraph, 0, r.document.Author)
	case "caption":
		c.option()
		r.paragraph(c.argument())
	case "captionof":
		c.option()
		c.argument()
		r.paragraph(c.argument())
	case "framesubtitle":
		r.paragraph(c.argument())
	case "input", "include", "subfile", "lstinputlisting", "verbatiminput":
		c.option()
		c.argument()
		r.document.Includes++
	case "verb", "lstinline":
		r.verb(c)
	case "mintinline":
		c.option()
		c.argument()
		r.verb(c)
	default:
		c.overlay()
		c.option()
		if !c.done() && isLetter(name[0]) && c.s[c.at] != '{' {
			c.spaces()
		}
	}
}

// paragraph adds a text as a paragraph of its own.
func (r *reader) paragraph(text string) {
	r.end()
	r.text.WriteString(r.inline(text))
	r.end()
}

// written returns what a command with its arguments is within a paragraph. ok is false for
// commands that are no text.
func (r *reader) written(c *scanner, name string) (text string, ok bool) {
	switch name {
	case "(":
		return Formula(c.until(`\)`)), true
	case `\`:
		c.option()
		return hardBreak, true
	case "footnote", "footnotetext":
		c.option()
		return " (" + r.inline(c.argument()) + ")", true
	case "cite", "citep", "citet", "ref", "eqref", "pageref", "autoref", "cref", "Cref", "nameref", "parencite", "textcite":
		c.option()
		c.option()
		return "[" + c.argument() + "]", true
	case "textsuperscript":
		return script.Super(r.inline(c.argument())), true
	case "textsubscript":
		return script.Sub(r.inline(c.argument())), true
	case "ensuremath":
		return Formula(c.argument()), true
	case "url", "path", "nolinkurl":
		return strings.ReplaceAll(c.argument(), `\`, ""), true
	case "%", "$", "&", "#", "_", "{", "}":
		return name, true
	}
	return quantity(c, name)
}

// verb reads text that is shown as it is, between two characters that are the same.
func (r *reader) verb(c *scanner) {
	c.option()
	if c.done() {
		return
	}
	mark := c.s[c.at : c.at+1]
	c.at++
	if mark == "{" {
		mark = "}"
	}
	r.text.WriteString(c.until(mark))
}
