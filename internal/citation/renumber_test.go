package citation_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/citation"
)

func TestRenumber(t *testing.T) {
	t.Parallel()
	ranks := map[string]int{"aaa": 7, "https://a.test/?b&c": 8}
	text := `A ` + cite("1", "aaa") + ` b` + cite("2", "bbb") + ` <web_citation url="https://a.test/?b&amp;c" title="T">[3]</web_citation>, [1] <web_citation url="https://evil.test/" title="">[4]</web_citation>.`
	want := `A <source_7> b <source_8>, [1] .`
	if got := citation.Renumber(text, func(id string) int { return ranks[id] }); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	text := `A ` + cite("7", "aaa") + ` b ` + cite("3", "bbb") + ` <web_citation url="https://a.test/?b&amp;c" title="[7] &gt;">[12]</web_citation>, [7] ` + cite("7", "aaa") + `.`
	want := `A ` + cite("1", "aaa") + ` b ` + cite("2", "bbb") + ` <web_citation url="https://a.test/?b&amp;c" title="[7] &gt;">[3]</web_citation>, [7] ` + cite("1", "aaa") + `.`
	numbers := map[int]int{}
	got := citation.Number(text, func(rank int) int {
		if numbers[rank] == 0 {
			numbers[rank] = len(numbers) + 1
		}
		return numbers[rank]
	})
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
