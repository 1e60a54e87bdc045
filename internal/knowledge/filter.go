package knowledge

// Operator compares a field with a value.
type Operator string

// The operators of a filter.
const (
	OpEq       Operator = "eq"
	OpNe       Operator = "ne"
	OpIn       Operator = "in"
	OpNin      Operator = "nin"
	OpGt       Operator = "gt"
	OpGte      Operator = "gte"
	OpLt       Operator = "lt"
	OpLte      Operator = "lte"
	OpContains Operator = "contains"
	OpExists   Operator = "exists"
)

// Condition is one comparison of a filter. Value is a string, float64, bool,
// or a slice of these, as encoding/json gives them.
type Condition struct {
	Field string   `json:"field"` // tags, documentId, name, language, createdAt, classification, metadata.<key>
	Type  Operator `json:"type"`
	Value any      `json:"value"`
}

// Filter narrows a search; all its conditions hold. An empty Filter narrows
// nothing (permission is not a filter's matter).
type Filter []Condition

// Hit is one chunk that a leg of the index found. Higher Score is better; the
// scores of two legs cannot be compared.
type Hit struct {
	ChunkID    string
	DocumentID string
	Version    int
	Score      float64
}
