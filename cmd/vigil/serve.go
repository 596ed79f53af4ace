package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vigil/internal/install"
	"vigil/internal/posture/app"
	"vigil/internal/telemetry"
)

type serveCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *serveCmd) Run(e *environment) error {
	conf, err := c.effective()
	if err != nil {
		return err
	}
	log, err := telemetry.NewLog(e.stderr, telemetry.LogOptions{Format: conf.Log.Format, Level: conf.Log.Level})
	if err != nil {
		return err
	}
	in, err := install.Open(e.ctx, conf, time.Now)
	if err != nil {
		return err
	}
	server, err := app.New(e.ctx, app.Options{
		Install: in, Cloud: nil, Log: log, Metrics: telemetry.NewRegistry(telemetry.ThisBuild(version)), Now: time.Now,
	})
	if err != nil {
		return errors.Join(err, in.Close())
	}
	url, err := server.Listen(e.ctx)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	fmt.Fprintln(e.stdout, "posture API at", url)
	return errors.Join(server.Serve(e.ctx), in.Close())
}

// withInstallation runs f on the installation that the settings describe.
func (f *settingsFlags) withInstallation(ctx context.Context, use func(*install.Installation) error) error {
	conf, err := f.effective()
	if err != nil {
		return err
	}
	in, err := install.Open(ctx, conf, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(use(in), in.Close())
}
