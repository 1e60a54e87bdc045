package main

import (
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/config"
)

// checkSameEndpoints reports whether the server has called endpoints that this
// configuration does not name. The checks of endpoints then say nothing about the server.
func checkSameEndpoints(calls []client.ModelCall, cfg config.Config) []finding {
	named := map[string][]config.Endpoint{
		"embedding": append([]config.Endpoint{cfg.Models.Embedding.Endpoint}, cfg.Models.Embedding.Failover...),
		"chat":      append([]config.Endpoint{cfg.Models.Chat.Endpoint}, cfg.Models.Chat.Failover...),
		"rerank":    {cfg.Models.Rerank.Endpoint}, "transcription": {cfg.Models.Transcription.Endpoint},
	}
	for _, call := range calls {
		known := func(m config.Endpoint) bool { return m.Provider() == call.Provider }
		if models, ok := named[call.Kind]; ok && call.Provider != "offline" && !slices.ContainsFunc(models, known) {
			return []finding{{
				"configuration", findingNote, fmt.Sprintf("the server calls %s (%s), which this command's configuration does not name", call.Provider, call.Kind),
				"run it with the configuration of the server: --config or CAIRN_CONFIG, and its variables",
			}}
		}
	}
	return nil
}
