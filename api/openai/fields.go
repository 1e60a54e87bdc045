package openai

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// fields are the fields of a body, each with what is wrong with a value. A field that is
// not among them is refused, so that no field that changes an answer is ignored.
type fields map[string]func(value json.RawMessage) (wrong string)

// read is the rule of a field that the handler reads, or that changes no answer.
func read(json.RawMessage) string { return "" }

// only accepts these values, as JSON.
func only(why string, values ...string) func(json.RawMessage) string {
	return func(value json.RawMessage) string {
		if slices.Contains(values, string(value)) {
			return ""
		}
		return why
	}
}

// without is the rule of a field that must be left out or empty.
func without(why string) func(json.RawMessage) string {
	return only("must be left out: "+why, "false", "0", "0.0", `""`, "[]", "{}")
}

// check refuses what the fields do not allow in a body that is a JSON object. null stands
// for a field that is left out.
func (f fields) check(r *http.Request) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(edge.Body(r), &values); err != nil {
		return knowledge.Invalid("body", "must be an object")
	}
	var wrong []knowledge.Field
	for _, name := range slices.Sorted(maps.Keys(values)) {
		rule, known := f[name]
		message := "is not a field that this route knows: leave it out"
		if known {
			message = rule(values[name])
		}
		if message != "" && (!known || string(values[name]) != "null") {
			wrong = append(wrong, knowledge.Field{Location: "body." + name, Message: message})
		}
	}
	return knowledge.InvalidFields(wrong)
}

// The reasons why a project does not take a field.
const (
	ownTools   = "a project answers with its own tools"
	ownModel   = "a project chooses how its model answers"
	wordsOnly  = "a project answers in words with citations"
	oneAnswer  = "a project gives one answer"
	noLogprobs = "a project gives no probabilities of tokens"
)

// actingFields are the fields that name a user.
var actingFields = func() fields {
	named := fields{}
	for _, name := range edge.ActingNames() {
		named[name] = read
	}
	return named
}()

// sharedFields are the fields of chat completions and of responses that mean the same in both.
var sharedFields = fields{
	"model": read, "stream": read, "stream_options": read, "temperature": read, "metadata": read, "tool_choice": read,
	"user": read, "safety_identifier": read, "prompt_cache_key": read, "prompt_cache_retention": read, "prompt_cache_options": read, "service_tier": read, "store": read,
	"top_p":               read,
	"top_logprobs":        without(noLogprobs),
	"parallel_tool_calls": only("must be true: a project runs its tools side by side", "true"),
	"moderation":          without(ownModel),
}

// chatFields are the fields of a chat completion by a project.
var chatFields = join(sharedFields, actingFields, fields{
	"messages": read, "max_tokens": read, "max_completion_tokens": read, "n": read, "tools": read, "response_format": read,
	"functions": without(ownTools), "function_call": only("must be left out: "+ownTools, `"none"`, `"auto"`),
	"stop": read, "seed": only("must be left out: a project does not repeat an answer by a seed"),
	"frequency_penalty": without(ownModel), "presence_penalty": without(ownModel), "logit_bias": without(ownModel), "logprobs": without(noLogprobs),
	"reasoning_effort": without(ownModel), "verbosity": without(ownModel), "prediction": without(ownModel),
	"modalities": only(`must be ["text"]: `+wordsOnly, `["text"]`, "[]"), "audio": without(wordsOnly),
	"web_search_options": only("must be left out: tools.web_search of the project is what searches the web"),
})

// responseFields are the fields of a response.
var responseFields = join(sharedFields, actingFields, fields{
	"input": read, "instructions": read, "tools": read, "background": read, "previous_response_id": read, "include": read, "max_output_tokens": read, "text": read,
	"truncation":         only("must be auto: a conversation that is too long is shortened", `"auto"`),
	"reasoning":          onlySummary,
	"max_tool_calls":     only("must be left out: tools.maxPerRequest of the project bounds its tool calls"),
	"prompt":             only("must be left out: ai.prompt of the project is its prompt"),
	"conversation":       only("must be left out: continue with previous_response_id, or name the conversation as session_id"),
	"context_management": without("a conversation that is too long is shortened"),
})

// embeddingFields are the fields of a request for embeddings.
var embeddingFields = fields{"model": read, "input": read, "encoding_format": read, "dimensions": read, "user": read}

// The fields of vector stores and of what is in them.
var (
	storeFields = fields{
		"name": read, "file_ids": read, "chunking_strategy": onlyAuto,
		"expires_after": only("must be left out: a project does not expire"), "metadata": without("a project has no metadata"), "description": without("a project has no description"),
	}
	storeFileFields  = fields{"file_id": read, "attributes": read, "chunking_strategy": onlyAuto}
	attributesFields = fields{"attributes": read}
	batchFields      = fields{"file_ids": read, "files": read, "attributes": read, "chunking_strategy": onlyAuto}
	searchFields     = fields{
		"query": read, "max_num_results": read, "filters": read, "ranking_options": read, "rewrite_query": read,
	}
)

// onlyAuto accepts the chunking strategy that leaves it to the project.
func onlyAuto(value json.RawMessage) string {
	var strategy struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(value, &strategy) == nil && strategy.Type == "auto" {
		return ""
	}
	return `must be {"type": "auto"}: ai.textSplitter of the project splits its documents`
}

func join(all ...fields) fields {
	out := fields{}
	for _, some := range all {
		maps.Copy(out, some)
	}
	return out
}

// toolChoice returns the choice of tools for a question: auto, none, required, or the name of a
// tool, which chat completions and responses write in different ways.
func toolChoice(value any) (string, error) {
	switch choice := value.(type) {
	case nil:
		return "", nil
	case string:
		if slices.Contains([]string{"auto", "none", "required"}, choice) {
			return choice, nil
		}
	case map[string]any:
		switch choice["type"] {
		case "file_search":
			return "required", nil
		case "function":
			name := choice["name"]
			if function, ok := choice["function"].(map[string]any); ok {
				name = function["name"]
			}
			if name, ok := name.(string); ok && name != "" {
				return name, nil
			}
			return "", knowledge.Invalid("body.tool_choice", `must have the name of a tool, as {"type": "function", "function": {"name": …}} has in a chat completion, and {"type": "function", "name": …} in a response`)
		}
	}
	return "", knowledge.Invalid("body.tool_choice", "must be auto, none, required, or a function with the name of a tool: %s", ownTools)
}

// check returns what is wrong with the ranking of a search.
func (o *RankingOptions) check(location string) error {
	switch {
	case o == nil:
		return nil
	case !slices.Contains([]string{"", "auto", "default-2024-11-15", "default_2024_08_21"}, o.Ranker):
		return knowledge.Invalid(location+".ranker", "must be auto: ai.retrieval.reranker of the project ranks what is found")
	case o.Hybrid != nil:
		return knowledge.Invalid(location+".hybrid_search", "must be left out: ai.retrieval.weights of the project weighs the two searches")
	}
	return nil
}
