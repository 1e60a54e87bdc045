package citation

// code is the code of Markdown that a place lies in: between backticks in a
// line, or between fences of at least three backticks or tildes. The zero code
// is none.
type code struct {
	mark   byte // '`' or '~'
	length int  // of the marks that opened it
}

// minFence is the length from which on code continues over line ends.
const minFence = 3

func (c *code) open() bool { return c.length > 0 }

// take handles a run of n marks; tildes count at the start of a line only.
func (c *code) take(mark byte, n int, lineStart bool) {
	if mark == '~' && (n < minFence || !lineStart) {
		return
	}
	switch {
	case !c.open():
		*c = code{mark: mark, length: n}
	case mark == c.mark && (n == c.length || c.length >= minFence && n >= c.length):
		*c = code{}
	}
}

// endLine ends code within a line, also where its end is missing.
func (c *code) endLine() {
	if c.length < minFence {
		*c = code{}
	}
}
