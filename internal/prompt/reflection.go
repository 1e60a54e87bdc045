package prompt

import (
	_ "embed"
	"strings"
)

//go:embed reflection.md
var reflection string

// reflectionMark begins the Reflection block of an answer. The block ends at the first
// empty line.
const reflectionMark = "**Reflection:**\n"

// WithReflection returns a filled-in system prompt that asks for an answer which begins
// with a Reflection block.
func WithReflection(system string) string { return system + "\n\n" + reflection }

// WithJSON returns a filled-in system prompt that asks for an answer in JSON.
func WithJSON(system string) string {
	return system + "\n\nAnswer with one JSON object and nothing else: no words around it and no fence of code. Marks such as <source_1> stand inside of its texts, behind what they prove."
}

// WithoutReflection returns an answer without the Reflection block at its beginning.
func WithoutReflection(answer string) string {
	if !strings.HasPrefix(answer, reflectionMark) {
		return answer
	}
	_, rest, found := strings.Cut(answer, "\n\n")
	if !found {
		return answer // it was cut short inside the block
	}
	return rest
}
