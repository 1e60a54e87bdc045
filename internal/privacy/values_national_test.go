package privacy_test

import (
	"fmt"
	"strconv"
	"strings"
)

// national makes a valid number of a state.
func (m maker) national(entity string) string {
	switch entity {
	case "UK_NHS":
		return grouped(m.checked("4", 8, func(n string) int { return (11 - sum(n, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11) % 11 }), " ", 3, 3, 4)
	case "UK_NINO":
		return grouped(m.from("ACEHJ", 1)+m.from("ABCEHJ", 1)+m.digits(6)+m.from("ABCD", 1), m.one("", " "), 2, 2, 2, 2, 1)
	case "DE_TAX_ID":
		return grouped(m.steuerID(), m.one("", " "), 2, 3, 3, 3)
	case "FR_INSEE":
		year, month, _ := m.date()
		n := m.one("1", "2") + year + month + fmt.Sprintf("%02d", 1+m.IntN(95)) + m.digits(6)
		return grouped(n+fmt.Sprintf("%02d", 97-modulo(n, 97)), m.one("", " "), 1, 2, 2, 2, 3, 3, 2)
	case "ES_NIF":
		n := m.digits(8)
		return n + m.one("", "-") + string(lettersOfSpain[modulo(n, 23)])
	case "ES_NIE":
		first, n := m.IntN(3), m.digits(7)
		return "XYZ"[first:first+1] + n + string(lettersOfSpain[modulo(strconv.Itoa(first)+n, 23)])
	case "IT_FISCAL_CODE":
		return m.codiceFiscale()
	case "NL_BSN":
		return m.checked("", 8, func(n string) int { return sum(n, 9, 8, 7, 6, 5, 4, 3, 2) % 11 })
	case "CH_AHV":
		n := "756" + m.digits(9)
		return grouped(n+strconv.Itoa((10-sum(n, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3)%10)%10), m.one("", "."), 3, 4, 4, 2)
	}
	return m.nationalByBirth(entity)
}

const lettersOfSpain = "TRWAGMYFPDXBNJZSQVHLCKE"

// nationalByBirth makes numbers that begin with a day of birth, and those of the world.
func (m maker) nationalByBirth(entity string) string {
	year, month, day := m.date()
	switch entity {
	case "PL_PESEL":
		n := year + month + day + m.digits(4)
		return n + strconv.Itoa((10-sum(n, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)%10)%10)
	case "SE_PERSONNUMMER":
		return m.one("", "19") + grouped(luhned(year+month+day+m.digits(3)), "-", 6, 4)
	case "FI_PERSONAL_IDENTITY_CODE":
		n := strconv.Itoa(100 + m.IntN(800))
		return day + month + year + m.one("-", "A") + n + string("0123456789ABCDEFHJKLMNPRSTUVWXY"[modulo(day+month+year+n, 31)])
	case "DK_CPR_NUMBER":
		return grouped(m.checked(day+month+year, 3, func(n string) int { return (11 - sum(n, 4, 3, 2, 7, 6, 5, 4, 3, 2)%11) % 11 }), "-", 6, 4)
	case "NO_FODSELSNUMMER":
		return m.checkedTwice(day+month+year, 3, []int{3, 7, 6, 1, 8, 9, 4, 5, 2}, []int{5, 4, 3, 2, 7, 6, 5, 4, 3, 2})
	case "US_SSN":
		return fmt.Sprintf("%03d-%02d-%04d", 1+m.IntN(665), 1+m.IntN(99), 1+m.IntN(9999))
	case "BR_CPF":
		return m.cpf()
	case "IN_AADHAAR":
		return grouped(m.aadhaar(), " ", 4, 4, 4)
	case "AU_TFN":
		return grouped(m.checked("", 8, func(n string) int { return sum(n, 1, 4, 3, 7, 5, 8, 6, 9) % 11 }), m.one("", " "), 3, 3, 3)
	case "SG_NRIC_FIN":
		n := m.digits(7)
		return "S" + n + string("JZIHGFEDCBA"[sum(n, 2, 7, 6, 5, 4, 3, 2)%11])
	case "KR_RRN":
		n := year + month + day + m.one("1", "2", "3", "4") + m.digits(5)
		return grouped(n+strconv.Itoa((11-sum(n, 2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)%11)%10), "-", 6, 7)
	}
	panic("no maker for " + entity)
}

// checked returns a prefix, n digits and the digit that check makes of them. It draws again
// where there is none.
func (m maker) checked(prefix string, n int, check func(string) int) string {
	for {
		number := prefix + m.digits(n)
		if d := check(number); d < 10 {
			return number + strconv.Itoa(d)
		}
	}
}

// checkedTwice appends two digits, each of them 11 less the weighted remainder.
func (m maker) checkedTwice(prefix string, n int, first, second []int) string {
	for {
		number := m.checked(prefix, n, func(s string) int { return (11 - sum(s, first...)%11) % 11 })
		if d := (11 - sum(number, second...)%11) % 11; d < 10 {
			return number + strconv.Itoa(d)
		}
	}
}

func (m maker) cpf() string {
	n := m.digits(9)
	for _, weights := range [][]int{{10, 9, 8, 7, 6, 5, 4, 3, 2}, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2}} {
		check := 11 - sum(n, weights...)%11
		if check > 9 {
			check = 0
		}
		n += strconv.Itoa(check)
	}
	return n[:3] + "." + n[3:6] + "." + n[6:9] + "-" + n[9:]
}

// steuerID draws ten digits of which one stands twice, and appends the check digit.
func (m maker) steuerID() string {
	different := m.Perm(10)[:9]
	if different[0] == 0 {
		different[0], different[1] = different[1], different[0]
	}
	n := ""
	for _, d := range append(different, different[4]) {
		n += strconv.Itoa(d)
	}
	product := 10
	for _, r := range n {
		s := (int(r-'0')+product+9)%10 + 1
		product = 2 * s % 11
	}
	return n + strconv.Itoa((11-product)%10)
}

// codiceFiscale draws a code and appends its letter, with the values of the decree as the
// tax office prints them.
func (m maker) codiceFiscale() string {
	year, _, day := m.date()
	consonants, letters := "BCDFGLMNPRSTV", "ABCDEFGHILMPRTZ"
	code := m.from(consonants, 6) + year + m.from("ABCDEHLMPRST", 1) + day + m.from(letters, 1) + m.digits(3)
	odd := map[byte]int{'0': 1, '1': 0, '2': 5, '3': 7, '4': 9, '5': 13, '6': 15, '7': 17, '8': 19, '9': 21}
	for i, v := range []int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23} {
		odd['A'+byte(i)] = v
	}
	total := 0
	for i := range len(code) {
		switch {
		case i%2 == 0:
			total += odd[code[i]]
		case code[i] <= '9':
			total += int(code[i] - '0')
		default:
			total += int(code[i] - 'A')
		}
	}
	return code + string(rune('A'+total%26))
}

// aadhaar computes the check digit in the dihedral group, of which Verhoeff's table is the
// product: digits below 5 are turns, the others mirrored ones.
func (m maker) aadhaar() string {
	n := strconv.Itoa(2+m.IntN(8)) + m.digits(10)
	product := func(a, b int) int {
		switch {
		case a < 5 && b < 5:
			return (a + b) % 5
		case a < 5:
			return 5 + (a+b-5)%5
		case b < 5:
			return 5 + (a-5-b+5)%5
		}
		return (a - b + 5) % 5
	}
	base := []int{1, 5, 7, 6, 2, 8, 3, 0, 9, 4}
	check := 0
	for i := range len(n) {
		d := int(n[len(n)-1-i] - '0')
		for range i + 1 {
			d = base[d]
		}
		check = product(check, d)
	}
	for d := range 10 {
		if product(check, d) == 0 {
			return n + strconv.Itoa(d)
		}
	}
	panic("no digit closes " + strings.TrimSpace(n))
}
