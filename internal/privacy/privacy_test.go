package privacy_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/privacy"
)

// found returns the findings of a text as "ENTITY value".
func found(text string) []string {
	var all []string
	runes := []rune(text)
	for _, f := range privacy.NewFinder(nil).Find(text) {
		all = append(all, f.Entity+" "+string(runes[f.Start:f.End]))
	}
	return all
}

// published are numbers that authorities and standards give as examples.
func published() []struct{ entity, label, value string } {
	return []struct{ entity, label, value string }{
		{privacy.Email, "", "john.doe+news@example.co.uk"},
		{privacy.Email, "", "jürgen@müller.example"},
		{privacy.Phone, "", "+44 20 7946 0958"},
		{privacy.Phone, "", "+49 (0)30 901820"},
		{privacy.Phone, "Tel.", "030 901820"},
		{privacy.IBAN, "", "DE89 3704 0044 0532 0130 00"},
		{privacy.IBAN, "", "GB82WEST12345698765432"},
		{privacy.IBAN, "", "FR14 2004 1010 0505 0001 3M02 606"},
		{privacy.Card, "", "4111 1111 1111 1111"},
		{privacy.Card, "", "3782 822463 10005"},
		{privacy.Card, "", "5500000000000004"},
		{privacy.IP, "", "192.168.17.4"},
		{privacy.IP, "", "2001:db8::8a2e:370:7334"},
		{privacy.Crypto, "", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"},
		{privacy.Crypto, "", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"},
		{privacy.Crypto, "", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		{privacy.Crypto, "", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"},
		{"UK_NHS", "", "943 476 5919"},
		{"UK_NINO", "", "AB123456C"},
		{"DE_TAX_ID", "", "36 574 261 809"},
		{"FR_INSEE", "", "2 95 10 99 126 111 93"},
		{"FR_INSEE", "", "253072B07300470"},
		{"ES_NIF", "", "54362315-K"},
		{"ES_NIE", "", "X-2482300-W"},
		{"IT_FISCAL_CODE", "", "RCCMNL83S18D969H"},
		{"NL_BSN", "BSN", "1112.22.333"},
		{"PL_PESEL", "PESEL", "44051401359"},
		{"SE_PERSONNUMMER", "", "880320-0016"},
		{"FI_PERSONAL_IDENTITY_CODE", "", "131052-308T"},
		{"DK_CPR_NUMBER", "", "211062-5629"},
		{"NO_FODSELSNUMMER", "", "151086 95088"},
		{"CH_AHV", "", "756.9217.0769.85"},
		{"US_SSN", "", "536-90-4399"},
		{"BR_CPF", "", "390.533.447-05"},
		{"IN_AADHAAR", "Aadhaar", "2341 2341 2346"},
		{"AU_TFN", "TFN", "123 456 782"},
		{"SG_NRIC_FIN", "", "S1234567D"},
		{"SG_NRIC_FIN", "", "G1234567X"},
		{"KR_RRN", "", "971013-9019902"},
	}
}

func TestPublishedExamplesAreFound(t *testing.T) {
	t.Parallel()
	for _, tt := range published() {
		text := strings.TrimSpace("Please note: "+tt.label) + " " + tt.value + ", as agreed."
		if got, want := found(text), tt.entity+" "+tt.value; len(got) != 1 || got[0] != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}

// TestChangedDigitsAreNotFound tries values whose checksum one changed digit breaks.
func TestChangedDigitsAreNotFound(t *testing.T) {
	t.Parallel()
	without := []string{privacy.Email, privacy.Phone, privacy.IP, "UK_NINO", "US_SSN"} // have no checksum
	for _, tt := range published() {
		if strings.Contains(strings.Join(without, " "), tt.entity) || strings.HasPrefix(tt.value, "0x") {
			continue
		}
		last := strings.LastIndexAny(tt.value, "0123456789")
		changed := tt.value[:last] + string('0'+(tt.value[last]-'0'+1)%10) + tt.value[last+1:]
		for _, f := range found("Note: " + tt.label + " " + changed) {
			if strings.HasPrefix(f, tt.entity) {
				t.Errorf("%s was found in %q", f, changed)
			}
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want []string
	}{
		"an order number of the form of a health number is none": {"Order no. 943 476 5919 was sent.", nil},
		"a version is no address":                                {"Upgrade to version 192.168.17.4 of the firmware", nil},
		"a section is no address":                                {"1.2.3.4 Installation", nil},
		"the remote of a repository is no mail":                  {"git clone git@github.com:org/repo.git", nil},
		"a picture for fine screens is no mail":                  {"see image@2x.png", nil},
		"an account number goes on in the next line":             {"IBAN DE89 3704 0044\n0532 0130 00", []string{"IBAN_CODE DE89 3704 0044\n0532 0130 00"}},
		"the header of a column is a label":                      {"| Name | NHS number |\n| --- | --- |\n| Ann | 9434765919 |", []string{"UK_NHS 9434765919"}},
		"the header of a column speaks against a value":          {"| Name | Order |\n| --- | --- |\n| Ann | 943 476 5919 |", nil},
		"offsets count code points":                              {"Grüße, ÄÖÜ: ann@example.org", []string{"EMAIL_ADDRESS ann@example.org"}},
		"a date is no phone":                                     {"Tel: call on 12.05.2024", nil},
		"a text without digits has nothing":                      {"Nothing of the sort.", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := found(tt.text); strings.Join(got, ";") != strings.Join(tt.want, ";") {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzFind(f *testing.F) {
	for _, tt := range published() {
		f.Add(tt.label + " " + tt.value)
	}
	f.Add("| a | b |\n|é@x|::1|+1")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, found := range privacy.NewFinder(nil).Find(text) {
			if found.Start < last || found.End <= found.Start || found.End > utf8.RuneCountInString(text) || found.Score < privacy.Threshold || found.Score > 1 {
				t.Fatalf("finding %+v behind %d in %q", found, last, text)
			}
			last = found.End
		}
	})
}
