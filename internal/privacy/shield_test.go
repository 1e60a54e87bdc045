package privacy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/privacy"
)

// cutInto returns a text in pieces of so many bytes.
func cutInto(text string, n int) []string {
	var pieces []string
	for len(text) > n {
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return append(pieces, text)
}

func TestShieldRedactsAndRestores(t *testing.T) {
	t.Parallel()
	s := privacy.NewFinder(nil).NewShield()
	question := s.Redact("Does ann@example.org or bob@example.org own IBAN DE89 3704 0044 0532 0130 00?")
	if want := "Does <EMAIL_ADDRESS_1> or <EMAIL_ADDRESS_2> own IBAN <IBAN_CODE_1>?"; question != want {
		t.Errorf("the model gets %q, want %q", question, want)
	}
	if again := s.Redact("IBAN DE89370400440532013000 of ANN@example.org"); again != "IBAN <IBAN_CODE_1> of <EMAIL_ADDRESS_1>" {
		t.Errorf("the same values are %q", again)
	}
	if got := s.Restore("<EMAIL_ADDRESS_2> owns <IBAN_CODE_1>, <EMAIL_ADDRESS_3> does not."); got != "bob@example.org owns DE89 3704 0044 0532 0130 00, <EMAIL_ADDRESS_3> does not." {
		t.Errorf("restored: %q", got)
	}
}

// TestPlaceholdersOfDocumentsStay checks that a placeholder of a redacted document is not taken for
// one of the shield.
func TestPlaceholdersOfDocumentsStay(t *testing.T) {
	t.Parallel()
	passage := "The lease was signed by <EMAIL_ADDRESS_1> and <Email_Address_3>."
	s := privacy.NewFinder(nil).NewShield("Who is ann@example.org?", passage)
	got := s.Redact("Who are ann@example.org and bob@example.org?") + s.Redact(passage)
	if want := "Who are <EMAIL_ADDRESS_2> and <EMAIL_ADDRESS_4>?" + passage; got != want {
		t.Errorf("the model gets %q, want %q", got, want)
	}
	if got := s.Restore("<EMAIL_ADDRESS_1> is not <EMAIL_ADDRESS_2>."); got != "<EMAIL_ADDRESS_1> is not ann@example.org." {
		t.Errorf("restored: %q", got)
	}
}

// TestRestoredForms restores placeholders as models write them, cut at every length.
func TestRestoredForms(t *testing.T) {
	t.Parallel()
	s := privacy.NewFinder(nil).NewShield()
	for n := range 12 {
		s.Redact(string(rune('a'+n)) + "@example.org and IP 198.51.100." + string(rune('1'+n%9)))
	}
	for _, tt := range []struct{ said, want string }{
		{"Write to <EMAIL_ADDRESS_1>.", "Write to a@example.org."},
		{"<EMAIL_ADDRESS_12><EMAIL_ADDRESS_2>", "l@example.orgb@example.org"},
		{"**<email_address_1>** and _<Email_Address_2>_", "**a@example.org** and _b@example.org_"},
		{"`<EMAIL_ADDRESS_1>` or `EMAIL_ADDRESS_1`", "`a@example.org` or `a@example.org`"},
		{`\<EMAIL\_ADDRESS\_1\> and <EMAIL\_ADDRESS\_2> and EMAIL\_ADDRESS\_3.`, "a@example.org and b@example.org and c@example.org."},
		{"&lt;EMAIL_ADDRESS_1&gt; &LT;email_address_2&GT; &amp; <b>", "a@example.org b@example.org &amp; <b>"},
		{"[mail](mailto:%3CEMAIL_ADDRESS_1%3E) [mail](mailto:EMAIL_ADDRESS_2)", "[mail](mailto:a@example.org) [mail](mailto:b@example.org)"},
		{"< Email Address 1 > <EMAIL-ADDRESS-2> <EMAIL*ADDRESS*3>", "a@example.org b@example.org c@example.org"},
		{"<EMAIL_ADDRESS_1 (work)> <EMAIL_ADDRESS_1/>", "<a@example.org (work)> a@example.org"},
		{"| <EMAIL_ADDRESS_1> | <IP_ADDRESS_1> |\n", "| a@example.org | 198.51.100.1 |\n"},
		{"The IP address 1 is none, nor is MY_EMAIL_ADDRESS_1 or EMAIL_ADDRESS_123 or EMAIL_ADDRESS_1_2.", "The IP address 1 is none, nor is MY_EMAIL_ADDRESS_1 or EMAIL_ADDRESS_123 or EMAIL_ADDRESS_1_2."},
		{"<EMAIL_ADDRESS_99> 1 < 2 <source_1> &lt;x&gt; 50%3 \\< E EM ip <", "<EMAIL_ADDRESS_99> 1 < 2 <source_1> &lt;x&gt; 50%3 \\< E EM ip <"},
		{"grüße <EMAIL_ADDRESS_1>é", "grüße a@example.orgé"},
	} {
		for n := 1; n <= len(tt.said); n++ {
			r := s.NewRestorer(false)
			var got strings.Builder
			for _, piece := range cutInto(tt.said, n) {
				got.WriteString(r.Write(piece))
			}
			got.WriteString(r.Close())
			if got.String() != tt.want {
				t.Errorf("%q in pieces of %d is %q, want %q", tt.said, n, got.String(), tt.want)
				break
			}
		}
	}
}

// TestRestorerHoldsLittle checks that words that are no placeholder are not held back.
func TestRestorerHoldsLittle(t *testing.T) {
	t.Parallel()
	s := privacy.NewFinder(nil).NewShield()
	s.Redact("ann@example.org")
	r := s.NewRestorer(false)
	for _, said := range []string{"Every ", "email ", "is <b>read", "</b> at ", "EMAIL_ADDRESSES ", "<EMAIL_ADDRESS_1>"} {
		if got := r.Write(said); got == "" || strings.Contains(got, "EMAIL_ADDRESS_1") {
			t.Errorf("of %q comes %q", said, got)
		}
	}
}

func TestJSONOfToolCalls(t *testing.T) {
	t.Parallel()
	s := privacy.NewFinder(nil).NewShield()
	before := `{"query": "mail of ann@example.org\nIBAN DE89370400440532013000", "limit": 10, "nhs number": 9434765919, "list": ["bob@example.org", true, null, -1.5e3], "ünï": "\u00e9"}`
	got := s.RedactJSON(before)
	want := `{"query": "mail of <EMAIL_ADDRESS_1>\nIBAN <IBAN_CODE_1>", "limit": 10, "nhs number": "<UK_NHS_1>", "list": ["<EMAIL_ADDRESS_2>", true, null, -1.5e3], "ünï": "\u00e9"}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the model gets:\n%s", diff)
	}
	s.Redact("IBAN GB82 WEST 1234\n5698 7654 32")
	restored := s.RestoreJSON(`{"to": "\u003cEMAIL_ADDRESS_1\u003e", "pay": "<IBAN_CODE_2>", "n": 1}`)
	if want := `{"to": "ann@example.org", "pay": "GB82 WEST 1234 5698 7654 32", "n": 1}`; restored != want {
		t.Errorf("what the tool gets: %s, want %s", restored, want)
	}
	if got := s.RestoreJSON("{no JSON <EMAIL_ADDRESS_1>"); got != "{no JSON ann@example.org" {
		t.Errorf("arguments that are no JSON: %s", got)
	}
}

// TestValuesInStreamedJSON restores values in an answer that is JSON, escaped as its texts are.
func TestValuesInStreamedJSON(t *testing.T) {
	t.Parallel()
	s := shieldOf(t, `Ann "Nan" O\'Neil`)
	r := s.NewRestorer(true)
	if got := r.Write(`{"name":"<PER`) + r.Write(`SON_1>"}`) + r.Close(); got != `{"name":"Ann \"Nan\" O\\'Neil"}` {
		t.Errorf("the answer is %s", got)
	}
}
