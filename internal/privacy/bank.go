package privacy

import "strings"

// lengthsOfAccounts are the lengths of the account numbers of countries, as the registry
// of ISO 13616 has them.
const lengthsOfAccounts = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27GB22GE22GI23" +
	"GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23" +
	"PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30"

// lengthOfAccount returns the length of the account numbers of a country, 0 for a country
// that has none.
func lengthOfAccount(country string) int {
	for i := 0; i < len(lengthsOfAccounts); i += 4 {
		if lengthsOfAccounts[i:i+2] == country {
			return decimal(lengthsOfAccounts[i+2 : i+4])
		}
	}
	return 0
}

// accounts returns the account numbers with a valid checksum. Any of their groups may be
// separated, also by the end of a line.
func (d *document) accounts() []match {
	var found []match
	for first, t := range d.tokens {
		if t.length() < 2 || !isLetter(d.text[t.start]) || !isLetter(d.text[t.start+1]) || !d.begins(t.start) {
			continue
		}
		length := lengthOfAccount(strings.ToUpper(d.text[t.start : t.start+2]))
		if length == 0 {
			continue
		}
		if last, ok := d.accountEnd(first, length); ok {
			found = append(found, match{IBAN, t.start, d.tokens[last].end, 1, byChecksum})
		}
	}
	return found
}

// accountEnd returns the last token of the account number that begins at a token. ok is
// false if there is none of the length.
func (d *document) accountEnd(first, length int) (last int, ok bool) {
	var compact strings.Builder
	for last = first; last < len(d.tokens); last++ {
		if last > first {
			if g := gapOf(d.between(last - 1)); g != spaces && g != dash && g != dot {
				return last, false
			}
		}
		t := d.tokens[last]
		if compact.Len()+t.length() > length {
			return last, false
		}
		compact.WriteString(d.text[t.start:t.end])
		if compact.Len() == length {
			number := compact.String()
			digits := isDigit(number[2]) && isDigit(number[3])
			return last, digits && d.ends(t.end) && mod97(number[4:]+number[:4]) == 1
		}
	}
	return last, false
}

// cards returns the numbers of payment cards: with the prefix and the length of an issuer
// and a valid check digit.
func (d *document) cards() []match {
	var found []match
	for first, t := range d.tokens {
		if !t.number() || t.length() < 4 || t.length() < 13 && !d.joins(first) || !d.begins(t.start) {
			continue
		}
		if m, ok := d.card(first); ok {
			found = append(found, d.judged(m))
		}
	}
	return found
}

// joins reports whether the token behind the one at an index may be its next group.
func (d *document) joins(i int) bool {
	return i+1 < len(d.tokens) && d.tokens[i+1].number() && gapOf(d.between(i)) != foreign
}

func (d *document) card(first int) (match, bool) {
	number, groups := "", ""
	for last := first; last < len(d.tokens); last++ {
		t := d.tokens[last]
		if last > first {
			if g := gapOf(d.between(last - 1)); g != spaces && g != dash && g != dot {
				break
			}
		}
		if !t.number() || len(number)+t.length() > 19 {
			break
		}
		number += d.text[t.start:t.end]
		groups += string(rune('0' + t.length()))
		if len(number) < 13 || !isIssued(number) || !luhn(number) || oneDigit(number) || !d.ends(t.end) {
			continue
		}
		score := scoreOfCard(number, groups)
		if score == 0 || len(groups) > 1 && d.continues(first, last) {
			continue
		}
		return match{Card, d.tokens[first].start, t.end, score, byChecksum}, true
	}
	return match{}, false
}

// scoreOfCard returns the score of a valid number by how it is written, 0 for groups in
// which no card has its number.
func scoreOfCard(number, groups string) float64 {
	switch {
	case len(groups) == 1 && len(number) < 15:
		return .3 // as long as an article number, of which one in ten is valid
	case len(groups) == 1:
		return .6
	case isOneOf(groups, []string{"4444", "465", "464", "44443", "88", "4434"}):
		return .85
	}
	return 0
}

// isIssued reports whether an issuer of cards has the prefix of a number, and numbers of
// its length.
func isIssued(number string) bool {
	two, three, four, six := decimal(number[:2]), decimal(number[:3]), decimal(number[:4]), decimal(number[:6])
	switch n := len(number); {
	case number[0] == '4': // Visa
		return n == 13 || n == 16 || n == 19
	case 51 <= two && two <= 55, 2221 <= four && four <= 2720: // Mastercard
		return n == 16
	case two == 34, two == 37: // American Express
		return n == 15
	case two == 36, two == 38, two == 39, 300 <= three && three <= 305, four == 3095: // Diners Club
		return n >= 14
	case 3528 <= four && four <= 3589: // JCB
		return n >= 16
	case four == 6011, two == 65, 644 <= three && three <= 649: // Discover
		return n >= 16
	case 622126 <= six && six <= 622925, two == 62: // UnionPay
		return n >= 16
	case two == 50, 56 <= two && two <= 58, two == 63, two == 67: // Maestro
		return n == 16 || n >= 18
	}
	return false
}
