package knowledge

import (
	"fmt"
	"slices"
	"strings"
)

// PrivacyMode is what happens to personal data in the documents of a project.
type PrivacyMode string

// The modes. The empty one means PrivacyOff.
const (
	PrivacyOff    PrivacyMode = "off"
	PrivacyDetect PrivacyMode = "detect" // it is listed
	PrivacyRedact PrivacyMode = "redact" // placeholders stand in its place
	PrivacyReject PrivacyMode = "reject" // the document ends as an error
)

// PrivacyConfig is the part of a project that concerns personal data.
type PrivacyConfig struct {
	PII             PrivacyMode `json:"pii,omitempty" enum:"off,detect,redact,reject" doc:"What happens to personal data in documents that are added from now on. detect: documents/{id}/pii lists it. redact: placeholders such as <EMAIL_ADDRESS_1> stand in its place before the text is cut, embedded and stored. reject: a document that has some ends as error with the code pii_found. A reindex applies it to documents that are there. Default: off"`
	Entities        []string    `json:"entities,omitempty" maxItems:"50" doc:"The kinds of personal data that are looked for, by the names of docs/privacy.md. Default: all"`
	ConsentRequired *bool       `json:"consentRequired,omitempty" doc:"Whether a document that names subjects is published only while there is a consent (consents) of each of them; otherwise it ends as error with the code consent_missing, and can be retried once they are recorded. Default: false"`
	KeepOriginal    *bool       `json:"keepOriginal,omitempty" doc:"With redact: whether the original file is kept, for callers with the write scope and for a reindex. false: it is deleted when its document is published. Default: true"`
}

// The kinds of personal data that are no number of a state.
const (
	PIIEmail  = "EMAIL_ADDRESS"
	PIIPhone  = "PHONE_NUMBER"
	PIIIBAN   = "IBAN_CODE"
	PIICard   = "CREDIT_CARD"
	PIIIP     = "IP_ADDRESS"
	PIICrypto = "CRYPTO"
)

// PIIEntities returns the kinds of personal data that are recognised, sorted by name.
func PIIEntities() []string {
	return []string{
		"AU_TFN", "BR_CPF", "CH_AHV", PIICard, PIICrypto, "DE_TAX_ID", "DK_CPR_NUMBER", PIIEmail, "ES_NIE", "ES_NIF", "FI_PERSONAL_IDENTITY_CODE",
		"FR_INSEE", PIIIBAN, "IN_AADHAAR", PIIIP, "IT_FISCAL_CODE", "KR_RRN", "NL_BSN", "NO_FODSELSNUMMER", PIIPhone, "PL_PESEL", "SE_PERSONNUMMER",
		"SG_NRIC_FIN", "UK_NHS", "UK_NINO", "US_SSN",
	}
}

// Fields returns what is wrong with the configuration, as found at location.
func (c PrivacyConfig) Fields(location string) []Field {
	var wrong []Field
	if !slices.Contains([]PrivacyMode{"", PrivacyOff, PrivacyDetect, PrivacyRedact, PrivacyReject}, c.PII) {
		wrong = append(wrong, Field{location + ".pii", "must be off, detect, redact or reject"})
	}
	known := PIIEntities()
	for i, name := range c.Entities {
		if !slices.Contains(known, name) {
			wrong = append(wrong, Field{fmt.Sprintf("%s.entities[%d]", location, i), "must be one of " + strings.Join(known, ", ")})
		}
	}
	return wrong
}

// VersionPrivacy is what happens to the personal data of a version. It is fixed when the
// version is added.
type VersionPrivacy struct {
	Mode         PrivacyMode `json:"mode,omitempty"`
	Entities     string      `json:"entities,omitempty"` // sorted, with commas; "" = all
	DropOriginal bool        `json:"drop_original,omitempty"`
}

// OfVersion returns the privacy of a version that is added now.
func (c PrivacyConfig) OfVersion() VersionPrivacy {
	if c.PII == "" || c.PII == PrivacyOff {
		return VersionPrivacy{}
	}
	names := slices.Sorted(slices.Values(c.Entities))
	return VersionPrivacy{
		Mode: c.PII, Entities: strings.Join(slices.Compact(names), ","),
		DropOriginal: c.PII == PrivacyRedact && c.KeepOriginal != nil && !*c.KeepOriginal,
	}
}

// EntityNames returns the kinds of personal data that are looked for, nil for all.
func (p VersionPrivacy) EntityNames() []string {
	if p.Entities == "" {
		return nil
	}
	return strings.Split(p.Entities, ",")
}

// KeepsTextOf reports whether the text of an earlier version may be kept beside a version:
// not if it may have personal data that the later version must not have.
func (p VersionPrivacy) KeepsTextOf(earlier VersionPrivacy) bool {
	if p.Mode != PrivacyRedact && p.Mode != PrivacyReject {
		return true
	}
	return (earlier.Mode == PrivacyRedact || earlier.Mode == p.Mode) && earlier.Entities == p.Entities
}

// Redacts reports whether placeholders stand in the place of personal data.
func (p VersionPrivacy) Redacts() bool { return p.Mode == PrivacyRedact }
