package prompt_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/prompt"
)

func TestWithoutReflection(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ answer, want string }{
		"the block is left out":        {"**Reflection:**\n*What is asked.*\n\n# Answer\n\nThree.", "# Answer\n\nThree."},
		"an answer without a block":    {"Three.\n\nOr four.", "Three.\n\nOr four."},
		"a block that is not at first": {"Three.\n\n**Reflection:**\n*x*\n\nFour.", "Three.\n\n**Reflection:**\n*x*\n\nFour."},
		"a block that was cut short":   {"**Reflection:**\n*What is", "**Reflection:**\n*What is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := prompt.WithoutReflection(test.answer); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
