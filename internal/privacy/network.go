package privacy

import (
	"net/netip"
	"strings"
)

// addresses returns the addresses of IP, of both versions.
func (d *document) addresses() []match { return append(d.addressesV4(), d.addressesV6()...) }

// addressesV4 returns four numbers with dots that are no version and no section: a label,
// a port or a prefix behind them, or a number that is too large for a section.
func (d *document) addressesV4() []match {
	var found []match
	for i := 0; i+3 < len(d.tokens); i++ {
		start, end := d.tokens[i].start, d.tokens[i+3].end
		if end-start > len("255.255.255.255") || d.text[d.tokens[i].end] != '.' || !d.beginsAddress(start) {
			continue
		}
		addr, err := netip.ParseAddr(d.text[start:end])
		if err != nil || !addr.Is4() || !d.endsAddress(end) {
			continue
		}
		found = append(found, d.judged(match{IP, start, end, d.scoreOfV4(addr, end), byPattern}))
	}
	return found
}

// sections is the largest number of a section or version that is common.
const sections = 31

func (d *document) scoreOfV4(addr netip.Addr, end int) float64 {
	if behind := d.text[end:]; len(behind) > 1 && (behind[0] == ':' || behind[0] == '/') && isDigit(behind[1]) {
		return .9
	}
	if addr.IsUnspecified() {
		return .3
	}
	largest := byte(0)
	for _, b := range addr.As4() {
		largest = max(largest, b)
	}
	if largest <= sections {
		return .4
	}
	return .75
}

// beginsAddress is begins for addresses, which may be the host of a URL.
func (d *document) beginsAddress(start int) bool {
	return d.begins(start) || strings.HasSuffix(d.text[:start], "//") || strings.HasSuffix(d.text[:start], "@")
}

// endsAddress is ends for addresses, which a path, a prefix or a port may follow.
func (d *document) endsAddress(end int) bool {
	return d.ends(end) || d.text[end] == '/'
}

// addressesV6 returns the addresses that netip reads, with a digit in them.
func (d *document) addressesV6() []match {
	var found []match
	for from := 0; ; {
		colon := strings.IndexByte(d.text[from:], ':')
		if colon < 0 {
			return found
		}
		colon += from
		start, end := colon, colon
		for start > from && isPartOfV6(d.text[start-1]) {
			start--
		}
		for end < len(d.text) && isPartOfV6(d.text[end]) {
			end++
		}
		from = max(end, colon+1)
		end = start + len(strings.TrimRight(d.text[start:end], "."))
		if strings.HasSuffix(d.text[start:end], ":") && !strings.HasSuffix(d.text[start:end], "::") {
			end--
		}
		if m, ok := d.addressV6(start, end); ok {
			found = append(found, d.judged(m))
		}
	}
}

func isPartOfV6(b byte) bool {
	return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' || b == ':' || b == '.'
}

func (d *document) addressV6(start, end int) (match, bool) {
	text := d.text[start:end]
	if strings.Count(text, ":") < 2 || !strings.ContainsAny(text, "0123456789") || !d.begins(start) || !d.endsAddress(end) {
		return match{}, false
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return match{}, false
	}
	score := .8
	if len(text) < 6 || addr.IsLoopback() { // ::1, a time without hours, an operator of a language
		score = .4
	}
	return match{IP, start, end, score, byPattern}, true
}
