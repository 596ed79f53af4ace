package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"vigil/internal/config"
	desktop "vigil/internal/desktop/app"
	"vigil/internal/instance"
	posture "vigil/internal/posture/app"
	"vigil/internal/posture/clouds"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/telemetry"
	"vigil/internal/telemetry/tracing"
)

type serveCmd struct {
	settingsFlags
}

// server is the posture or the desktop server.
type server interface {
	Listen(ctx context.Context) (url string, err error)
	Serve(ctx context.Context) error
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
	in, err := instance.Open(e.ctx, conf, time.Now)
	if err != nil {
		return e.untilStopped(err)
	}
	tracer, err := newTracer(conf.Telemetry, log)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	err = errors.Join(serveAll(e, in, log, tracer), in.Close())
	stop, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 5*time.Second)
	defer cancel()
	return e.untilStopped(errors.Join(err, tracer.Stop(stop)))
}

// newTracer returns the tracer of the settings, nil if traces are not recorded.
func newTracer(t config.Telemetry, log *slog.Logger) (*tracing.Tracer, error) {
	if t.TracesURL == "" {
		return nil, nil
	}
	token, err := secretOf(t.TracesToken)
	if err != nil {
		return nil, fmt.Errorf("telemetry.traces_token: %w", err)
	}
	return tracing.New(tracing.Options{
		URL: t.TracesURL, Token: token, Sample: t.Sample, Service: "vigil", Version: telemetry.ThisBuild(version).Version,
		Failed: func(err error) { log.Warn("traces were not sent", "error", err) },
	})
}

// secretOf returns the value that a reference to a secret names, "" if there is none.
func secretOf(reference string) (string, error) {
	kind, name, _ := strings.Cut(reference, ":")
	switch kind {
	case "":
		return "", nil
	case "env":
		return os.Getenv(name), nil
	}
	text, err := os.ReadFile(name)
	return strings.TrimSpace(string(text)), err
}

// serveAll runs the enabled servers until one fails or the process is stopped.
func serveAll(e *environment, in *instance.Installation, log *slog.Logger, tracer *tracing.Tracer) error {
	// Without a handler, SIGHUP would end the process. The unit file sends it for "systemctl reload".
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	var servers []startable
	if in.Config.Posture.Enabled {
		servers = append(servers, startable{"posture", func(ctx context.Context) (server, error) { return newPosture(ctx, in, log, tracer) }})
	}
	if in.Config.Desktop.Enabled {
		servers = append(servers, startable{"desktop", func(ctx context.Context) (server, error) { return newDesktop(ctx, in, log, tracer, hangups) }})
	} else {
		ctx, cancel := context.WithCancel(e.ctx)
		var logging sync.WaitGroup
		logging.Go(func() { logHangups(ctx, log, hangups) })
		defer logging.Wait()
		defer cancel()
	}
	return runServers(e.ctx, e.stdout, servers, func() {
		if err := notifyReady(); err != nil {
			log.WarnContext(e.ctx, "notifying systemd of readiness failed", "error", err)
		}
	})
}

// A startable is a server that is not built yet.
type startable struct {
	name  string
	build func(context.Context) (server, error)
}

// runServers starts servers one after another, calls ready, and runs them until one fails or ctx is done. If one cannot be started, it
// stops those before it, and waits for them: they use the database, which the caller closes.
func runServers(ctx context.Context, stdout io.Writer, servers []startable, ready func()) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range servers {
		built, err := s.build(ctx)
		url := ""
		if err == nil {
			url, err = built.Listen(ctx)
		}
		if err != nil {
			group.Go(func() error { return fmt.Errorf("start the %s server: %w", s.name, err) }) // cancels ctx
			return group.Wait()
		}
		fmt.Fprintf(stdout, "%s API at %s\n", s.name, url)
		group.Go(func() error { return built.Serve(ctx) })
	}
	ready()
	return group.Wait()
}

// logHangups logs each SIGHUP until ctx is done. Only the desktop server has settings, its inventory, that it can reload.
func logHangups(ctx context.Context, log *slog.Logger, hangups <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			log.InfoContext(ctx, "SIGHUP: the posture server has nothing to reload; restart it to change its settings")
		}
	}
}

func newPosture(ctx context.Context, in *instance.Installation, log *slog.Logger, tracer *tracing.Tracer) (server, error) {
	gateway, err := cloudGateway(in.Config.Posture.CloudGateway, in.Config.Posture.CloudGatewayCA)
	if err != nil {
		return nil, err
	}
	proxy, authorities, err := cloudProxy(in.Config.Posture)
	if err != nil {
		return nil, err
	}
	types, err := declared.Load(config.Folders(in.Config.Posture.ResourceDirs)...)
	if err != nil {
		return nil, fmt.Errorf("posture.resource_dirs: %w", err)
	}
	metrics := telemetry.NewRegistry(telemetry.ThisBuild(version))
	limits := collect.NewLimits(time.Now)
	all, err := clouds.New(clouds.Options{Catalog: types, Proxy: proxy, CA: authorities, Gateway: gateway, Limiter: limits, Metrics: metrics})
	if err != nil {
		return nil, err
	}
	warning := ""
	if gateway != nil {
		warning = "development: the clouds are simulated at " + gateway.Address
		log.WarnContext(ctx, "the clouds are simulated", "gateway", gateway.Address)
	}
	return posture.New(ctx, posture.Options{
		Install: in, Warning: warning, Cloud: all, Sources: all.Sources(), Client: all.Client(), Limits: limits, Log: log, Metrics: metrics, Tracer: tracer, Now: time.Now,
		Version: version, Desktop: func() string { return otherServer(in.Config.Desktop.Enabled, in.Config.Desktop.PublicURL) },
	})
}

// otherServer returns the URL of the other server for links in the console, or "" if it
// is disabled or has no public URL.
func otherServer(enabled bool, url string) string {
	if !enabled || strings.HasSuffix(url, ":0") {
		return ""
	}
	return url
}

// cloudGateway returns the gateway that replaces the clouds in development, if the
// settings have one.
func cloudGateway(address, authority string) (*egress.Gateway, error) {
	if address == "" {
		return nil, nil
	}
	ca, err := os.ReadFile(authority)
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority of the cloud gateway: %w", err)
	}
	return &egress.Gateway{Address: address, CA: ca}, nil
}

// cloudProxy returns the proxy for calls to the clouds and the certificate authorities
// that are trusted besides those of the system.
func cloudProxy(c config.Posture) (proxy *url.URL, authorities []byte, err error) {
	if c.CloudProxy != "" {
		if proxy, err = url.Parse(c.CloudProxy); err != nil {
			return nil, nil, errors.New("posture.cloud_proxy is not a URL")
		}
	}
	if c.CloudCA != "" {
		if authorities, err = os.ReadFile(c.CloudCA); err != nil {
			return nil, nil, fmt.Errorf("posture.cloud_ca: %w", err)
		}
	}
	return proxy, authorities, nil
}

// newDesktop returns the desktop server. It reloads its inventory on every signal from reload.
func newDesktop(ctx context.Context, in *instance.Installation, log *slog.Logger, tracer *tracing.Tracer, reload <-chan os.Signal) (server, error) {
	settings, err := desktop.SettingsOf(ctx, in.Config.Desktop)
	if err != nil {
		return nil, err
	}
	return desktop.New(ctx, desktop.Options{
		Install: in, Log: log, Metrics: telemetry.NewRegistry(telemetry.ThisBuild(version)), Tracer: tracer, Now: time.Now,
		Version: version, Build: version, Reload: reload, Settings: settings,
		Posture: func() string { return otherServer(in.Config.Posture.Enabled, in.Config.Posture.PublicURL) },
	})
}

// withInstallation opens the installation of the settings and runs use.
func (f *settingsFlags) withInstallation(ctx context.Context, use func(*instance.Installation) error) error {
	conf, err := f.effective()
	if err != nil {
		return err
	}
	in, err := instance.Open(ctx, conf, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(use(in), in.Close())
}
