package privacy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// mails returns the addresses of mail: RFC 5322 without comments and quotes, also with
// letters of every script (RFC 6531), in a domain that may exist.
func (d *document) mails() []match {
	var found []match
	for from := 0; ; {
		at := strings.IndexByte(d.text[from:], '@')
		if at < 0 {
			return found
		}
		at += from
		from = at + 1
		start, end := d.localPart(at), d.domain(at+1)
		if start == at || end == at+1 {
			continue
		}
		score := .95
		if isRemote(d.text[end:]) {
			score = .3
		}
		found = append(found, match{Email, start, end, score, byPattern})
	}
}

// isRemote reports whether the text behind an address makes it the remote of a repository
// or the user of a host: git@host:path, user@host/path.
func isRemote(behind string) bool {
	if len(behind) < 2 || behind[0] != ':' && behind[0] != '/' {
		return false
	}
	return isAlnum(behind[1]) || behind[1] == '/' || behind[1] == '~'
}

// localPart returns where the local part before an @ begins.
func (d *document) localPart(at int) int {
	start := at
	for start > 0 && at-start < 64 {
		r, size := utf8.DecodeLastRuneInString(d.text[:start])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".!#$%&'*+/=?^_`{|}~-", r) {
			break
		}
		start -= size
	}
	local := d.text[start:at]
	// A character that ends a path, a link or a cell of a table before the address does not belong to
	// the address.
	if i := strings.LastIndexAny(local, "/|=?&{"); i >= 0 {
		local = local[i+1:]
	}
	trimmed := strings.TrimLeft(local, ".'*_`-#")
	if strings.HasPrefix(local, "_") && !strings.HasPrefix(local, "__") {
		trimmed = local
	}
	if trimmed == "" || strings.HasSuffix(trimmed, ".") || strings.Contains(trimmed, "..") {
		return at
	}
	return at - len(trimmed)
}

// domain returns where the domain that begins at an offset ends, or start if it is none.
func (d *document) domain(start int) int {
	end := start
	for end < len(d.text) {
		r, size := utf8.DecodeRuneInString(d.text[end:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' {
			break
		}
		end += size
	}
	name := strings.TrimRight(d.text[start:end], ".-")
	for name != "" {
		if isDomain(name) {
			return start + len(name)
		}
		// A sentence may go on right behind the domain: "me@example.org.Then".
		name = name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
	return start
}

func isDomain(name string) bool {
	labels := strings.Split(strings.ToLower(name), ".")
	if len(labels) < 2 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
	}
	top := labels[len(labels)-1]
	if isOneOf(top, []string{"test", "example", "invalid", "local", "localhost", "internal", "lan", "corp", "home", "intranet"}) {
		return true
	}
	_, listed := publicsuffix.PublicSuffix(top)
	return listed
}
