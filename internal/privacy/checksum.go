package privacy

import "strings"

// luhn reports whether digits end in their check digit as ISO/IEC 7812 defines it.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		n := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// mod97 returns the remainder of digits and letters (A = 10) by 97, as ISO 7064 reads them.
func mod97(text string) int {
	rest := 0
	for i := range len(text) {
		if b := text[i]; isDigit(b) {
			rest = (rest*10 + int(b-'0')) % 97
		} else {
			rest = (rest*100 + int(b|0x20-'a') + 10) % 97
		}
	}
	return rest
}

// weigh returns the sum of the digits, each multiplied by its weight.
func weigh(digits string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += w * int(digits[i]-'0')
	}
	return sum
}

// mod1110 reports whether digits end in their check digit by ISO 7064, MOD 11,10.
func mod1110(digits string) bool {
	product := 10
	for i := range len(digits) - 1 {
		sum := (int(digits[i]-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return (11-product)%10 == int(digits[len(digits)-1]-'0')
}

// verhoeff reports whether digits end in their check digit by Verhoeff.
func verhoeff(digits string) bool {
	const (
		products     = "0123456789123406789523401789563401289567401239567859876043216598710432765982104387659321049876543210"
		permutations = "01234567891576283094580379614289160435279453126870428657390127938064157046913258"
	)
	check := 0
	for i := range len(digits) {
		n := int(permutations[i%8*10+int(digits[len(digits)-1-i]-'0')] - '0')
		check = int(products[check*10+n] - '0')
	}
	return check == 0
}

// ean13 reports whether 13 digits end in their check digit.
func ean13(digits string) bool {
	return weigh(digits, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1)%10 == 0
}

// oneDigit reports whether a text repeats its first character only.
func oneDigit(text string) bool { return strings.Count(text, text[:1]) == len(text) }

// decimal returns the number that up to 9 digits make.
func decimal(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

// isDate reports whether two digits each are a month and a day of it.
func isDate(month, day string) bool {
	m, d := decimal(month), decimal(day)
	return 1 <= m && m <= 12 && 1 <= d && d <= 31
}
