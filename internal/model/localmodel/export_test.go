package localmodel

import "github.com/cairn-rag/cairn/internal/model/protocol"

// Floor is the least evidence of an answer, and Sure that of one that does not say that it is
// uncertain.
const (
	Floor = floor
	Sure  = sureEvidence
)

// Evidence returns how much the passages of a system prompt have of the answer to a question.
func (m *Model) Evidence(system, question string) float64 {
	messages := []protocol.Message{{Role: "system", Content: protocol.Content(system)}, {Role: "user", Content: protocol.Content(question)}}
	r := m.read(readQuestion(messages), findSources(messages))
	if r.lacksYear() {
		return 0
	}
	return r.evidence()
}
