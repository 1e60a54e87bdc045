package model

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// option is an optional parameter of a chat request, which an endpoint may refuse.
type option string

const (
	optionSeed                option = "seed"
	optionTemperature         option = "temperature"
	optionTopP                option = "top_p"
	optionStop                option = "stop"
	optionResponseFormat      option = "response_format"
	optionStreamOptions       option = "stream_options"
	optionMaxTokens           option = "max_tokens"
	optionMaxCompletionTokens option = "max_completion_tokens"
	optionToolChoice          option = "tool_choice"
	optionTools               option = "tools"
)

// options are parameters that are left out of a request. A max_tokens that is left out is sent as
// max_completion_tokens, and the other way round.
type options map[option]bool

func (o options) with(more option) options {
	next := maps.Clone(o)
	if next == nil {
		next = options{}
	}
	next[more] = true
	return next
}

// knownOptions are the options that the models of an endpoint refuse, as far as it has said so. It
// is safe for concurrent use.
type knownOptions struct {
	mu    sync.Mutex
	model map[string]options
}

func (k *knownOptions) of(model string) options {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.model[model]
}

// learn notes the options without which a request was answered, and logs those that are new.
func (k *knownOptions) learn(ctx context.Context, log *slog.Logger, e Endpoint, model string, left options) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range slices.Sorted(maps.Keys(left)) {
		if !k.model[model][o] && log != nil {
			log.WarnContext(ctx, "a model refuses an optional parameter; it is left out from now on", "provider", e.Provider, "model", model, "parameter", o)
		}
	}
	if k.model == nil {
		k.model = map[string]options{}
	}
	for o := range left {
		k.model[model] = k.model[model].with(o)
	}
}

// sent returns the options that a request has, in the order in which refusals are looked for.
func (b chatBody) sent() []option {
	var sent []option
	add := func(o option, there bool) {
		if there {
			sent = append(sent, o)
		}
	}
	add(optionSeed, b.Seed != nil)
	add(optionStreamOptions, b.StreamOptions != nil)
	add(optionMaxTokens, b.MaxTokens > 0)
	add(optionMaxCompletionTokens, b.MaxCompletionTokens > 0)
	add(optionTopP, b.TopP != nil) // which some refuse beside temperature
	add(optionTemperature, b.Temperature != nil)
	add(optionStop, len(b.Stop) > 0)
	add(optionResponseFormat, len(b.ResponseFormat) > 0)
	add(optionToolChoice, b.ToolChoice != nil)
	add(optionTools, len(b.Tools) > 0)
	return sent
}

var (
	// otherNames are further names by which a refusal tells an option.
	otherNames = map[option]*regexp.Regexp{
		optionStreamOptions:  regexp.MustCompile(`\binclude_usage\b`),
		optionResponseFormat: regexp.MustCompile(`(?i)\bjson[ _-]?(?:mode|schema|object)\b|\bstructured[ _-]outputs?\b|\bguided[ _-]json\b|\bresponse format\b`),
		optionToolChoice:     regexp.MustCompile(`(?i)\btool[ _-]choice\b`),
		optionTools:          regexp.MustCompile(`(?i)\btools\b|\btool (?:use|calling|calls?)\b|\bfunction[ _-]call(?:s|ing)?\b|enable-auto-tool-choice`),
	}
	// refusalWords are in texts that refuse a parameter, beside its name.
	refusalWords = regexp.MustCompile(`(?i)un-?support|not (?:be )?(?:currently )?(?:support|permit|allow|accept|recogni|valid|enabled|available|implement)|n't support|does not (?:support|accept)|unknown|unrecogni[sz]ed|unexpected|extra|forbidden|invalid|cannot|only (?:the )?(?:default|'?1|\(?1)|deprecat|removed|unavailable|must be|requires|no endpoints found`)
)

// refusingStatus are the statuses of refused parameters: llama.cpp sends 500, OpenRouter 404.
var refusingStatus = []int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotFound, http.StatusNotImplemented, http.StatusInternalServerError}

// refusedOption returns the option of a request that its endpoint refused by name, "" if there is
// none. Words of the request that the endpoint repeats do not count.
func refusedOption(err error, body chatBody) option {
	e, ok := errors.AsType[*Error](err)
	refused, isRefusal := errors.AsType[*refusal](err)
	if !ok || !isRefusal || e.Code == CodeContext || e.Code == CodeFiltered || !slices.Contains(refusingStatus, e.Status) {
		return ""
	}
	sent := body.sent()
	for _, o := range sent {
		if param := refused.report.Param; param == string(o) || strings.HasPrefix(param, string(o)+".") || strings.HasPrefix(param, string(o)+"[") {
			return o
		}
	}
	text := refused.report.Type + " " + refused.report.Code + " " + refused.said
	if !refusalWords.MatchString(text) {
		return ""
	}
	for _, o := range sent {
		name := regexp.MustCompile(`(?:^|[^A-Za-z0-9_])` + regexp.QuoteMeta(string(o)) + `(?:$|[^A-Za-z0-9_])`)
		if other := otherNames[o]; o != optionTools && name.MatchString(refused.said) || other != nil && other.MatchString(refused.said) {
			return o
		}
	}
	return ""
}

// refusedField reports whether err is a refused request whose text contains one of the words, so
// that the request can be repeated without that field.
func refusedField(err error, words ...string) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	refused, ok := errors.AsType[*refusal](e.Cause)
	for _, word := range words {
		if ok && strings.Contains(refused.text, word) {
			return true
		}
	}
	return false
}
