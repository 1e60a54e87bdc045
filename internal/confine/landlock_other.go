//go:build !linux

package confine

// Restrict does nothing: only Linux has Landlock.
func Restrict(string, ...string) error { return nil }
