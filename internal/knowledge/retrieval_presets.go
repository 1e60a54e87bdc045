package knowledge

import "cmp"

// The values of RetrievalConfig.Preset. The empty one is PresetBalanced.
const (
	PresetFast     = "fast"
	PresetBalanced = "balanced"
	PresetThorough = "thorough"
)

// retrievalPresets are the defaults of each preset. A setting that is not here has the
// same default in all of them.
var retrievalPresets = map[string]RetrievalConfig{
	PresetFast:     {NumberOfChunks: 5, Candidates: 20},
	PresetBalanced: {NumberOfChunks: 10, Candidates: 50},
	PresetThorough: {NumberOfChunks: 15, Candidates: 100, Decompose: new(true)},
}

// Decomposes reports whether the chat model splits questions.
func (r RetrievalConfig) Decomposes() bool { return r.Decompose != nil && *r.Decompose }

// RerankedBy returns what sorts the candidates: the choice of the project, or else the
// instance's reranker, except with PresetFast. configured is its name, "" = none; then
// PresetThorough has the chat model as a judge.
func (r RetrievalConfig) RerankedBy(configured string) string {
	switch {
	case r.Reranker != "":
		return r.Reranker
	case r.Preset == PresetThorough:
		return cmp.Or(configured, RerankerJudge)
	case r.Preset == PresetFast && r.Strategy != StrategyMultiStage:
		return ""
	}
	return configured
}

// WithDefaults returns the settings with their defaults filled in, except those that depend
// on the search.
func (r RetrievalConfig) WithDefaults() RetrievalConfig {
	r.Preset = cmp.Or(r.Preset, PresetBalanced)
	preset := retrievalPresets[r.Preset]
	r.Strategy = cmp.Or(r.Strategy, StrategyHybrid)
	r.NumberOfChunks = cmp.Or(r.NumberOfChunks, preset.NumberOfChunks)
	r.Candidates = max(cmp.Or(r.Candidates, preset.Candidates), r.NumberOfChunks)
	r.Decompose = cmp.Or(r.Decompose, preset.Decompose)
	r.Fusion = cmp.Or(r.Fusion, FusionWeighted)
	r.Order = cmp.Or(r.Order, OrderRelevance)
	return r
}
