package index

import "github.com/cairn-rag/cairn/internal/knowledge"

// OrderOperator returns how SQL and Milvus write an operator of order, for example <=.
// ok is false for an operator that is none of order.
func OrderOperator(o knowledge.Operator) (operator string, ok bool) {
	switch o {
	case knowledge.OpGt:
		return ">", true
	case knowledge.OpGte:
		return ">=", true
	case knowledge.OpLt:
		return "<", true
	case knowledge.OpLte:
		return "<=", true
	}
	return "", false
}
