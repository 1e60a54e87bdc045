package localmodel

import "time"

// Model names.
const (
	ChatModel      = "cairn-offline"
	EmbeddingModel = "cairn-offline-meaning"
	// HashedModel compares words only. Documents that were embedded with it by an
	// earlier version are searched with it until they are embedded again.
	HashedModel = "cairn-offline-embedding"
)

// Config configures a Model.
type Config struct {
	// TokensPerSecond paces a chat answer, to show streaming. Defaults to 0,
	// which answers at once.
	TokensPerSecond int
}

// Model is the offline model. It is safe for concurrent use and keeps no state
// between requests.
type Model struct {
	interval time.Duration       // between two tokens
	common   map[string]struct{} // stems of common words
}

// New returns a Model.
func New(cfg Config) *Model {
	m := &Model{common: commonStems()}
	if cfg.TokensPerSecond > 0 {
		m.interval = time.Second / time.Duration(cfg.TokensPerSecond)
	}
	return m
}
