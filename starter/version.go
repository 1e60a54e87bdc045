package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is set by the linker in release builds.
var version = ""

type versionCmd struct {
	outputFlags
}

// Help returns the command's example.
func (versionCmd) Help() string { return "Example:\n\n    cairn version -o json" }

// Run prints the version.
func (v versionCmd) Run(a *app) error {
	if v.forPrograms() {
		return v.write(a, map[string]string{
			"version": versionName(), "go": compiler(), "os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	_, err := fmt.Fprintln(a.stdout, versionLine())
	return err
}

func versionLine() string {
	return fmt.Sprintf("cairn %s (%s %s/%s)", versionName(), compiler(), runtime.GOOS, runtime.GOARCH)
}

// compiler returns the version of Go, without the experiments of the build.
func compiler() string {
	name, _, _ := strings.Cut(runtime.Version(), " ")
	return name
}

// versionName returns the release's name, or the module version in the build
// information.
func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "(development)"
}
