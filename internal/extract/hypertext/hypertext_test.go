package hypertext_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/hypertext"
	"golang.org/x/net/html"
)

func parse(t *testing.T, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	hypertext.WriteScripts(root)
	return root
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"10<sup>6</sup> at 10<sup>-6</sup> bar": "10⁶ at 10⁻⁶ bar",
		"3 m<span style='vertical-align: super'>2</span>, 10<font style='font-size:70%;vertical-align:super'>-6</font>, H<span style='Vertical-Align:SUB'>2</span>O": "3 m², 10⁻⁶, H₂O",
		"<span style='vertical-align: baseline'>2</span> <span style='color: red'>4</span> <span style='vertical-align: middle'>6</span>":                            "2 4 6",
		"3 m<sup>2</sup>, H<sub>2</sub>SO<sub>4</sub>":                                      "3 m², H₂SO₄",
		"note<sup><a href='#n1'>1</a></sup> next":                                           "note¹ next",
		"note<sup class=reference><a href=#n>[12]</a></sup>":                                "note[12]",
		"x<sup>a,b</sup> and y<sub>in,out</sub>":                                            "x^(a,b) and y_(in,out)",
		"e<sup>x<sup>2</sup></sup>":                                                         "eˣ²",
		"<sup>" + strings.Repeat("long ", 20) + "</sup>":                                    strings.TrimSpace(strings.Repeat("long ", 20)),
		"<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac></math>": "(a+b)/c",
		"<math><msup><mi>x</mi><mn>2</mn></msup><mo>=</mo><msqrt><mi>y</mi></msqrt></math>": "x^2=√(y)",
		"<math><msubsup><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></msubsup><msub><mi>x</mi><mi>i</mi></msub></math>":                                                                      "∑_(i=1)^n x_i",
		"<math><munderover><mo>∑</mo><mi>i</mi><mn>10</mn></munderover><mi>i</mi></math>":                                                                                                                       "∑_i^10 i",
		"<math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><mo>&InvisibleTimes;</mo><msup><mi>c</mi><mn>2</mn></msup></mrow><annotation encoding='application/x-tex'>E=mc^2</annotation></semantics></math>": "E=mc^2",
		"<math><msup><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></msup><mroot><mi>x</mi><mn>3</mn></mroot></math>":                                                                                    "(a+b)^23√(x)",
		"<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable></math>":                                                              "[1, 2; 3, 4]",
	} {
		if got := strings.Join(strings.Fields(hypertext.Text(parse(t, page))), " "); got != want {
			t.Errorf("%s is %q, want %q", page, got, want)
		}
	}
}
