package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"vigil/internal/client"
	"vigil/internal/fault"
	"vigil/internal/terminal"
)

// browserToken logs in through a browser: it prints a code that the user confirms in the
// console. It returns the device token, which is an API token once the user has confirmed.
func (c *loginCmd) browserToken(e *environment, address string) (string, error) {
	to, err := client.New(client.Profile{URL: address, CA: c.CA}, client.Options{Version: version})
	if err != nil {
		return "", err
	}
	var started struct {
		DeviceToken      string
		UserCode         string
		VerificationPath string
		ExpiresIn        int
		Interval         int
	}
	if err := to.Public(e.ctx, "/v1/device-logins", client.Record{"clientName": clientName()}, &started); err != nil {
		return "", err
	}
	page := address + started.VerificationPath
	fmt.Fprintf(e.stderr, "Open %s\nlog in, and confirm the code %s\n", page, started.UserCode)
	if terminal.Is(e.stderr) {
		openBrowser(e.ctx, page)
	}
	ctx, cancel := context.WithTimeout(e.ctx, time.Duration(started.ExpiresIn)*time.Second)
	defer cancel()
	for {
		var now struct{ State string }
		err := to.Public(ctx, "/v1/device-logins/state", client.Record{"deviceToken": started.DeviceToken}, &now)
		switch {
		case e.ctx.Err() != nil:
			return "", e.ctx.Err()
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return "", fault.New(fault.Unauthenticated, "the code was not confirmed in time; run vigil login again")
		case err != nil:
			return "", err
		case now.State == "approved":
			return started.DeviceToken, nil
		case now.State == "denied":
			return "", fault.New(fault.Unauthenticated, "the login was refused in the console")
		}
		// If wait fails because the code has expired, the next iteration returns the error for that.
		if err := wait(ctx, time.Duration(started.Interval)*time.Second); err != nil && e.ctx.Err() != nil {
			return "", err
		}
	}
}

// clientName describes this program to the user who confirms the login.
func clientName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "vigil command line"
	}
	return "vigil command line on " + host
}

// openBrowser opens an address if the machine has a desktop. The address is also
// printed, so a failure does not matter.
func openBrowser(ctx context.Context, address string) {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	} else if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	_ = exec.CommandContext(ctx, program, address).Start()
}
