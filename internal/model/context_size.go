package model

import "strings"

// contextSizes are how many tokens models read, by the beginning of their names in lower case
// without a vendor's prefix. Longer names stand before their beginnings. Only models that read few
// are here: passages fill no larger context.
var contextSizes = []struct {
	prefix string
	tokens int
}{
	{"gpt-3.5-turbo-instruct", 4_096}, {"gpt-3.5-turbo", 16_385}, {"gpt-35-turbo", 16_385},
	{"gpt-4-32k", 32_768}, {"gpt-4-turbo", 128_000}, {"gpt-4-1106", 128_000}, {"gpt-4-0125", 128_000}, {"gpt-4-vision", 128_000}, {"gpt-4-", 8_192},
	{"llama-2", 4_096}, {"llama2", 4_096}, {"codellama", 16_384}, {"meta-llama-3-", 8_192}, {"llama-3-", 8_192}, {"llama3:", 8_192}, {"llama3-", 8_192}, {"tinyllama", 2_048},
	{"mistral-7b", 32_768}, {"mistral:7b", 32_768}, {"open-mistral-7b", 32_768}, {"mistral-tiny", 32_768}, {"mixtral-8x7b", 32_768}, {"open-mixtral-8x7b", 32_768},
	{"gemma-2", 8_192}, {"gemma2", 8_192}, {"gemma-7b", 8_192}, {"gemma:", 8_192}, {"phi-2", 2_048}, {"phi-3-mini-4k", 4_096}, {"phi-3-medium-4k", 4_096},
	{"qwen1.5", 32_768}, {"qwen2.5", 32_768}, {"qwen2-", 32_768}, {"solar-10.7b", 4_096}, {"falcon", 2_048}, {"zephyr-7b", 32_768}, {"vicuna", 4_096}, {"command-light", 4_096}, {"command-r", 128_000},
}

// ContextTokens returns how many tokens a model reads, 0 if its name does not say that they are few.
func ContextTokens(name string) int {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	switch name {
	case "gpt-4":
		return 8_192
	case "llama3":
		return 8_192
	}
	for _, size := range contextSizes {
		if strings.HasPrefix(name, size.prefix) {
			return size.tokens
		}
	}
	return 0
}
