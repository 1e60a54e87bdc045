package knowledge

import (
	"fmt"
	"maps"
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
	Entities        []string    `json:"entities,omitempty" maxItems:"50" doc:"The kinds of personal data that are looked for, by the names of docs/privacy.md. Default: all that Cairn recognises by itself, and those of recognisers"`
	KeepOriginal    *bool       `json:"keepOriginal,omitempty" doc:"With redact: whether the original file is kept, for callers with the write scope and for a reindex. false: it is deleted when its document is published. Default: true"`
	ConsentRequired *bool       `json:"consentRequired,omitempty" doc:"Whether a document that names subjects is published only while there is a consent (consents) of each of them; otherwise it ends as error with the code consent_missing, and can be retried once they are recorded. Default: false"`
	// Answers and Providers concern questions.
	Answers   PrivacyMode `json:"answers,omitempty" enum:"off,redact" doc:"redact: placeholders stand in the place of personal data in answers, while they stream and where they are stored. Default: off"`
	Providers PrivacyMode `json:"providers,omitempty" enum:"off,redact" doc:"redact: placeholders stand in the place of personal data in what goes to a model, and what comes back has the values again. Models that run in Cairn's own process get the values to embed. Pictures are not sent. Default: off"`

	Recognisers map[string]PIIRecogniser `json:"recognisers,omitempty" doc:"Who finds a kind of personal data: own, the analyzer of the configuration (privacy.analyzer), or the chat model. A kind that is named here is looked for. Default: own for the kinds that Cairn recognises by itself, else analyzer"`
	Thresholds  map[string]float64       `json:"thresholds,omitempty" doc:"The lowest score at which a value of a kind counts, from 0 to 1. Default: 0.5"`
}

// PIIRecogniser is who finds a kind of personal data.
type PIIRecogniser string

// The recognisers.
const (
	RecogniserOwn      PIIRecogniser = "own"
	RecogniserAnalyzer PIIRecogniser = "analyzer" // Presidio's, at the address of the configuration
	RecogniserModel    PIIRecogniser = "model"    // the chat model
)

// PIIThreshold is the lowest score of a value that counts, unless a project says another.
const PIIThreshold = 0.5

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

// PIIOfOthers returns the kinds of personal data that an analyzer or the chat model finds,
// beside those of PIIEntities, sorted by name.
func PIIOfOthers() []string {
	return []string{"DATE_TIME", "LOCATION", "NRP", "ORGANIZATION", "PERSON", "URL"}
}

// VersionPrivacy is what happens to the personal data of a version. It is fixed when the
// version is added.
type VersionPrivacy struct {
	Mode         PrivacyMode `json:"mode,omitempty"`
	Entities     string      `json:"entities,omitempty"` // sorted, with commas; "" = all
	DropOriginal bool        `json:"drop_original,omitempty"`
	// Providers means that models other than those in the process get placeholders.
	Providers   bool   `json:"providers,omitempty"`
	Recognisers string `json:"recognisers,omitempty"` // as "PERSON=analyzer,PHONE_NUMBER=model", sorted
	Thresholds  string `json:"thresholds,omitempty"`  // as "PERSON=0.7", sorted
}

// OfVersion returns the privacy of a version that is added now.
func (c PrivacyConfig) OfVersion() VersionPrivacy {
	p := VersionPrivacy{Providers: c.RedactsForProviders()}
	if c.PII != "" && c.PII != PrivacyOff {
		p.Mode, p.DropOriginal = c.PII, c.PII == PrivacyRedact && c.KeepOriginal != nil && !*c.KeepOriginal
	}
	if p == (VersionPrivacy{}) {
		return p
	}
	names := slices.Sorted(slices.Values(c.Entities))
	p.Entities = strings.Join(slices.Compact(names), ",")
	p.Recognisers = pairs(c.Recognisers)
	p.Thresholds = pairs(c.Thresholds)
	return p
}

// pairs returns a map as text, sorted by its keys.
func pairs[T any](m map[string]T) string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("%s=%v", key, m[key]))
	}
	return strings.Join(list, ",")
}

// KeepsTextOf reports whether the text of an earlier version may be kept beside a version:
// not if it may have personal data that the later version must not have.
func (p VersionPrivacy) KeepsTextOf(earlier VersionPrivacy) bool {
	if p.Mode != PrivacyRedact && p.Mode != PrivacyReject {
		return true
	}
	return (earlier.Mode == PrivacyRedact || earlier.Mode == p.Mode) &&
		earlier.Entities == p.Entities && earlier.Recognisers == p.Recognisers && earlier.Thresholds == p.Thresholds
}

// Redacts reports whether placeholders stand in the place of personal data.
func (p VersionPrivacy) Redacts() bool { return p.Mode == PrivacyRedact }
