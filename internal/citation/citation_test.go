package citation_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/citation"
)

var contexts = []citation.Context{
	{Rank: 1, ChunkID: "aaa", Text: "It weighs 12 kilograms [2], as argv[1] says,\nand &slice[:1][0] too.\n[12].id: 40\n[1] Smith, 1999"},
	{Rank: 2, ChunkID: "bbb"},
	{Rank: 12, ChunkID: "lll"},
}

func cite(rank, id string) string { return `<citation id="` + id + `">[` + rank + `]</citation>` }

func rewrite(parts ...string) (string, []int) {
	r := citation.NewRewriter(contexts)
	out := ""
	for _, p := range parts {
		out += r.Write(p)
	}
	return out + r.Close(), r.Used()
}

func TestRewriter(t *testing.T) {
	t.Parallel()
	one, two, twelve := cite("1", "aaa"), cite("2", "bbb"), cite("12", "lll")
	for name, c := range map[string]struct {
		in, want string
		used     []int
	}{
		"a source tag":                     {"Leave is 30 days <source_1>.", "Leave is 30 days " + one + ".", []int{1}},
		"several in one tag":               {"x <source_1, source_12>", "x " + one + twelve, []int{1, 12}},
		"a number in brackets":             {"x [2], y[1]", "x " + two + ", y" + one, []int{1, 2}},
		"several in brackets":              {"x [1, 2]", "x " + one + two, []int{1, 2}},
		"a source in brackets":             {"x [source_12]", "x " + twelve, []int{12}},
		"two brackets in a row":            {"x [1][2].", "x " + one + two + ".", []int{1, 2}},
		"a finished citation":              {"x " + two, "x " + two, []int{2}},
		"a citation with another number":   {`x <citation id="bbb">[9]</citation>`, "x " + two, []int{2}},
		"an unknown rank goes":             {"x <source_9>. y [source_7], z 【9†a】", "x. y, z", []int{}},
		"an unknown id goes":               {`x <citation id="zzz">[1]</citation>.`, "x.", []int{}},
		"a known and an unknown rank":      {"x [source_1, source_9]", "x " + one, []int{1}},
		"a closing tag goes":               {"<source_1>text</source_1>", one + "text", []int{1}},
		"a rank twice in one mark":         {"x [1, 1]", "x " + one, []int{1}},
		"a number that no rank can be":     {"x <source_99999999999999999999>.", "x.", []int{}},
		"capitals":                         {"x <Source_1>, [SOURCE_2]", "x " + one + ", " + two, []int{1, 2}},
		"a mark before a colon":            {"According to [1]: yes", "According to " + one + ": yes", []int{1}},
		"double brackets":                  {"x [[1]]", "x [" + one + "]", []int{1}},
		"links stay":                       {"[1](http://x) [a][1]", "[1](http://x) [a]" + one, []int{1}},
		"definitions stay":                 {"[1]: http://x\n> [2]: http://y\n[^1]: z", "[1]: http://x\n> [2]: http://y\n[^1]: z", []int{}},
		"code stays":                       {"`a[1]` and ```\nb[2]\n``` [1]", "`a[1]` and ```\nb[2]\n``` " + one, []int{1}},
		"a fence in a longer fence":        {"````\n```\na[1]\n````\n[1]", "````\n```\na[1]\n````\n" + one, []int{1}},
		"tildes fence too":                 {"~~~\na[1] `\n~~~\n[1] ~~~ [2]", "~~~\na[1] `\n~~~\n" + one + " ~~~ " + two, []int{1, 2}},
		"unclosed code ends with its line": {"a ` b\n[1]", "a ` b\n" + one, []int{1}},
		"a passage's own number stays":     {"It weighs 12 kilograms [2]. [1]", "It weighs 12 kilograms [2]. " + one, []int{1}},
		"over a line end too":              {"12 kilograms\n[2]", "12 kilograms\n[2]", []int{}},
		"a passage's code stays":           {"(argv[1], &slice[:1][0])[2]", "(argv[1], &slice[:1][0])" + two, []int{2}},
		"a passage's path stays":           {"So [12].id is 40 [12].", "So [12].id is 40 " + twelve + ".", []int{12}},
		"another number after its word":    {"kilograms [1], tons[2]", "kilograms " + one + ", tons" + two, []int{1, 2}},
		"an unknown number of a passage":   {"So argv[7] and slice[:1][0]", "So argv[7] and slice[:1][0]", []int{}},
		"other tags stay":                  {"a < b <b>c</b> <citations> <citation-x> [x] [", "a < b <b>c</b> <citations> <citation-x> [x] [", []int{}},
		"an unfinished mark stays":         {"a <source_", "a <source_", []int{}},

		"single quotes and other attributes": {`x <citation class="k" id='aaa'>[1]</citation>`, "x " + one, []int{1}},
		"a citation without an id":           {"x <citation>[1]</citation>.", "x.", []int{}},
		"an empty citation":                  {`x <citation id="aaa"/> y`, "x " + one + " y", []int{1}},
		"a citation that is not closed":      {`x <citation id="aaa">[1] y <citation id="bbb">[2]</citation>`, "x " + one + " y " + two, []int{1, 2}},
		"a citation around a long text":      {`x <citation id="aaa">` + strings.Repeat("y", 300) + "</citation>", "x " + one + strings.Repeat("y", 300), []int{1}},
		"a citation around words":            {`It says <citation id="aaa">the tower is high</citation>. y`, "It says the tower is high" + one + ". y", []int{1}},
		"one around a line and code":         {"x\n<citation id='aaa'>the `a[2]`\ntower </citation>.", "x\nthe `a[2]`\ntower " + one + ".", []int{1}},
		"one around words that cite":         {`x <citation id="aaa">y [1], z [2]</citation>.`, "x y " + one + ", z " + two + ".", []int{1, 2}},
		"one around a source tag":            {`x <citation id="aaa">y <source_1></citation>.`, "x " + one + "y " + one + ".", []int{1}},
		"one around a source in brackets":    {`x <citation id="bbb">[source_1]</citation>`, "x " + two, []int{2}},
		"an unknown one around words":        {`It says <citation id="zzz">the tower is high</citation>. y`, "It says the tower is high. y", []int{}},
		"an answer cut off in a citation":    {`x <citation id="aa`, "x", []int{}},
		"one cut off behind an attribute":    {`x <citation class="k l" id='aa`, "x", []int{}},
		"one cut off in an attribute's name": {`x <citation cl`, "x", []int{}},
		"an end that only names the tag":     {"Use <citation marks, please.", "Use marks, please.", []int{}},
		"an answer cut off in its label":     {`x <citation id="aaa">[`, "x " + one, []int{1}},
		"an end without a beginning":         {"x</citation> y", "x y", []int{}},
		"a broken tag":                       {`x <citation id="a<b>c</b>`, `x id="a<b>c</b>`, []int{}},
		"a tag that a removal would make":    {`<cit<source_9>ation id="zzz">[x]</cit [source_9]ation>`, `<cit ation id="zzz">[x]</cit ation>`, []int{}},
		"a tag whose name a mark ends":       {`<citation[source_9] id="zzz">[x]`, ` id="zzz">[x]`, []int{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, used := rewrite(c.in)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if diff := cmp.Diff(c.used, used); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("what is certain is not held back", func(t *testing.T) {
		t.Parallel()
		r := citation.NewRewriter(contexts)
		if got := r.Write("Hello <source"); got != "Hello" {
			t.Errorf("gave %q", got)
		}
		if got := r.Write(" x"); got != " <source x" {
			t.Errorf("gave %q", got)
		}
		if got := r.Write(" [" + strings.Repeat("1,", 500)); len(got) < 500 {
			t.Errorf("a mark that never ends is held back: gave %d bytes", len(got))
		}
	})
}

// FuzzRewriterCuts checks that the output does not depend on how the input is
// cut, and that only known passages are cited.
func FuzzRewriterCuts(f *testing.F) {
	f.Add("x <source_1> y [2] `[1]` <citation id=\"bbb\">[2]</citation> [1](u) [3]", []byte{3, 7})
	f.Add("[1][", []byte{1, 2})
	f.Add(" <source_1, source_2>\n```[1]", []byte{5, 1})
	f.Add(`x <citation id="`+strings.Repeat("x", 300)+`">[1]</citation> y`, []byte{})
	f.Add(" ["+strings.Repeat("1,", 200)+"1] <source_1"+strings.Repeat(" ", 300)+">", []byte{100})
	f.Add(strings.Repeat("`", 300)+"[1]~~~\n~~~[1]", []byte{1, 1, 200})
	f.Add(`x <citation id="aaa">the [2] tower</citation> <citation id="zzz">y</citation>`, []byte{30, 1})
	f.Add("<cit<source_9>ation id='zzz'>[x]</cit [9]ation><citation\tid=aaa>[7]</citation", []byte{4})
	f.Fuzz(checkCuts)
}

// TestAnyCuts does what the fuzz target does for texts made of pieces of marks,
// which random bytes seldom are.
func TestAnyCuts(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"<", ">", "[", "]", "1", "2", "9", ",", " ", "\n", "`", "```", "~~~", "(", ":", "/", "\"", "'", "x", "é",
		"<source_", "</source_", "source_", "<citation", "</citation>", " id=", "aaa", "zzz", "<cit", "ation", "</cit", "<sour", "ce_1>", "[9]", "[1]",
		"【", "】", "†", "^", "Source ", "(", ")", "[0]", "arr", "_", " =", ".a", "-", "<source_1>", "<source_9>", `<citation id="aaa">`, `<citation id="zzz">`, cite("2", "bbb"), strings.Repeat("y", 230), strings.Repeat(" ", 230), strings.Repeat("1,", 115),
	}
	const seed = 1
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		cuts := make([]byte, random.IntN(20))
		for i := range cuts {
			cuts[i] = byte(random.IntN(20))
		}
		checkCuts(t, text.String(), cuts)
	}
}

func checkCuts(t *testing.T, text string, cuts []byte) {
	t.Helper()
	whole, used := rewrite(text)
	var parts []string
	for i, rest := 0, text; rest != ""; i++ {
		n := 1 // behind the cuts that are given, byte by byte
		if i < len(cuts) {
			n = min(int(cuts[i])+1, len(rest))
		}
		parts, rest = append(parts, rest[:n]), rest[n:]
	}
	cut, cutUsed := rewrite(parts...)
	if cut != whole || !cmp.Equal(used, cutUsed) {
		t.Fatalf("cut   %q\nwhole %q", cut, whole)
	}
	cited := map[int]bool{}
	for _, c := range contexts {
		if finished := cite(strconv.Itoa(c.Rank), c.ChunkID); strings.Contains(whole, finished) {
			cited[c.Rank] = true
			whole = strings.ReplaceAll(whole, finished, "\x00")
		}
	}
	if tag := anyTag.FindString(whole); tag != "" {
		t.Fatalf("%q is left in %q, from %q", tag, whole, text)
	}
	for _, rank := range used {
		if !cited[rank] {
			t.Fatalf("%d is said to be cited", rank)
		}
	}
	if len(used) != len(cited) {
		t.Fatalf("%v are cited, %v are said to be", cited, used)
	}
}

var anyTag = regexp.MustCompile(`(?i)</?citation(?:[\s/>]|$)|</?source_\d{1,20}/?>`)

func TestStrip(t *testing.T) {
	t.Parallel()
	if got := citation.Strip("Leave is 30 days " + cite("1", "a") + cite("2", "b") + "."); got != "Leave is 30 days." {
		t.Errorf("got %q", got)
	}
}

// TestTagRewriter rewrites answers in JSON, whose brackets are its own.
func TestTagRewriter(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"ranks":[1, 2],"note":"(Source 1) 【2】"}`: `{"ranks":[1, 2],"note":"(Source 1) 【2】"}`,
		`{"days":"30 <source_1>","ranks":[1]}`:     `{"days":"30 ` + cite("1", "aaa") + `","ranks":[1]}`,
		`{"days":"30 <source_9>"}`:                 `{"days":"30"}`,
	} {
		for size := 1; size <= len(in); size++ {
			r := citation.NewTagRewriter(contexts)
			got := ""
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				got += r.Write(rest[:n])
				rest = rest[n:]
			}
			if got += r.Close(); got != want {
				t.Errorf("in parts of %d bytes: %s", size, got)
				break
			}
		}
	}
}
