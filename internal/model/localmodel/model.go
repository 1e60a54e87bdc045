package localmodel

import "time"

// The names of the models.
const (
	ChatModel      = "cairn-offline"
	EmbeddingModel = "cairn-offline-embedding"
)

// Config says how the model behaves.
type Config struct {
	// TokensPerSecond paces a chat answer, for whoever wants to watch it come.
	// Defaults to 0, which answers at once.
	TokensPerSecond int
}

// Model is the offline model. It is safe for concurrent use and keeps nothing
// between two requests.
type Model struct {
	interval time.Duration       // between two tokens
	common   map[string]struct{} // stems
}

// New makes a Model.
func New(cfg Config) *Model {
	m := &Model{common: commonStems()}
	if cfg.TokensPerSecond > 0 {
		m.interval = time.Second / time.Duration(cfg.TokensPerSecond)
	}
	return m
}
