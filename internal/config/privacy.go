package config

import "time"

// Privacy is how personal data is found, besides by Cairn's own recognisers.
type Privacy struct {
	// The analyzer of Presidio.
	Analyzer Analyzer `koanf:"analyzer"`
}

// Analyzer is an analyzer of Presidio, which finds names and places (privacy.md).
type Analyzer struct {
	// The address of the analyzer, such as http://127.0.0.1:5002. Cairn sends texts to
	// /analyze there. Defaults to none.
	URL string `koanf:"url"`
	// The language of the texts, as the analyzer has it. Defaults to en.
	Language string `koanf:"language"`
	// How long one request may take. Defaults to 30s.
	Timeout time.Duration `koanf:"timeout"`
}
