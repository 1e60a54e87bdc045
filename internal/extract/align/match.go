package align

const (
	// Between two words of a block there may be others on the page: the footer and
	// the header of the next page, or a number. These are the most words that are
	// skipped, on the page and in the block, of which more are in a table.
	skipOnPage  = 80
	skipInBlock = 6
	skipInTable = 40
)

// match follows the words of a block through the PDF, from the place of one of them.
// It returns the place of each word, -1 if it is not there, and how many are, without marks of
// notes.
func (a *aligner) match(own []word, anchor, at int) (places []int, count int) {
	places = make([]int, len(own))
	for i := range places {
		places[i] = -1
	}
	set := func(i, j int) {
		if places[i] < 0 && !own[i].isMark {
			count++
		}
		places[i] = j
	}
	for i, j := anchor, at; i >= 0 && j >= 0; {
		switch {
		case a.is(own[i], j):
			set(i, j)
			i, j = i-1, j-1
		case j > 0 && own[i].text == a.words[j-1].text+a.words[j].text && !a.used[j]: // the page divides a word
			set(i, j-1)
			i, j = i-1, j-2
		case own[i].isMark:
			i--
		default:
			i = -1
		}
	}
	for i, j := anchor, at; i < len(own) && j < len(a.words); {
		switch {
		case a.is(own[i], j):
			set(i, j)
			i, j = i+1, j+1
		case i+1 < len(own) && a.words[j].text == own[i].text+own[i+1].text && !a.used[j]:
			set(i, j)
			set(i+1, j)
			i, j = i+2, j+1
		case j+1 < len(a.words) && own[i].text == a.words[j].text+a.words[j+1].text && !a.used[j]:
			set(i, j)
			i, j = i+1, j+2
		default:
			di, dj := a.resume(own, i, j)
			if di < 0 {
				return places, count
			}
			i, j = i+di, j+dj
		}
	}
	return places, count
}

// is reports whether a word is at a place that no other block has.
func (a *aligner) is(w word, at int) bool { return a.words[at].text == w.text && !a.used[at] }

// resume returns how many words of the block and of the PDF to skip until they agree
// again, the fewest possible. It returns -1 if they do not.
func (a *aligner) resume(own []word, i, j int) (di, dj int) {
	for sum := 1; sum <= skipOnPage+a.skip; sum++ {
		for di := 0; di <= min(sum, a.skip) && i+di < len(own); di++ {
			dj := sum - di
			if dj > skipOnPage || j+dj >= len(a.words) || !a.is(own[i+di], j+dj) {
				continue
			}
			// One word in common can be chance, except near.
			isLast := i+di+1 >= len(own)
			follows := !isLast && j+dj+1 < len(a.words) && a.is(own[i+di+1], j+dj+1)
			if follows || sum <= 3 || isLast && sum <= skipInBlock {
				return di, dj
			}
		}
	}
	return -1, -1
}
