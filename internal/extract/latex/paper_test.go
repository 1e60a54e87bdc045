package latex_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/latex"
)

func TestQuantities(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`\SI{5}{\kilo\gram}`:                              "5 kg",
		`\qty{9.81}{\metre\per\second\squared}`:           "9.81 m/s²",
		`\SI{4}{\newton\metre}`:                           "4 N·m",
		`\qty{2}{kg.m^2.s^{-1}}`:                          "2 kg·m²·s⁻¹",
		`\SI[per-mode=symbol]{3}{\watt\per\square\metre}`: "3 W/m²",
		`\si{\micro\ohm}`:                                 "µΩ",
		`\unit{\kg\per\cubic\m}`:                          "kg/m³",
		`\SI{20}{\degreeCelsius}`:                         "20 °C",
		`\SI{7}{\percent}`:                                "7 %",
		`\SIrange{1}{2}{\milli\metre}`:                    "1–2 mm",
		`\qtylist{1;2;3}{\volt}`:                          "1, 2, 3 V",
		`\num{1.5 +- 0.2}`:                                "1.5 ± 0.2",
		`\ang{30;15;}`:                                    "30°15′",
		`$p = \SI{3}{\bar}$`:                              "p = 3 bar",
		`$x = \qty{3}{\furlong}$`:                         "x = 3 furlong",
		`\SI{5`:                                           "5",
	} {
		if got := strings.Join(texts(source+"\n\n"), "|"); got != want {
			t.Errorf("%s = %q, want %q", source, got, want)
		}
	}
}

func TestPartsOfPapers(t *testing.T) {
	t.Parallel()
	const head = "title: , author: , includes: 0\n"
	for _, tc := range []struct{ behaviour, source, want string }{
		{"references", `\begin{thebibliography}{9}\bibitem{k} Ann, \emph{Title}.\bibitem[L]{m} Bob\end{thebibliography}`, "list: - [k] Ann, Title.\n    - [m] Bob\n"},
		{"slides", "\\begin{frame}[fragile]{The \\emph{pump}}\n\\framesubtitle{Parts}\\begin{block}{Valve}Open\\end{block}\\end{frame}\\begin{frame}x\\only<2->{y}\n\\begin{itemize}\\item<1-> a\\end{itemize}\\end{frame}", "heading 2: The pump\nparagraph: Parts\nparagraph: Valve\nparagraph: Open\nparagraph: xy\nlist: - a\n"},
		{"a listing with a caption", "\\begin{lstlisting}[language=Go, caption={A \\emph{loop}}, label=x]\nfor {}\n\\end{lstlisting}", "paragraph: A loop\ncode: for {}\n"},
		{"a listing of another kind", "\\begin{minted}[linenos]{go}\nx := 1\n\\end{minted}and \\mintinline{go}{y := 2} \\lstinline!z!", "code: x := 1\nparagraph: and y := 2 z\n"},
		{"rows that end by name", `\begin{tabular}{l}A & B \tabularnewline\hline C & D \\ \rowcolor{gray} E & F \end{tabular}`, "table: | A | B |\n    | --- | --- |\n    | C | D |\n    | E | F |\n"},
		{"a table in a cell", `\begin{tabular}{ll}a & \begin{tabular}{l}b\\c\end{tabular} \\ d & \shortstack{e\\f} \end{tabular}`, "table: | a | b c |\n    | --- | --- |\n    | d | e f |\n"},
		{"marks in code in a cell", `\begin{tabular}{ll}\verb|a&b| & \url{x&y} \\ 1 & 2 \end{tabular}`, "table: | a&b | x&y |\n    | --- | --- |\n    | 1 | 2 |\n"},
		{"cells of several rows", `\begin{tabular}{lll}Pump & Size & Price \\ \multirow{2}{*}{HX4} & S & 400 \\ & M & 500 \\ \multirow[t]{2}{3cm}{\textbf{HX5}} & S & 1 \\ HX6 & M & 2\end{tabular}`, "table: | Pump | Size | Price |\n    | --- | --- | --- |\n    | HX4 | S | 400 |\n    | HX4 | M | 500 |\n    | HX5 | S | 1 |\n    | HX6 | M | 2 |\n"},
		{"a table in a list", `\begin{enumerate}\item a \begin{tabular}{ll}b & c\\d & e\end{tabular}\item f\end{enumerate}`, "list: 1. a\ntable: | b | c |\n    | --- | --- |\n    | d | e |\nlist: 2. f\n"},
		{"formulas in formulas", `\begin{equation*}a \begin{equation*}b\end{equation*} c\end{equation*} d`, "paragraph: a [b] c\nparagraph: d\n"},
		{"fractions of an older kind", `${a + b \over c}$ and $x\cos y$ and $\sin\theta$`, "paragraph: (a + b)/c and x cos y and sin θ\n"},
		{"accents", `na\"\i ve, \^{}, \~{}, \^a, \c c, \={o}`, "paragraph: naïve, ^, ~, â, ç, ō\n"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(head+tc.want, extracttest.Shown(latex.Read(tc.source))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
