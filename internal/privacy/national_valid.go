package privacy

import "strings"

func isNHS(s string) bool {
	check := 11 - weigh(s, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11
	return check != 10 && check%11 == int(s[9]-'0') && !oneDigit(s)
}

func isNINO(s string) bool {
	prefix := s[:2]
	return !strings.ContainsAny(prefix, "DFIQUV") && s[1] != 'O' && 'A' <= s[8] && s[8] <= 'D' &&
		!isOneOf(prefix, []string{"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"})
}

// isSteuerID also checks that of the first ten digits one or two are repeated, as the
// office that gives the number defines it.
func isSteuerID(s string) bool {
	var counts [10]int
	different, most := 0, 0
	for i := range 10 {
		n := &counts[s[i]-'0']
		if *n++; *n == 1 {
			different++
		}
		most = max(most, *n)
	}
	return s[0] != '0' && (different == 9 && most == 2 || different == 8 && most <= 3) && mod1110(s)
}

func isNIR(s string) bool {
	if !strings.ContainsRune("123478", rune(s[0])) {
		return false
	}
	month := decimalOr(s[3:5], 99)
	if month < 1 || month > 98 || 13 <= month && month <= 19 || 43 <= month && month <= 49 {
		return false
	}
	digits := s[:13]
	switch s[5:7] { // Corsica
	case "2A":
		digits = s[:5] + "19" + s[7:13]
	case "2B":
		digits = s[:5] + "18" + s[7:13]
	default:
		if !isDigit(s[5]) || !isDigit(s[6]) {
			return false
		}
	}
	return 97-mod97(digits) == decimal(s[13:])
}

// decimalOr is decimal for text that may have letters, for which it returns other.
func decimalOr(text string, other int) int {
	if strings.Trim(text, "0123456789") != "" {
		return other
	}
	return decimal(text)
}

const nifLetters = "TRWAGMYFPDXBNJZSQVHLCKE"

func isNIF(s string) bool {
	return nifLetters[decimal(s[:8])%len(nifLetters)] == s[8] && !oneDigit(s[:8])
}

func isNIE(s string) bool {
	first := strings.IndexByte("XYZ", s[0])
	return first >= 0 && nifLetters[(first*10000000+decimal(s[1:8]))%len(nifLetters)] == s[8]
}

// isCodiceFiscale also takes codes in which letters stand for digits, which tell apart
// persons whose codes would be equal.
func isCodiceFiscale(s string) bool {
	const (
		odd     = "BAKPLCQDREVOSFTGUHMINJWZYX" // the letter at i has the value whose place it is
		letters = "LMNPQRSTUV"                 // for 0 to 9
	)
	if !strings.ContainsRune("ABCDEHLMPRST", rune(s[8])) {
		return false
	}
	for _, i := range []int{6, 7, 9, 10, 12, 13, 14} {
		if !isDigit(s[i]) && !strings.ContainsRune(letters, rune(s[i])) {
			return false
		}
	}
	sum := 0
	for i := range 15 {
		value := s[i] - 'A'
		if isDigit(s[i]) {
			value = s[i] - '0'
		}
		if i%2 == 1 {
			sum += int(value)
		} else {
			sum += strings.IndexByte(odd, 'A'+value)
		}
	}
	return byte('A'+sum%26) == s[15]
}

func isBSN(s string) bool {
	return weigh(s, 9, 8, 7, 6, 5, 4, 3, 2, -1)%11 == 0 && !oneDigit(s)
}

func isPESEL(s string) bool {
	month := decimal(s[2:4])
	return isDate(twoDigits(month%20), s[4:6]) && weigh(s, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)%10 == 0
}

func twoDigits(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }

// isPersonnummer also takes coordination numbers, to whose day 60 is added.
func isPersonnummer(s string) bool {
	return isDate(s[2:4], twoDigits(decimal(s[4:6])%60)) && luhn(s)
}

func isLongPersonnummer(s string) bool {
	return isOneOf(s[:2], []string{"18", "19", "20"}) && isPersonnummer(s[2:])
}

func isHetu(s string) bool {
	const checks = "0123456789ABCDEFHJKLMNPRSTUVWXY"
	return isDate(s[2:4], s[:2]) && checks[decimal(s[:9])%31] == s[9] && decimal(s[6:9]) >= 2
}

func isHetuOfThisCentury(s string) bool {
	return strings.ContainsRune("ABCDEFYXWVU", rune(s[6])) && isHetu(s[:6]+s[7:])
}

// isCPR takes the numbers with a checksum. Those since 2007 may have none.
func isCPR(s string) bool {
	return isDate(s[2:4], s[:2]) && weigh(s, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0
}

// isFodselsnummer also takes D numbers, to whose day 40 is added.
func isFodselsnummer(s string) bool {
	return isDate(s[2:4], twoDigits(decimal(s[:2])%40)) &&
		weigh(s, 3, 7, 6, 1, 8, 9, 4, 5, 2, 1)%11 == 0 && weigh(s, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0
}

func isAHV(s string) bool { return strings.HasPrefix(s, "756") && ean13(s) }

func isSSN(s string) bool {
	area := s[:3]
	return area != "000" && area != "666" && area[0] != '9' && s[3:5] != "00" && s[5:] != "0000" && !oneDigit(s) && s != "123456789"
}

func isCPF(s string) bool {
	first := weigh(s, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	second := weigh(s, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	return first == int(s[9]-'0') && second == int(s[10]-'0') && !oneDigit(s)
}

func isAadhaar(s string) bool { return s[0] >= '2' && verhoeff(s) && !oneDigit(s) }

func isTFN(s string) bool {
	return weigh(s, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0 && !oneDigit(s)
}

func isNRIC(s string) bool {
	sum := weigh(s[1:8], 2, 7, 6, 5, 4, 3, 2)
	switch s[0] {
	case 'S':
		return "JZIHGFEDCBA"[sum%11] == s[8]
	case 'T':
		return "JZIHGFEDCBA"[(sum+4)%11] == s[8]
	case 'F':
		return "XWUTRQPNMLK"[sum%11] == s[8]
	case 'G':
		return "XWUTRQPNMLK"[(sum+4)%11] == s[8]
	case 'M':
		return "KLJNPQRTUWX"[10-(sum+3)%11] == s[8]
	}
	return false
}

func isRRN(s string) bool {
	check := (11 - weigh(s, 2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)%11) % 10
	return isDate(s[2:4], s[4:6]) && check == int(s[12]-'0')
}
