package latex_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/latex"
)

// texts returns the texts of the blocks of a text.
func texts(source string) []string {
	var out []string
	for _, b := range latex.Read(source).Blocks {
		out = append(out, b.Text)
	}
	return out
}

func TestMacrosOfTheText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ behaviour, source, want string }{
		{"a name", `\newcommand{\pump}{HX4}\begin{document}The \pump{} lifts \pump.\end{document}`, "The HX4 lifts HX4."},
		{"a name in the text", `\newcommand\pump{HX4}The \pump\ lifts`, "The HX4 lifts"},
		{"a name that keeps its spaces", `\newcommand{\pump}{HX4\xspace}The \pump lifts \pump.`, "The HX4 lifts HX4."},
		{"a name by def", `\def\pump{HX4}The \pump.`, "The HX4."},
		{"parameters", `\newcommand{\price}[2]{#1 costs \textbf{#2} euros}\price{HX4}{400}.`, "HX4 costs 400 euros."},
		{"parameters by def", `\def\price#1#2{#1 costs #2}\price{HX4}{400}.`, "HX4 costs 400."},
		{"parameters of a newer command", `\NewDocumentCommand{\price}{m m}{#1 costs #2}\price{HX4}{400}.`, "HX4 costs 400."},
		{"an optional parameter", `\newcommand{\by}[2][Ann]{#2 by #1}\by{Text}, \by[Bob]{Note}.`, "Text by Ann, Note by Bob."},
		{"macros in macros", `\newcommand{\a}{A}\newcommand{\bb}{\a B}\bb.`, "AB."},
		{"formulas", `\newcommand{\norm}[1]{\lVert #1 \rVert}\newcommand{\ga}{\alpha}$\norm{x} + \ga b$.`, "‖ x ‖ + α b."},
		{"an operator", `\DeclareMathOperator{\sgn}{sgn}$\sgn x$.`, "sgn x."},
		{"a title", "\\newcommand{\\pump}{HX4}\\title{The \\pump}\\begin{document}\\maketitle\\end{document}", "The HX4"},
		{"a command with another look", `\renewcommand{\textbf}[1]{}\renewcommand{\emph}[1]{\textcolor{red}{#1}}a \textbf{b} \emph{c}.`, "a c."},
		{"a heading with another look", `\renewcommand{\section}{\@startsection}\section{Pumps}`, "Pumps"},
		{"a macro that is only mentioned", `\newcommand{\pump}{HX4}\verb|\pump|.`, `\pump.`},
		{"a macro that means itself", `\newcommand{\x}{a\x}\x.`, strings.Repeat("a", 20) + "."},
		{"text that is switched off", `a\iffalse b \ifx c\fi d\fi{} e`, "a e"},
		{"text in place of one that is switched off", `a \iffalse b\else c\fi`, "a c"},
		{"a definition that is cut off", `text \newcommand{\x`, "text"},
		{"a parameter that is not there", `\newcommand{\x}[1]{a#2b}\x{c}.`, "a2b."},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, strings.Join(texts(tc.source), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMacrosThatMultiplyEnd(t *testing.T) {
	t.Parallel()
	bomb := `\newcommand{\a}[1]{#1#1#1#1#1#1#1#1#1#1}`
	for _, source := range []string{
		bomb + strings.Repeat(`\a{`, 20) + "x" + strings.Repeat("}", 20),
		`\newcommand{\x}{\x\x\x\x}\x`, `\newcommand{\x}{` + strings.Repeat("x", 10_000) + `}` + strings.Repeat(`\x{}`, 50_000), strings.Repeat(`\iffalse`, 100_000), strings.Repeat(`\def`, 100_000), strings.Repeat(`\newcommand{`, 50_000),
	} {
		total := 0
		for _, text := range texts(source) {
			total += len(text)
		}
		if total > 20<<20 {
			t.Errorf("%.30q… of %d bytes becomes %d", source, len(source), total)
		}
	}
}
