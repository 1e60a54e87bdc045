package privacy_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
)

// maker makes values. Its checksums are written down here once more, so that a mistake in
// a recogniser shows.
type maker struct{ *rand.Rand }

func (m maker) digits(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte('0' + byte(m.IntN(10)))
	}
	return b.String()
}

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }

// from makes a text of n characters of an alphabet.
func (m maker) from(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[m.IntN(len(alphabet))])
	}
	return b.String()
}

// date returns the two last digits of a year, a month and a day.
func (m maker) date() (year, month, day string) {
	return m.digits(2), fmt.Sprintf("%02d", 1+m.IntN(12)), fmt.Sprintf("%02d", 1+m.IntN(28))
}

// sum adds up the digits of a text, each multiplied by its weight.
func sum(text string, weights ...int) (total int) {
	for i, w := range weights {
		total += int(text[i]-'0') * w
	}
	return total
}

// modulo returns the remainder of a decimal number of any length.
func modulo(text string, by int64) int {
	n, _ := new(big.Int).SetString(text, 10)
	return int(n.Mod(n, big.NewInt(by)).Int64())
}

// grouped cuts a text into groups.
func grouped(text, gap string, lengths ...int) string {
	var groups []string
	for _, n := range lengths {
		groups, text = append(groups, text[:n]), text[n:]
	}
	return strings.Join(groups, gap)
}

func (m maker) iban() string {
	form := m.one("DE18", "AT16", "NL4L10", "GB4L14", "ES20", "BE12", "CH17", "FR23", "PL24", "SE20", "IT1L22")
	country, rest := form[:2], form[2:]
	bank := ""
	if letters, digits, ok := strings.Cut(rest, "L"); ok {
		n, _ := strconv.Atoi(letters)
		bank, rest = m.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ", n), digits
	}
	n, _ := strconv.Atoi(rest)
	account := bank + m.digits(n)
	var numeric strings.Builder
	for _, r := range account + country + "00" {
		v, _ := strconv.ParseInt(string(r), 36, 0)
		numeric.WriteString(strconv.Itoa(int(v)))
	}
	number := country + fmt.Sprintf("%02d", 98-modulo(numeric.String(), 97)) + account
	if m.IntN(2) == 0 {
		return number
	}
	var groups []string
	for len(number) > 4 {
		groups, number = append(groups, number[:4]), number[4:]
	}
	return strings.Join(append(groups, number), " ")
}

// luhned appends the check digit of Luhn.
func luhned(number string) string {
	total := 0
	for i := range len(number) {
		n := int(number[len(number)-1-i] - '0')
		if i%2 == 0 {
			n = n*2/10 + n*2%10
		}
		total += n
	}
	return number + strconv.Itoa((10-total%10)%10)
}

func (m maker) card() string {
	prefix := m.one("4", "51", "55", "2221", "37", "6011", "3530")
	if prefix == "37" {
		return grouped(luhned(prefix+m.digits(12)), m.one("", " "), 4, 6, 5)
	}
	return grouped(luhned(prefix+m.digits(15-len(prefix))), m.one("", " ", "-"), 4, 4, 4, 4)
}

func (m maker) mail() string {
	user := m.one("anna", "j.smith", "max.mustermann", "info", "o'neil", "garcia_lopez", "a.b.c", "sales-eu", "müller") + m.one("", "", "+news", m.digits(2))
	return user + "@" + m.one("example.com", "mail.example.org", "firma.de", "société.fr", "bbc.co.uk", "studio.io", "universita.it", "bedrijf.nl", "empresa.es")
}

// phone returns numbers of ranges that exist.
func (m maker) phone(language string) string {
	switch m.IntN(3) {
	case 0:
		return m.one("+49 30 "+m.digits6(), "+44 20 79"+m.digits(2)+" "+m.digits(4), "+33 1 42 "+grouped(m.digits(6), " ", 2, 2, 2), "+34 91 "+grouped("2"+m.digits(6), " ", 3, 2, 2),
			"+39 06 69"+m.digits(6), "+31 20 6"+m.digits(6), "+1 212-55"+m.digits(1)+"-"+m.digits(4), "0049 171 2"+m.digits(6), "+49 (0)89 "+m.digits6(), "+41 44 2"+grouped(m.digits(6), " ", 2, 2, 2))
	case 1:
		return m.one("+4930"+m.digits6(), "+4479111"+m.digits(5), "+336123"+m.digits(5), "+34612"+m.digits(6), "+393401"+m.digits(6), "+31612"+m.digits(6))
	}
	return map[string]string{
		"en": m.one("020 79"+m.digits(2)+" "+m.digits(4), "(212) 55"+m.digits(1)+"-"+m.digits(4), "212-55"+m.digits(1)+"-"+m.digits(4), "07911 1"+m.digits(5)),
		"de": m.one("030 "+m.digits6(), "0171/2"+m.digits(6), "(089) "+m.digits6(), "040-"+m.digits6()),
		"fr": m.one("01 42 "+grouped(m.digits(6), " ", 2, 2, 2), "06.12."+grouped(m.digits(6), ".", 2, 2, 2)),
		"es": m.one("91 2"+grouped(m.digits(6), " ", 2, 2, 2), "612 "+grouped(m.digits(6), " ", 3, 3)),
		"it": m.one("06 69"+m.digits(6), "340 1"+m.digits(6), "02 48"+m.digits(6)),
		"nl": m.one("020 6"+m.digits(6), "06-12"+m.digits(6)),
	}[language]
}

func (m maker) digits6() string { return strconv.Itoa(2+m.IntN(7)) + m.digits(5) }

func (m maker) ip() string {
	switch m.IntN(3) {
	case 0:
		return fmt.Sprintf("%d.%d.%d.%d", 50+m.IntN(170), m.IntN(256), m.IntN(256), m.IntN(256))
	case 1:
		return fmt.Sprintf("192.168.%d.%d", m.IntN(256), m.IntN(256))
	}
	return fmt.Sprintf("2001:db8:%x::%x:%x", 1+m.IntN(60000), 16+m.IntN(60000), 16+m.IntN(60000))
}

// wallet returns addresses that stand in standards and in the first blocks.
func (m maker) wallet() string {
	return m.one("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "12c6DSiU4Rq3P4ZxziKxzrL5LmMBrzjrJX", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "0xde0b295669a9fd93d5f28d9ec85e40f4cb697bae")
}
