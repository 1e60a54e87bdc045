package workflows

import "go.temporal.io/sdk/temporal"

// The task queues: one for each class of work.
const (
	QueueQuery  = "query"
	QueueIngest = "ingest"
)

// The search attributes by which an operator finds workflows.
const (
	AttributeWorkspace = "CairnWorkspace"
	AttributeProject   = "CairnProject"
	AttributeDocument  = "CairnDocument"
	AttributeStage     = "CairnStage"
	AttributeStatus    = "CairnStatus"
)

// The typed keys of the search attributes.
var (
	KeyWorkspace = temporal.NewSearchAttributeKeyKeyword(AttributeWorkspace)
	KeyProject   = temporal.NewSearchAttributeKeyKeyword(AttributeProject)
	KeyDocument  = temporal.NewSearchAttributeKeyKeyword(AttributeDocument)
	KeyStage     = temporal.NewSearchAttributeKeyKeyword(AttributeStage)
	KeyStatus    = temporal.NewSearchAttributeKeyKeyword(AttributeStatus)
	KeyBuilds    = temporal.NewSearchAttributeKeyKeywordList("BuildIds") // Temporal's own: which builds of the workers ran it
)
