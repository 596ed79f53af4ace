package main

import (
	"fmt"
	"time"

	"vigil/internal/instance"
)

type initCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *initCmd) Run(e *environment) error {
	conf, err := c.effective()
	if err != nil {
		return err
	}
	if err := instance.Init(e.ctx, conf, time.Now); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "created an installation in %s; keep a copy of its master key separately from backups, and add an organisation with vigil admin org add\n", conf.DataDir)
	return nil
}
