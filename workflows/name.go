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

// IngestID is the id of the workflow that ingests a document.
func IngestID(workspace, document string) string { return "ingest/" + workspace + "/" + document }

// RemoveID is the id of the workflow that removes a document.
func RemoveID(workspace, document string) string { return "remove/" + workspace + "/" + document }

// QueryID is the id of the workflow that answers a question.
func QueryID(workspace, run string) string { return "query/" + workspace + "/" + run }

// ToolID is the id of the workflow that runs a tool as a contract of its own.
func ToolID(workspace, run string) string { return "tool/" + workspace + "/" + run }
