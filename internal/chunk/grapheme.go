package chunk

import (
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// maxCluster is how many code points of a grapheme cluster are kept together. A
// longer one is no character of any script.
const maxCluster = 32

// inCluster reports whether the place at is inside a grapheme cluster. start is the
// start of a cluster before it.
func (d *document) inCluster(start, at int) bool { return d.clusterStart(start, at) != at }

// clusterStart returns the start of the grapheme cluster that the place at is
// inside of. It returns at if at is between two clusters, or in one that is longer
// than maxCluster or begins at start. start is the start of a cluster before at.
func (d *document) clusterStart(start, at int) int {
	if at <= start || at >= len(d.runes) || standsAlone(d.runes[at-1]) && standsAlone(d.runes[at]) {
		return at
	}
	from := max(start, at-maxCluster)
	for from > start && isFlagPart(d.runes[from]) { // two letters are a flag, counted from the first
		from--
	}
	place := from
	clusters := graphemes.FromString(string(d.runes[from : at+1]))
	for clusters.Next() {
		next := place + utf8.RuneCountInString(clusters.Value())
		if next > at {
			break
		}
		place = next
	}
	if place == from {
		return at
	}
	return place
}

// standsAlone reports whether r neither continues a cluster nor takes in the next
// character, for the most frequent characters: Latin, and Chinese and Japanese
// without their marks.
func standsAlone(r rune) bool {
	return r < 0x300 && r != '\r' && r != '\n' || 0x3030 < r && r < 0x3099 || 0x309a < r && r < 0xa000
}

func isFlagPart(r rune) bool { return 0x1f1e6 <= r && r <= 0x1f1ff }
