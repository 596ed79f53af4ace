package main

import (
	"vigil/internal/demo"
	"vigil/internal/telemetry"
)

type demoCmd struct {
	ReadyFile     string `placeholder:"FILE" help:"File to write addresses, tokens and simulated accounts to (JSON) once everything is running."`
	EnvFile       string `placeholder:"FILE" help:"File to write the address and API token of the posture server to, as variables for a shell, once everything is running."`
	Database      string `placeholder:"URL" help:"Database to use instead of a temporary SQLite file: postgres://..."`
	Listen        string `default:"127.0.0.1:0" help:"Address of the posture server; port 0 selects a free one."`
	DesktopListen string `default:"127.0.0.1:0" help:"Address of the desktop server; port 0 selects a free one."`
	LogLevel      string `default:"warn" enum:"debug,info,warn,error" help:"Minimum level of log messages: debug, info, warn or error."`
}

// Run implements the command.
func (c *demoCmd) Run(e *environment) error {
	log, err := telemetry.NewLog(e.stderr, telemetry.LogOptions{Format: "text", Level: c.LogLevel})
	if err != nil {
		return err
	}
	return e.untilStopped(demo.Run(e.ctx, demo.Options{
		ReadyFile: c.ReadyFile, EnvFile: c.EnvFile, Database: c.Database, Listen: c.Listen, DesktopListen: c.DesktopListen, Out: e.stdout, Log: log, Version: version,
	}))
}
