package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker in release builds.
var version = "dev"

type versionCmd struct{}

// Run implements the command.
func (versionCmd) Run(e *environment) error {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " (" + s.Value + ")"
			}
		}
	}
	_, err := fmt.Fprintf(e.stdout, "vigil %s%s %s %s/%s\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
