package forget

import (
	"strings"
	"testing"
)

func TestCutCited(t *testing.T) {
	t.Parallel()
	const mine, other, web = ` <citation id="mine">[1]</citation>`, ` <citation id="other">[2]</citation>`, ` <web_citation url="https://example.com" title="x">[3]</web_citation>`
	for name, c := range map[string]struct{ answer, want string }{
		"nothing is cited":                    {"Yes, it is so.", "Yes, it is so."},
		"another document is cited":           {"Ropes are changed" + other + ". Good luck.", "Ropes are changed" + other + ". Good luck."},
		"a sentence":                          {"The pier is old" + mine + ".", "[…]"},
		"between others":                      {"A" + other + ". B" + mine + ". C" + web + ".", "A" + other + ". […] C" + web + "."},
		"two citations of one sentence":       {"A" + other + mine + ". C" + other + ".", "[…] C" + other + "."},
		"what stands behind the last":         {"A" + mine + ". In June too.", "[…]"},
		"items of a list":                     {"Two:\n\n- A" + other + "\n- B" + mine, "Two:\n\n- A" + other + "\n[…]"},
		"cut before":                          {"A" + other + ". […]", "A" + other + ". […]"},
		"the citation of a web page is kept":  {"A" + web + ".", "A" + web + "."},
		"a tag that is none of ours is words": {"A <b>c</b> d" + mine, "[…]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, cut := cutCited(c.answer, map[string]bool{"mine": true})
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if (len(cut) > 0) != (got != c.answer) {
				t.Errorf("the parts %q are cut of %q", cut, c.answer)
			}
			if again, cut := cutCited(got, map[string]bool{"mine": true}); again != got || len(cut) > 0 {
				t.Errorf("the second time %q becomes %q", got, again)
			}
		})
	}
}

func TestPhrases(t *testing.T) {
	t.Parallel()
	p := phrases{}
	p.add("The Pier of stone was laid by hand in May.")
	p.add("Ja, gewiss.")
	p.add("码头的石头是五月手工铺设的")
	for text, want := range map[string]string{
		"As I said: the pier of stone was laid by hand in May!":            "As I said: […]!",
		"the PIER of stone was laid":                                       "[…]",
		"the pier of stone was not laid by hand in May":                    "the pier of stone was not laid by hand in May",
		"the pier of stone":                                                "the pier of stone",
		`the pier <citation id="x">[1]</citation> of stone was laid twice`: "[…] twice",
		"ja gewiss":                 "[…]",
		"ja, gewiss, und noch mehr": "ja, gewiss, und noch mehr",
		"他说码头的石头是五月铺的":              "他说[…]铺的",
		"":                          "",
	} {
		got, cut := p.cut(text)
		if got != want || cut != (got != text) {
			t.Errorf("%q becomes %q (%v), want %q", text, got, cut, want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("The pier of stone was laid by hand in May.", `The pier <citation id="mine">[1]</citation> and more`)
	f.Fuzz(func(t *testing.T, words, answer string) {
		p := phrases{}
		p.add(words)
		got, _ := p.cut(answer)
		for part := range strings.SplitSeq(got, Mark) {
			if again, cut := p.cut(part); cut && len(wordsOf(part)) >= phraseWords {
				t.Errorf("%q still has phrases: %q", part, again)
			}
		}
		cutCited(answer, map[string]bool{"mine": true})
	})
}
