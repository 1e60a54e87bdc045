package knowledge

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// RedactsForProviders reports whether models get placeholders in the place of personal data.
func (c PrivacyConfig) RedactsForProviders() bool { return c.Providers == PrivacyRedact }

// RedactsAnswers reports whether answers have placeholders in the place of personal data.
func (c PrivacyConfig) RedactsAnswers() bool { return c.Answers == PrivacyRedact }

// Loosens reports whether a configuration does more than to redact in more places than
// another one.
func (c PrivacyConfig) Loosens(than PrivacyConfig) bool {
	if c.RedactsAnswers() {
		than.Answers = c.Answers
	}
	if c.RedactsForProviders() {
		than.Providers = c.Providers
	}
	return !reflect.DeepEqual(c, than)
}

// PIIRules say which kinds of personal data are looked for, by whom, and from which score on
// a value counts.
type PIIRules struct {
	Entities    []string // none = those of PIIEntities, and those of Recognisers
	Recognisers map[string]PIIRecogniser
	Thresholds  map[string]float64
}

// Rules returns the rules of a project.
func (c PrivacyConfig) Rules() PIIRules { return PIIRules{c.Entities, c.Recognisers, c.Thresholds} }

// Rules returns the rules that held when the version was added.
func (p VersionPrivacy) Rules() PIIRules {
	rules := PIIRules{Recognisers: map[string]PIIRecogniser{}, Thresholds: map[string]float64{}}
	if p.Entities != "" {
		rules.Entities = strings.Split(p.Entities, ",")
	}
	for pair := range strings.SplitSeq(p.Recognisers, ",") {
		if entity, by, ok := strings.Cut(pair, "="); ok {
			rules.Recognisers[entity] = PIIRecogniser(by)
		}
	}
	for pair := range strings.SplitSeq(p.Thresholds, ",") {
		if entity, text, ok := strings.Cut(pair, "="); ok {
			if score, err := strconv.ParseFloat(text, 64); err == nil {
				rules.Thresholds[entity] = score
			}
		}
	}
	return rules
}

// AsksOthers reports whether personal data of the version is looked for by more than Cairn's
// own recognisers.
func (p VersionPrivacy) AsksOthers() bool {
	by := p.Rules().By()
	delete(by, RecogniserOwn)
	return len(by) > 0 && p != (VersionPrivacy{})
}

// By returns the kinds that each recogniser looks for, sorted by name.
func (r PIIRules) By() map[PIIRecogniser][]string {
	entities := slices.Clone(r.Entities)
	if len(entities) == 0 {
		entities = PIIEntities()
	}
	entities = slices.AppendSeq(entities, maps.Keys(r.Recognisers))
	slices.Sort(entities)
	own, by := PIIEntities(), map[PIIRecogniser][]string{}
	for _, entity := range slices.Compact(entities) {
		recogniser := r.Recognisers[entity]
		switch {
		case recogniser != "":
		case slices.Contains(own, entity):
			recogniser = RecogniserOwn
		default:
			recogniser = RecogniserAnalyzer
		}
		by[recogniser] = append(by[recogniser], entity)
	}
	return by
}

// Threshold returns the score from which on a value of a kind counts.
func (r PIIRules) Threshold(entity string) float64 {
	if score, ok := r.Thresholds[entity]; ok {
		return score
	}
	return PIIThreshold
}

// Fields returns what is wrong with the configuration, as found at location. hasAnalyzer
// means that the instance has one.
func (c PrivacyConfig) Fields(location string, hasAnalyzer bool) []Field {
	var wrong []Field
	if !slices.Contains([]PrivacyMode{"", PrivacyOff, PrivacyDetect, PrivacyRedact, PrivacyReject}, c.PII) {
		wrong = append(wrong, Field{location + ".pii", "must be off, detect, redact or reject"})
	}
	for name, mode := range map[string]PrivacyMode{"answers": c.Answers, "providers": c.Providers} {
		if !slices.Contains([]PrivacyMode{"", PrivacyOff, PrivacyRedact}, mode) {
			wrong = append(wrong, Field{location + "." + name, "must be off or redact"})
		}
	}
	known := slices.Concat(PIIEntities(), PIIOfOthers())
	for i, name := range c.Entities {
		if !slices.Contains(known, name) {
			wrong = append(wrong, Field{fmt.Sprintf("%s.entities[%d]", location, i), "must be one of " + strings.Join(known, ", ")})
		}
	}
	wrong = append(wrong, c.recogniserFields(location, known)...)
	for _, name := range slices.Sorted(maps.Keys(c.Thresholds)) {
		if score := c.Thresholds[name]; !slices.Contains(known, name) || score < 0 || score > 1 {
			wrong = append(wrong, Field{location + ".thresholds." + name, "must be a kind of personal data with a score from 0 to 1"})
		}
	}
	if names := c.Rules().By()[RecogniserAnalyzer]; !hasAnalyzer && len(names) > 0 {
		wrong = append(wrong, Field{location + ".recognisers", fmt.Sprintf("%s needs an analyzer, and this instance has none: set privacy.analyzer.url in its configuration, or name model for it", strings.Join(names, ", "))})
	}
	return wrong
}

func (c PrivacyConfig) recogniserFields(location string, known []string) []Field {
	var wrong []Field
	own := PIIEntities()
	for _, name := range slices.Sorted(maps.Keys(c.Recognisers)) {
		at, by := location+".recognisers."+name, c.Recognisers[name]
		switch {
		case !slices.Contains(known, name):
			wrong = append(wrong, Field{at, "must be one of " + strings.Join(known, ", ")})
		case !slices.Contains([]PIIRecogniser{RecogniserOwn, RecogniserAnalyzer, RecogniserModel}, by):
			wrong = append(wrong, Field{at, "must be own, analyzer or model"})
		case by == RecogniserOwn && !slices.Contains(own, name):
			wrong = append(wrong, Field{at, "must be analyzer or model: Cairn does not recognise it by itself"})
		case by == RecogniserModel && c.RedactsForProviders():
			wrong = append(wrong, Field{at, "must not be model with providers: redact: the model would get what it looks for"})
		}
	}
	return wrong
}
