package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"vigil/internal/client"
	"vigil/internal/config"
	desktop "vigil/internal/desktop/store"
	"vigil/internal/diskspace"
	"vigil/internal/fault"
	"vigil/internal/instance"
	posture "vigil/internal/posture/store"
	"vigil/internal/sqldb"
	"vigil/internal/terminal"
)

type doctorCmd struct {
	settingsFlags
	Output string        `short:"o" enum:"table,json,yaml,csv" default:"table" help:"Output format: table, json, yaml or csv."`
	Clouds []string      `enum:"aws,azure,gcp" placeholder:"CLOUD" help:"Also check whether these clouds can be reached from here, and compare clocks: aws, azure, gcp."`
	Within time.Duration `default:"10s" help:"Time limit of one check."`
}

// The results of a check.
const (
	checkOK      = "ok"
	checkWarning = "warning"
	checkFailed  = "failed"
	checkSkipped = "skipped"
)

// A diagnosis is the result of one check, and what to do about it.
type diagnosis struct {
	check, status, detail, next string
}

func passed(format string, args ...any) diagnosis {
	return diagnosis{status: checkOK, detail: fmt.Sprintf(format, args...)}
}

func skipped(format string, args ...any) diagnosis {
	return diagnosis{status: checkSkipped, detail: fmt.Sprintf(format, args...)}
}

func failed(err error, next string) diagnosis {
	return diagnosis{status: checkFailed, detail: err.Error(), next: next}
}

// A doctor checks one installation. It changes nothing.
type doctor struct {
	conf        config.Config
	clouds      []string
	now         func() time.Time
	changed     time.Time     // when the newest migration of the database was applied
	skew        time.Duration // how far the clock of a cloud is ahead of that of this machine
	checkedTime bool          // whether skew is known
}

// Run implements the command.
func (c *doctorCmd) Run(e *environment) error {
	var all []diagnosis
	conf, err := c.effective()
	if err != nil {
		d := failed(err, "correct the named settings in the file or the environment, then run vigil config check")
		d.check = "settings"
		all = append(all, d)
	} else {
		all = (&doctor{conf: conf, clouds: c.Clouds, now: time.Now}).examine(e.ctx, c.Within)
	}
	if err := c.show(e.stdout, all); err != nil {
		return err
	}
	failures := 0
	for _, d := range all {
		if d.status == checkFailed {
			failures++
		}
	}
	if failures > 0 {
		return &exitError{exitFailed, fmt.Sprintf("%d of %d checks failed", failures, len(all))}
	}
	return nil
}

// examine runs all checks in the order of their dependencies.
func (d *doctor) examine(ctx context.Context, within time.Duration) (all []diagnosis) {
	type check struct {
		name string
		run  func(context.Context) diagnosis
	}
	checks := []check{
		{"settings", func(context.Context) diagnosis { return passed("they are in order; vigil config print shows them") }},
		{"data folder", d.folder}, {"disk space", d.space}, {"master key", d.master}, {"database", d.database},
	}
	for _, s := range []struct {
		name     string
		enabled  bool
		listener config.Listener
	}{{"posture", d.conf.Posture.Enabled, d.conf.Posture.Listener}, {"desktop", d.conf.Desktop.Enabled, d.conf.Desktop.Listener}} {
		if s.enabled {
			checks = append(checks,
				check{s.name + " certificate", func(context.Context) diagnosis { return d.certificate(s.name, s.listener) }},
				check{s.name + " server", func(ctx context.Context) diagnosis { return d.server(ctx, s.name, s.listener) }})
		}
	}
	if d.conf.Desktop.Enabled {
		checks = append(checks, check{"inventory", d.inventory})
	}
	if d.conf.Posture.CloudGateway != "" {
		checks = append(checks, check{"cloud gateway", d.gateway})
	}
	for _, cloud := range d.clouds {
		checks = append(checks, check{cloud, func(ctx context.Context) diagnosis { return d.cloud(ctx, cloud) }})
	}
	for _, c := range append(checks, check{"clock", d.clock}) {
		limited, cancel := context.WithTimeout(ctx, within)
		found := c.run(limited)
		cancel()
		found.check = c.name
		all = append(all, found)
	}
	return all
}

// show prints the diagnoses. In the table, the advice has its own line.
func (c *doctorCmd) show(w io.Writer, all []diagnosis) error {
	if c.Output != "table" {
		var records []client.Record
		for _, d := range all {
			records = append(records, client.Record{"check": d.check, "status": d.status, "detail": d.detail, "next": d.next})
		}
		return client.Render(w, c.Output, client.Columns("CHECK=check STATUS=status DETAIL=detail NEXT=next"), records)
	}
	style := terminal.StyleOf(w)
	colours := map[string]terminal.Colour{checkOK: terminal.Green, checkWarning: terminal.Yellow, checkFailed: terminal.Red, checkSkipped: terminal.Faint}
	for _, d := range all {
		fmt.Fprintf(w, "%s  %-19s  %s\n", style.Paint(colours[d.status], fmt.Sprintf("%-7s", d.status)), d.check, terminal.OneLine(d.detail))
		if d.next != "" {
			fmt.Fprintf(w, "         %-19s  %s\n", "", "do: "+d.next)
		}
	}
	return nil
}

func (d *doctor) folder(context.Context) diagnosis {
	dir := d.conf.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failed(fmt.Errorf("%s does not exist", dir), "for a new installation run vigil init; otherwise set data_dir to the folder of the installation")
	case err != nil:
		return failed(err, "run this as the user who runs the servers, such as sudo -u vigil vigil doctor")
	case !info.IsDir():
		return failed(fmt.Errorf("%s is not a folder", dir), "set data_dir to the folder of the installation")
	case unix.Access(dir, unix.R_OK|unix.W_OK|unix.X_OK) != nil:
		return failed(fmt.Errorf("this user cannot write to %s", dir), "run this as the user who runs the servers, such as sudo -u vigil vigil doctor, or give it the folder with chown")
	case info.Mode().Perm()&0o022 != 0:
		return failed(fmt.Errorf("other users can change the files in %s (mode %04o)", dir, info.Mode().Perm()), "chmod 700 "+dir)
	}
	return passed("%s", dir)
}

func (d *doctor) space(context.Context) diagnosis {
	watch := diskspace.New(d.conf.DataDir, d.conf.MinFreeMB<<20)
	free, err := watch.Free()
	if err != nil {
		return skipped("there is no data folder to look at")
	}
	if notice := watch.Notice(); notice != "" {
		status := checkWarning
		if watch.Level() == diskspace.Critical {
			status = checkFailed
		}
		return diagnosis{status: status, detail: notice, next: "make room on the disk of " + d.conf.DataDir + ", or move data_dir to a larger one"}
	}
	return passed("%d MB are free; servers want %d", free>>20, d.conf.MinFreeMB)
}

func (d *doctor) master(ctx context.Context) diagnosis {
	if err := instance.CheckMaster(ctx, d.conf); err != nil {
		return failed(err, "put the copy of the master key back, or set master_key to where it is; only a new installation gets a new one, by vigil init")
	}
	kind, _, _ := strings.Cut(d.conf.MasterKey, ":")
	return passed("it can be read (%s)", kind)
}

func (d *doctor) database(ctx context.Context) diagnosis {
	var servers []instance.Migrate
	if d.conf.Posture.Enabled {
		servers = append(servers, posture.Migrate)
	}
	if d.conf.Desktop.Enabled {
		servers = append(servers, desktop.Migrate)
	}
	changed, err := instance.CheckDatabase(ctx, d.conf, servers...)
	d.changed = changed
	switch {
	case err == nil:
		return passed("it answers, and its tables are up to date")
	case errors.Is(err, sqldb.ErrPending):
		return diagnosis{status: checkWarning, detail: err.Error(), next: "make a backup (vigil admin backup FILE, or pg_dump); the servers migrate the database when they start"}
	case errors.Is(err, fs.ErrNotExist), fault.Is(err, fault.NotFound):
		return failed(err, "restore the backup; if this is a new installation run vigil init; or set database to where it is")
	case errors.Is(err, fs.ErrPermission):
		return failed(err, "run this as the user who runs the servers, such as sudo -u vigil vigil doctor")
	case strings.Contains(err.Error(), "newer version"):
		return failed(err, "install the version of vigil that wrote it, or a newer one")
	}
	return failed(err, "see that the database server runs and that the setting database names it, with a user that may log in")
}

// certificateSoon is how long before its expiry a certificate leads to a warning.
const certificateSoon = 30 * 24 * time.Hour

func (d *doctor) inventory(context.Context) diagnosis {
	f, err := os.Open(d.conf.Desktop.Inventory)
	if err != nil {
		return failed(err, "set desktop.inventory to the file that describes the desktop environment; see docs/desktop.md")
	}
	if err := f.Close(); err != nil {
		return failed(err, "check the disk for errors")
	}
	return passed("%s can be read; vigil desktop check looks at everything in it", d.conf.Desktop.Inventory)
}

// clockTolerance is the maximum error of the clock. Clouds reject signatures with a
// wrong time, AWS from five minutes on.
const clockTolerance = 2 * time.Minute

func (d *doctor) clock(context.Context) diagnosis {
	now := d.now()
	fix := "set the clock and keep it right, such as with timedatectl set-ntp true"
	switch {
	case now.Add(clockTolerance).Before(d.changed):
		return failed(fmt.Errorf("the time is %s here, but the database was changed at %s", now.UTC().Format(time.RFC3339), d.changed.Format(time.RFC3339)), fix)
	case d.checkedTime && d.skew.Abs() > clockTolerance:
		return failed(fmt.Errorf("the clock differs by %s from that of a cloud", d.skew.Round(time.Second)), fix)
	case d.checkedTime:
		return passed("it agrees with that of a cloud")
	case d.changed.IsZero():
		return skipped("there is nothing to compare it with; --clouds compares it with those of clouds")
	}
	return passed("it is not before the last change of the database; --clouds compares it with others")
}

// tlsFiles returns the paths of the certificate and the key of a server, and whether
// the server generates them itself.
func (d *doctor) tlsFiles(l config.Listener) (cert, key string, selfSigned bool) {
	dir := filepath.Join(d.conf.DataDir, "tls")
	return cmp.Or(l.TLSCert, filepath.Join(dir, "tls.crt")), cmp.Or(l.TLSKey, filepath.Join(dir, "tls.key")), l.TLSCert == ""
}
