package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
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
			"version": versionName(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	_, err := fmt.Fprintln(a.stdout, versionLine())
	return err
}

func versionLine() string {
	return fmt.Sprintf("cairn %s (%s %s/%s)", versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
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
