package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// differencesInPage has the page compare texts that it makes, and returns those whose parts
// do not make the texts again.
const differencesInPage = `import("/console/text_difference.js").then(({changesOf}) => {
	const wrong = [];
	const some = (n) => Math.floor(Math.random() * n);
	const text = () => Array.from({length: some(12)}, () => Array.from({length: some(5)}, () => "w" + some(4)).join(" ")).join("\n");
	const bare = (text) => text.replace(/\s/g, "");
	for (let i = 0; i < 500; i++) {
		const [a, b] = [text(), text()];
		const changes = changesOf(a, b);
		const side = (one, not) => one.parts.filter((p) => p.kind !== not).map((p) => p.items.join("")).join("");
		const right = changes.every((one) => a.includes(side(one, "added")) && b.includes(side(one, "removed"))) && (changes.length > 0 || bare(a) === bare(b));
		if (!right) wrong.push(JSON.stringify([a, b]));
	}
	return wrong;
})`

// TestConsoleComparesVersions shows the words that were changed between two versions, in pages
// when there are many.
func TestConsoleComparesVersions(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	long := func(word string) string {
		var text strings.Builder
		for i := range 400 {
			fmt.Fprintf(&text, "Pier %d has a %s that ships know well.\n\nLine %d stays.\n\n", i, word, i)
		}
		return text.String()
	}
	s.publish(t, "lights", "# Piers\n\nThe northern pier has a lighthouse.\n\nThe southern pier has a foghorn.")
	id := s.publish(t, "lights", "# Piers\n\nThe northern pier has a <img src=x onerror=ran=1> lamp.\n\nThe southern pier has a foghorn.\n\nThe eastern pier is new.").ID
	s.signInto(t, page)
	if wrong := evaluate[[]string](t, page, differencesInPage); len(wrong) > 0 {
		t.Errorf("wrong differences of %s", wrong)
	}
	open(t, page, s.ends.API+"/documents/"+id)
	press(t, page, "Compare")
	const words = `((tag) => [...document.querySelectorAll(".changes " + tag)].map(e => e.textContent.trim()).join("|"))`
	awaitPage(t, page, words+`("del") === "lighthouse" && `+words+`("ins") === "<img src=x onerror=ran=1> lamp|The eastern pier is new."`)
	const looks = `[getComputedStyle(document.querySelector(".changes del")).textDecorationLine, getComputedStyle(document.querySelector(".changes ins")).textDecorationLine].join()`
	if got := evaluate[string](t, page, looks); got != "line-through,underline" {
		t.Errorf("without colour the changes look like %s", got)
	}
	isText(t, page, `<img src=x onerror=ran=1>`)
	wantLooks(t, page)

	s.publish(t, "lights", long("lamp"))
	s.publish(t, "lights", long("foghorn"))
	open(t, page, s.ends.API+"/documents/"+id)
	press(t, page, "Compare")
	const shown = `[...document.querySelectorAll("section")].find(s => s.ariaLabel === "Compare versions").textContent`
	awaitPage(t, page, shown+`.includes("400 places were changed") && `+shown+`.includes("page 1 of ") && document.querySelectorAll(".changes li").length < 400`)
	first := evaluate[string](t, page, `document.querySelector(".changes").textContent`)
	click(t, page, `[...document.querySelectorAll('section[aria-label="Compare versions"] button')].find(b => b.ariaLabel === "Next page")`)
	awaitPage(t, page, shown+`.includes("page 2 of ") && `+words+`("ins").startsWith("foghorn")`)
	if evaluate[string](t, page, `document.querySelector(".changes").textContent`) == first {
		t.Error("the second page shows the first")
	}

	if status := s.call(t, "POST", "/workspaces/default/documents/"+id+"/reingest", nil, nil); status != 202 {
		t.Fatalf("reingest: status %d", status)
	}
	open(t, page, s.ends.API+"/documents/"+id)
	awaitPage(t, page, `document.querySelectorAll("select[aria-label='Later version'] option").length === 5`)
	press(t, page, "Compare")
	awaitPage(t, page, shown+`.includes("Both have the same text.")`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
