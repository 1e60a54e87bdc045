package knowledge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestPrivacyFields(t *testing.T) {
	t.Parallel()
	analyzer, chat := knowledge.RecogniserAnalyzer, knowledge.RecogniserModel
	type by = map[string]knowledge.PIIRecogniser
	for name, tt := range map[string]struct {
		config      knowledge.PrivacyConfig
		hasAnalyzer bool
		wrong       string // the location of the only wrong field, "" = none
	}{
		"nothing":                                 {knowledge.PrivacyConfig{}, false, ""},
		"an unknown mode":                         {knowledge.PrivacyConfig{PII: "sometimes"}, false, "p.pii"},
		"answers that are refused":                {knowledge.PrivacyConfig{Answers: "reject"}, false, "p.answers"},
		"providers that are detected":             {knowledge.PrivacyConfig{Providers: "detect"}, false, "p.providers"},
		"an unknown kind":                         {knowledge.PrivacyConfig{Entities: []string{"IBAN_CODE", "SHOE_SIZE"}}, true, "p.entities[1]"},
		"persons without an analyzer":             {knowledge.PrivacyConfig{Entities: []string{"PERSON"}}, false, "p.recognisers"},
		"persons with an analyzer":                {knowledge.PrivacyConfig{Entities: []string{"PERSON"}}, true, ""},
		"persons by the model":                    {knowledge.PrivacyConfig{Recognisers: by{"PERSON": chat}}, false, ""},
		"persons by Cairn itself":                 {knowledge.PrivacyConfig{Recognisers: by{"PERSON": "own"}}, true, "p.recognisers.PERSON"},
		"a recogniser that there is not":          {knowledge.PrivacyConfig{Recognisers: by{"PERSON": "spacy"}}, true, "p.recognisers.PERSON"},
		"an unknown kind of a recogniser":         {knowledge.PrivacyConfig{Recognisers: by{"SHOE_SIZE": chat}}, true, "p.recognisers.SHOE_SIZE"},
		"phones by the analyzer":                  {knowledge.PrivacyConfig{Recognisers: by{"PHONE_NUMBER": analyzer}}, true, ""},
		"the model finds what it must not get":    {knowledge.PrivacyConfig{Recognisers: by{"PERSON": chat}, Providers: "redact"}, true, "p.recognisers.PERSON"},
		"a threshold":                             {knowledge.PrivacyConfig{Thresholds: map[string]float64{"IP_ADDRESS": .9}}, false, ""},
		"a threshold above 1":                     {knowledge.PrivacyConfig{Thresholds: map[string]float64{"IP_ADDRESS": 1.1}}, false, "p.thresholds.IP_ADDRESS"},
		"the threshold of an unknown kind":        {knowledge.PrivacyConfig{Thresholds: map[string]float64{"SHOE_SIZE": .5}}, false, "p.thresholds.SHOE_SIZE"},
		"an analyzer that is named and not there": {knowledge.PrivacyConfig{Recognisers: by{"EMAIL_ADDRESS": analyzer}}, false, "p.recognisers"},
	} {
		wrong := tt.config.Fields("p", tt.hasAnalyzer)
		if tt.wrong == "" && len(wrong) > 0 || tt.wrong != "" && (len(wrong) != 1 || wrong[0].Location != tt.wrong) {
			t.Errorf("%s: %+v, want %q", name, wrong, tt.wrong)
		}
	}
}

// TestRulesOfAVersion checks that a version keeps the rules of its project.
func TestRulesOfAVersion(t *testing.T) {
	t.Parallel()
	config := knowledge.PrivacyConfig{
		PII: "redact", Entities: []string{"IBAN_CODE", "EMAIL_ADDRESS", "PERSON"}, Providers: "redact",
		Recognisers: map[string]knowledge.PIIRecogniser{"LOCATION": "model", "EMAIL_ADDRESS": "analyzer"}, Thresholds: map[string]float64{"PERSON": .7, "IBAN_CODE": .25},
	}
	v := config.OfVersion()
	want := map[knowledge.PIIRecogniser][]string{"own": {"IBAN_CODE"}, "analyzer": {"EMAIL_ADDRESS", "PERSON"}, "model": {"LOCATION"}}
	for _, rules := range []knowledge.PIIRules{config.Rules(), v.Rules()} {
		if diff := cmp.Diff(want, rules.By()); diff != "" || rules.Threshold("PERSON") != .7 || rules.Threshold("IBAN_CODE") != .25 || rules.Threshold("LOCATION") != .5 {
			t.Errorf("rules %+v: %s", rules, diff)
		}
	}
	if !v.Providers || !v.AsksOthers() || (knowledge.VersionPrivacy{Mode: "redact"}).AsksOthers() || (knowledge.PrivacyConfig{Entities: []string{"PERSON"}}).OfVersion() != (knowledge.VersionPrivacy{}) {
		t.Errorf("version %+v", v)
	}
	other := v
	other.Thresholds = "PERSON=0.9"
	if v.KeepsTextOf(other) || !v.KeepsTextOf(v) {
		t.Error("the text of a version with other thresholds is kept beside one that is redacted")
	}
}

func TestLoosenedPrivacy(t *testing.T) {
	t.Parallel()
	kept := knowledge.PrivacyConfig{PII: "redact", Providers: "redact", Entities: []string{"IBAN_CODE"}}
	for name, tt := range map[string]struct {
		config  knowledge.PrivacyConfig
		loosens bool
	}{
		"the same":           {kept, false},
		"answers as well":    {knowledge.PrivacyConfig{PII: "redact", Providers: "redact", Answers: "redact", Entities: kept.Entities}, false},
		"providers get them": {knowledge.PrivacyConfig{PII: "redact", Providers: "off", Entities: kept.Entities}, true},
		"without providers":  {knowledge.PrivacyConfig{PII: "redact", Entities: kept.Entities}, true},
		"other kinds":        {knowledge.PrivacyConfig{PII: "redact", Providers: "redact"}, true},
		"another threshold":  {knowledge.PrivacyConfig{PII: "redact", Providers: "redact", Entities: kept.Entities, Thresholds: map[string]float64{"IBAN_CODE": 1}}, true},
	} {
		if got := tt.config.Loosens(kept); got != tt.loosens {
			t.Errorf("%s: %t", name, got)
		}
	}
}
