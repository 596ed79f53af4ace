package main

import (
	"fmt"

	"vigil/internal/config"
)

// settingsFlags are the flags of commands that work on an installation.
type settingsFlags struct {
	config.Config `embed:""`
}

// effective returns the effective settings, or all errors in them.
func (f *settingsFlags) effective() (config.Config, error) {
	c := f.Config
	c.Complete()
	return c, c.Check()
}

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Report errors in the settings."`
	Print configPrintCmd `cmd:"" help:"Print the effective settings, with secrets masked."`
}

type configCheckCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *configCheckCmd) Run(e *environment) error {
	if _, err := c.effective(); err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, "the settings are valid")
	return nil
}

type configPrintCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *configPrintCmd) Run(e *environment) error {
	cfg, err := c.effective()
	if err != nil {
		return err
	}
	return config.Print(e.stdout, cfg)
}
