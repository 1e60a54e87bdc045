package embedded

// Guard lets tests reach guard.
var Guard = guard

// CreateFullVisibility creates a visibility database with all the indexes of the
// server's own schema, as versions without reduceIndexes left it.
func CreateFullVisibility(dir string) error { return createDatabase(visibilityPath(dir), nil) }
