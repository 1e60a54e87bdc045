package knowledge

// InstanceLimits are what the operator of an instance lets requests and documents take. A
// project can have tighter ones.
type InstanceLimits struct {
	// FileBytes bounds one file.
	FileBytes int64
	// TextBytes bounds the text of a document, in a request or of a file that is text.
	TextBytes int64
	// RequestBytes bounds a request that brings documents, with all its files.
	RequestBytes int64
	// UserQueriesPerMinute bounds the questions of one user. Defaults to no bound.
	UserQueriesPerMinute int
	// KeyQueriesPerMinute bounds the questions of one API key that has no bound of its
	// own. Defaults to no bound.
	KeyQueriesPerMinute int
}

// InstanceFeatures are what an instance has for the configurations of its projects. All
// fields default to none.
type InstanceFeatures struct {
	// Reranker is the name of the instance's reranker.
	Reranker string
	// ChatModels are the only chat models that can be asked. With none, the endpoint may
	// serve models of any name.
	ChatModels []string
	// Tools are the names of the tools that the instance has for projects that set them.
	Tools []string
	// WebProvider is the search engine that the instance searches the web with.
	WebProvider WebProvider
	// Analyzer reports whether the instance has an analyzer that recognises personal data.
	Analyzer bool
	// Components says how to install what a tool needs and this machine lacks, by the name
	// of the tool.
	Components map[string]string
	// Offline is the offline embedding model, if the instance has no endpoint for
	// embeddings.
	Offline Embeddings
}
