package latex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/script"
)

// symbols are the commands of formulas that are characters.
var symbols = symbolsOf(`alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π varpi ϖ
rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
times × cdot · div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet • oplus ⊕ otimes ⊗ leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ approx ≈ equiv ≡ sim ∼ simeq ≃ cong ≅ propto ∝ ll ≪ gg ≫
in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬ land ∧ wedge ∧ lor ∨ vee ∨
to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⇒ iff ⇔ mapsto ↦ uparrow ↑ downarrow ↓ longrightarrow ⟶ gets ←
sum ∑ prod ∏ int ∫ iint ∬ oint ∮ partial ∂ nabla ∇ infty ∞ ldots … cdots ⋯ dots … vdots ⋮ ddots ⋱ prime ′ angle ∠ perp ⊥ parallel ∥ mid | vert | Vert ‖ lvert | rvert | lVert ‖ rVert ‖
langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ degree ° lbrace { rbrace } backslash \ therefore ∴ because ∵ top ⊤ bot ⊥ vdash ⊢ models ⊨`)

func symbolsOf(table string) map[string]string {
	m := map[string]string{}
	words := strings.Fields(table)
	for i := 0; i+1 < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	return m
}

// Formula returns a formula in one line, as it would be typed: (a+b)/c, x², √(y).
func Formula(s string) string { return formula(s, 0) }

func formula(s string, depth int) string {
	if depth > maxDepth {
		return s
	}
	f := &formulaReader{scanner: scanner{s: s}, depth: depth}
	for !f.done() {
		f.next()
	}
	return strings.Join(strings.Fields(f.out.String()), " ")
}

type formulaReader struct {
	scanner
	out   strings.Builder
	depth int
}

// part returns the formula of the next argument.
func (f *formulaReader) part() string { return formula(f.argument(), f.depth+1) }

func (f *formulaReader) next() {
	switch c := f.s[f.at]; c {
	case '\\':
		f.at++
		f.command()
	case '^':
		f.at++
		f.out.WriteString(script.Super(f.part()))
	case '_':
		f.at++
		f.out.WriteString(script.Sub(f.part()))
	case '{':
		if end := f.closing('{', '}'); end >= 0 {
			f.out.WriteString(f.part())
		} else {
			f.at++
		}
	case '}', '$':
		f.at++
	case '&':
		f.at++
		f.out.WriteByte(' ')
	case '~':
		f.at++
		f.out.WriteByte(' ')
	default:
		f.out.WriteByte(c)
		f.at++
	}
}

func (f *formulaReader) command() {
	name := f.scanner.command()
	if symbol, ok := symbols[name]; ok {
		f.out.WriteString(symbol)
		return
	}
	switch name {
	case "frac", "dfrac", "tfrac", "cfrac", "sfrac", "nicefrac":
		f.out.WriteString(group(f.part()) + "/" + group(f.part()))
	case "binom", "tbinom", "dbinom":
		f.out.WriteString("(" + f.part() + " choose " + f.part() + ")")
	case "sqrt":
		root, _ := f.option()
		f.out.WriteString(script.Super(formula(root, f.depth+1)) + "√(" + f.part() + ")")
	case "begin":
		if f.argument() == "array" {
			f.argument()
		}
		f.out.WriteString("[")
	case "end":
		f.argument()
		f.out.WriteString("]")
	case `\`:
		f.out.WriteString("; ")
	case "label", "tag", "hspace", "vspace", "phantom", "nonumber", "notag", "displaystyle", "textstyle", "limits", "nolimits", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "middle":
		if name == "label" || name == "tag" || strings.HasSuffix(name, "space") || name == "phantom" {
			f.argument()
		}
	case "left", "right":
		if strings.HasPrefix(f.rest(), ".") {
			f.at++
		}
	case "text", "mathrm", "textrm", "mbox", "operatorname", "textbf", "textit", "mathbf", "mathit", "mathsf", "mathtt", "mathcal", "mathbb", "mathfrak", "boldsymbol", "bm", "overline", "underline", "hat", "vec", "bar", "tilde", "dot", "ddot":
		f.styled(name)
	case ",", ";", ":", " ", "quad", "qquad", "!":
		if name != "!" {
			f.out.WriteByte(' ')
		}
	case "{", "}", "%", "$", "#", "_", "&", "|":
		f.out.WriteString(name)
	case "over":
		below := formula(f.rest(), f.depth+1)
		above := group(strings.TrimSpace(f.out.String()))
		f.at = len(f.s)
		f.out.Reset()
		f.out.WriteString(above + "/" + group(below))
	default: // sin, lim, and commands that are not known: their names are all that is known
		if text, ok := quantity(&f.scanner, name); ok {
			name = text
		}
		f.word(name)
	}
}

// word writes a name that must not grow together with the letters around it.
func (f *formulaReader) word(name string) {
	if last, _ := utf8.DecodeLastRuneInString(f.out.String()); unicode.IsLetter(last) || unicode.IsDigit(last) {
		f.out.WriteByte(' ')
	}
	f.out.WriteString(name)
	if next, _ := utf8.DecodeRuneInString(f.rest()); unicode.IsLetter(next) || unicode.IsDigit(next) || next == '\\' {
		f.out.WriteByte(' ')
	}
}

// marks are the accents of formulas.
var marks = map[string]string{"overline": "\u0305", "bar": "\u0304", "hat": "\u0302", "vec": "\u20d7", "tilde": "\u0303", "dot": "\u0307", "ddot": "\u0308"}

// styled reads an argument that has another look. Text keeps its spaces.
func (f *formulaReader) styled(name string) {
	switch argument := f.argument(); {
	case strings.HasPrefix(name, "text"), name == "mbox":
		f.out.WriteString(strings.ReplaceAll(argument, "$", ""))
	case name == "operatorname":
		f.word(formula(argument, f.depth+1))
	default:
		part := formula(argument, f.depth+1)
		if len([]rune(part)) == 1 {
			part += marks[name]
		}
		f.out.WriteString(part)
	}
}

// group puts an expression of several characters into brackets, unless it is a number.
func group(s string) string {
	if strings.Trim(s, "0123456789.,") == "" || len([]rune(s)) <= 1 {
		return s
	}
	return "(" + s + ")"
}
