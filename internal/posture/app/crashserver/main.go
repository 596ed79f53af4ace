// Command crashserver is the posture server that the crash tests of package app
// start and kill. The tests build it without the race detector, under which it
// would spend most of its time starting and would rarely be killed during a write.
//
// It prints its address on the first line of standard output and then serves
// until it is killed or, after SIGTERM, has answered its requests. It collects from a
// simulated cloud in memory or, with -gateway ADDRESS, from the simulated AWS at that address.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture/app"
	"vigil/internal/posture/clouds"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/sim/memcloud"
)

func main() {
	dir := flag.String("dir", "", "data `folder`")
	database := flag.String("database", "", "`URL` of the database")
	gateway := flag.String("gateway", "", "`address` of the simulated AWS")
	ca := flag.String("ca", "", "`file` with the certificate of the simulated AWS")
	roles := flag.String("roles", "", "`roles` of the process, all by default")
	flag.Parse()
	conf := config.Config{DataDir: *dir, Database: *database, Roles: *roles}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, conf, *gateway, *ca); err != nil {
		fmt.Fprintln(os.Stderr, "crashserver:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, conf config.Config, gateway, ca string) error {
	conf.Posture = config.Posture{Enabled: true, Workers: 2, Rate: 1_000_000, Timeout: 30 * time.Second}
	conf.Posture.Listen, conf.Posture.PlainHTTP = "127.0.0.1:0", true
	conf.Complete()
	in, err := instance.Open(ctx, conf, time.Now)
	if err != nil {
		return err
	}
	o := app.Options{Install: in, Cloud: new(memcloud.Cloud), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Now: time.Now}
	if gateway != "" {
		if err := readFrom(&o, gateway, ca); err != nil {
			return err
		}
	}
	a, err := app.New(ctx, o)
	if err != nil {
		return err
	}
	url, err := a.Listen(ctx)
	if err != nil {
		return err
	}
	fmt.Println(url)
	return a.Serve(ctx)
}

// readFrom makes the server collect from the simulated AWS. The server's own AWS
// credentials come from the environment variables that the AWS SDK uses.
func readFrom(o *app.Options, gateway, ca string) error {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return err
	}
	all, err := clouds.New(clouds.Options{
		AWS:     aws.Identity{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY")},
		Gateway: &egress.Gateway{Address: gateway, CA: pem},
	})
	if err != nil {
		return err
	}
	o.Cloud, o.Sources, o.Client = all, all.Sources(), all.Client()
	return nil
}
