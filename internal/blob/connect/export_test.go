package connect

// NewClient is newClient for tests.
var NewClient = newClient
