package extract

import (
	"os/exec"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/confine"
)

// Confinement is how the children of a pool, and the tools that they run, are kept from
// the rest of the machine.
type Confinement int

const (
	// InNamespaces runs each child with its tools in namespaces that hold the system's
	// programs and the folder of the child. It fails with the errors of confine.Available.
	InNamespaces Confinement = iota
	// WithoutTools is for a system that refuses namespaces: a child restricts itself with
	// Landlock, where the kernel has it, and runs no tools.
	WithoutTools
	// Unconfined runs children and tools as any program of their user.
	Unconfined
)

// variables is the environment of a child. API keys must not reach it. Until it applies
// its settings it makes no garbage worth collecting: its collector would take a seventh
// of its start.
var variables = []string{"GOGC=off"}

// command returns the program of a child, and how parent and child name its folder.
// A child that warms the cache may write there.
func (cfg PoolConfig) command(folder string, warms bool) (*exec.Cmd, jobFolder, error) {
	if cfg.Confinement != InNamespaces {
		cmd := exec.Command(cfg.Command[0], cfg.Command[1:]...)
		cmd.Env = variables
		return cmd, jobFolder{folder, folder}, nil
	}
	program, err := exec.LookPath(cfg.Command[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, jobFolder{}, err
	}
	view := confine.View{Program: program, Folder: folder, Tools: cfg.Tools.Paths(), Hidden: cfg.Hidden}
	switch {
	case cfg.CacheDir == "":
	case warms:
		view.Writable = []string{cfg.CacheDir}
	default:
		view.ReadOnly = []string{cfg.CacheDir}
	}
	cmd := exec.Command(confine.Bubblewrap, confine.Arguments(view, variables, cfg.Command[1:]...)...)
	cmd.Env, cmd.Dir = []string{}, "/"
	return cmd, jobFolder{outside: folder, inside: confine.Folder}, nil
}
