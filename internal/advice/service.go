package advice

// OnService returns the next step where a service that the server needs is down.
func OnService(name string) string {
	setting := map[string]string{"temporal": "temporal.address", "database": "database.url", "index": "vector.url", "blobs": "blob.url", "scanner": "scan.clamd"}[name]
	if setting == "" {
		return "look for its name in the server's log"
	}
	return "check that the service of " + setting + " runs; the server's log has the cause"
}

// LostIndex is why an index lacks published documents.
const LostIndex = "it has no passage of a document that is published: it was lost, or vector.url has changed"
