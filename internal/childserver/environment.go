package childserver

import "strings"

// Environment returns the variables of a process without those that would
// configure a server, such as CAIRN_CONFIG or OPENAI_API_KEY.
func Environment(variables []string) []string {
	var kept []string
	for _, variable := range variables {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "CAIRN_") && !strings.HasPrefix(name, "TEMPORAL_") && name != "OPENAI_API_KEY" {
			kept = append(kept, variable)
		}
	}
	return kept
}

// Models returns the variables that make a server use one endpoint and model
// for answers and for embeddings.
func Models(url, model string) []string {
	var env []string
	for _, kind := range []string{"CHAT", "EMBEDDING"} {
		env = append(env, "CAIRN_MODELS__"+kind+"__BASE_URL="+url, "CAIRN_MODELS__"+kind+"__MODEL="+model)
	}
	return env
}
