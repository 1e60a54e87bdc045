package privacy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"

	"golang.org/x/crypto/sha3"
)

// wallets returns the addresses of Bitcoin (Base58Check, Bech32, Bech32m) and Ethereum
// (EIP-55, or without a checksum where all letters have one case).
func (d *document) wallets() []match {
	var found []match
	for _, t := range d.tokens {
		if t.length() < 26 || t.length() > 74 || !d.begins(t.start) || !d.ends(t.end) {
			continue
		}
		word := d.text[t.start:t.end]
		switch {
		case strings.HasPrefix(strings.ToLower(word), "bc1") && isBech32(word), (word[0] == '1' || word[0] == '3') && isBase58Check(word):
			found = append(found, match{Crypto, t.start, t.end, 1, byChecksum})
		case strings.HasPrefix(word, "0x") && len(word) == 42:
			if score, by := scoreOfEthereum(word[2:]); score > 0 {
				found = append(found, d.judged(match{Crypto, t.start, t.end, score, by}))
			}
		}
	}
	return found
}

// isBase58Check reports whether a word is an address of 21 bytes with a valid checksum.
func isBase58Check(word string) bool {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	if len(word) > 35 {
		return false
	}
	number, base := new(big.Int), big.NewInt(58)
	for i := range len(word) {
		digit := strings.IndexByte(alphabet, word[i])
		if digit < 0 {
			return false
		}
		number.Add(number.Mul(number, base), big.NewInt(int64(digit)))
	}
	if number.BitLen() > 25*8 {
		return false
	}
	var raw [25]byte
	number.FillBytes(raw[:])
	once := sha256.Sum256(raw[:21])
	twice := sha256.Sum256(once[:])
	return (raw[0] == 0 || raw[0] == 5) && bytes.Equal(twice[:4], raw[21:])
}

// isBech32 reports whether a word is an address by BIP 173 or BIP 350.
func isBech32(word string) bool {
	const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	small := strings.ToLower(word)
	if small != word && strings.ToUpper(word) != word {
		return false
	}
	check := 1
	add := func(value int) {
		top := check >> 25
		check = check&0x1ffffff<<5 ^ value
		for i, g := range [5]int{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				check ^= g
			}
		}
	}
	for _, value := range [5]int{3, 3, 0, 2, 3} { // "bc", expanded
		add(value)
	}
	for i := 3; i < len(small); i++ {
		value := strings.IndexByte(alphabet, small[i])
		if value < 0 {
			return false
		}
		add(value)
	}
	return check == 1 || check == 0x2bc830a3
}

// scoreOfEthereum returns the score of 40 hexadecimal digits behind 0x, 0 if they are no
// address.
func scoreOfEthereum(digits string) (score float64, by string) {
	small := strings.ToLower(digits)
	if _, err := hex.DecodeString(small); err != nil || oneDigit(small) {
		return 0, ""
	}
	if small == digits || strings.ToUpper(digits) == digits {
		return .6, byPattern
	}
	hash := sha3.NewLegacyKeccak256()
	hash.Write([]byte(small)) // never fails
	sum := hex.EncodeToString(hash.Sum(nil))
	for i := range len(digits) {
		if isLetter(digits[i]) && (digits[i] <= 'F') != (sum[i] >= '8') {
			return 0, ""
		}
	}
	return 1, byChecksum
}
