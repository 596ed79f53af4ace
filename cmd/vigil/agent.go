package main

import (
	"strings"
	"time"

	"vigil/internal/desktop/agent"
	"vigil/internal/telemetry"
)

type agentCmd struct {
	Server     string `required:"" placeholder:"URL" help:"Address (https) of the desktop server."`
	CAFile     string `name:"ca-file" type:"existingfile" help:"Certificate authority (PEM) of the server's certificate. Default: those of this machine."`
	Thumbprint string `help:"SHA-256 of the server's certificate, which is then accepted without checking its issuer."`
	TokenFile  []byte `type:"filecontent" help:"File with the enrolment token; needed only for the first start."`
	StateDir   string `default:"/var/lib/vigil-agent" type:"path" help:"Folder for key and certificate."`
	RDPAddress string `name:"rdp-address" help:"host:port of the RDP listener to check. Default: not checked."`
	LogLevel   string `default:"info" enum:"debug,info,warn,error" help:"Minimum level of log messages: debug, info, warn or error."`
}

// Run implements the command.
func (c *agentCmd) Run(e *environment) error {
	log, err := telemetry.NewLog(e.stderr, telemetry.LogOptions{Format: "text", Level: c.LogLevel})
	if err != nil {
		return err
	}
	return e.untilStopped(agent.Run(e.ctx, agent.Options{
		Server: c.Server, CAFile: c.CAFile, Thumbprint: c.Thumbprint, Token: strings.TrimSpace(string(c.TokenFile)), StateDir: c.StateDir,
		RDPAddress: c.RDPAddress, Version: version, Build: version, Now: time.Now, Log: log,
	}))
}
