package latex_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/latex"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestRead(t *testing.T) {
	t.Parallel()
	extracttest.EachSample(t, func(t *testing.T, files map[string]string) {
		if diff := cmp.Diff(files["blocks"], extracttest.Shown(latex.Read(files["source"]))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFormula(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`\frac{a+b}{c}`:                       "(a+b)/c",
		`\frac{1}{2} m v^2`:                   "1/2 m v²",
		`x_{i+1}^{10}`:                        "xᵢ₊₁¹⁰",
		`\sqrt{y}`:                            "√(y)",
		`\sqrt[3]{x}`:                         "³√(x)",
		`\sum_{i=1}^{n} \alpha_i \leq \infty`: "∑ᵢ₌₁ⁿ αᵢ ≤ ∞",
		`e^{-\lambda t}`:                      "e^(-λ t)",
		`\left( \frac{p}{q} \right)`:          "( p/q )",
		`\sin x + \log_2 n`:                   "sin x + log₂ n",
		`\text{if } x > 0`:                    "if x > 0",
		`\begin{pmatrix} a & b \\ c & d \end{pmatrix}`: "[ a b ; c d ]",
		`\mathbb{R}, \vec{v}`:                          "R, v\u20d7",
		`\unknown{x} + 1`:                              "unknownx + 1",
		`{`:                                            "", `^`: "", `\frac{1}`: "1/", `\`: "", `}$&`: "",
	} {
		if got := latex.Formula(source); got != want {
			t.Errorf("%s = %q, want %q", source, got, want)
		}
	}
}

func TestBrokenText(t *testing.T) {
	t.Parallel()
	const head = "title: , author: , includes: 0\n"
	for _, tc := range []struct{ behaviour, source, want string }{
		{"nothing", "", head},
		{"only a preamble", `\documentclass{article}\begin{document}\end{document}`, head},
		{"a piece without a preamble", "\\section{A}\nText % comment\nmore", head + "heading 2: A\nparagraph: Text more\n"},
		{"no end of the document", "\\begin{document}\nText", head + "paragraph: Text\n"},
		{"a listing without an end", "\\begin{verbatim}\nx % y", head + "code: x % y\n"},
		{"a list without an end", "\\begin{itemize}\n\\item a", head + "list: - a\n"},
		{"an item without a list", "\\item a", head + "list: - a\n"},
		{"a table without an end", "\\begin{tabular}{ll} a & b \\\\ 1 & 2", head + "table: | a | b |\n    | --- | --- |\n    | 1 | 2 |\n"},
		{"a dollar alone", "It costs 5 $ or\n\nless", head + "paragraph: It costs 5 $ or\nparagraph: less\n"},
		{"braces without partners", "a } b { c \\textbf{d", head + "paragraph: a b c d\n"},
		{"a percent sign", "50 \\% of \\url{http://x.example/a%20b} and \\verb|%|", head + "paragraph: 50 % of http://x.example/a%20b and %\n"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, extracttest.Shown(latex.Read(tc.source))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLongTextsEnd reads texts whose parts are nested or multiply, in the time of a test.
func TestLongTextsEnd(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		strings.Repeat(`\footnote{`, 100_000), strings.Repeat("{", 500_000), strings.Repeat("$", 500_001), strings.Repeat(`\frac{`, 50_000), "$" + strings.Repeat(`\sqrt{`, 50_000) + "$",
		strings.Repeat(`\begin{itemize}\item a `, 50_000), `\begin{tabular}{l}` + strings.Repeat(`\multicolumn{999999}{l}{a} \\ `, 5_000), strings.Repeat("[", 200_000), strings.Repeat(`\item[`, 50_000),
		strings.Repeat(`\begin{verbatim}`, 50_000),
	} {
		total := 0
		for _, b := range latex.Read(source).Blocks {
			total += len(b.Text)
		}
		if total > 50<<20 {
			t.Errorf("%.20q… of %d bytes becomes %d", source, len(source), total)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`\documentclass{a}\title{T}\begin{document}\maketitle\section{A}x $\frac{1}{2}$`, `\begin{itemize}\item a\begin{verbatim}x\end{verbatim}\end{itemize}`, `\begin{tabular}{l}\multicolumn{2}{l}{a} & b \\ \hline\end{tabular}`, `\'e \"{o} \verb|x| \[x^2\]`, `\footnote{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, b := range latex.Read(source).Blocks {
			if strings.TrimSpace(b.Text) == "" && len(b.Cells) == 0 || b.Kind == knowledge.BlockHeading && (b.Level < 1 || b.Level > 6) {
				t.Errorf("block %+v", b)
			}
		}
	})
}
