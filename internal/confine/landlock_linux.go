package confine

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
)

// Restrict keeps this process, for the rest of its life, from all files but those below
// the given folders, which it may read, and the one that it may write, "" = none, and from
// listening and connecting. It does what the kernel can: nothing before Linux 5.13. A path that does
// not exist is left out.
func Restrict(folder string, readable ...string) error {
	var rules []landlock.Rule
	if folder != "" {
		rules = append(rules, landlock.RWDirs(folder))
	}
	for _, path := range readable {
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			rules = append(rules, landlock.RODirs(path))
		default:
			rules = append(rules, landlock.ROFiles(path))
		}
	}
	if err := landlock.V5.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("restrict this process with Landlock: %w", err)
	}
	return nil
}
