package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"vigil/internal/config"
	"vigil/internal/posture/collect/egress"
)

func (d *doctor) certificate(name string, l config.Listener) diagnosis {
	if l.PlainHTTP {
		return skipped("the server speaks plain HTTP")
	}
	cert, key, selfSigned := d.tlsFiles(l)
	pair, err := tls.LoadX509KeyPair(cert, key)
	switch {
	case selfSigned && errors.Is(err, fs.ErrNotExist):
		return skipped("the server makes one when it first starts")
	case err != nil:
		return failed(err, fmt.Sprintf("set %s.tls_cert and %s.tls_key to a certificate and its key in PEM, which the user who runs the servers can read", name, name))
	}
	remaining := pair.Leaf.NotAfter.Sub(d.now())
	detail := fmt.Sprintf("%s ends at %s", cert, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	switch {
	case pair.Leaf.NotBefore.After(d.now()):
		return failed(fmt.Errorf("%s is not valid before %s", cert, pair.Leaf.NotBefore.UTC().Format(time.RFC3339)),
			"set the clock of this machine, or install a certificate that is valid now; the server reloads it automatically")
	case remaining <= 0 && selfSigned:
		return diagnosis{status: checkWarning, detail: detail, next: "restart the server, which generates a new one, and give that to clients (--ca)"}
	case remaining <= 0:
		return failed(errors.New(detail), "install a new certificate there; the server reloads it automatically")
	case remaining < certificateSoon:
		return diagnosis{status: checkWarning, detail: detail, next: "install a new certificate before that date"}
	}
	return passed("%s", detail)
}

// server checks whether a server responds or, if none is running, whether it could
// listen.
func (d *doctor) server(ctx context.Context, name string, l config.Listener) diagnosis {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", l.Listen)
	switch {
	case err == nil:
		if err := listener.Close(); err != nil {
			return failed(err, "try again")
		}
		return diagnosis{status: checkWarning, detail: "no server is running at " + l.Listen, next: "start it: systemctl start vigil, or vigil serve"}
	case errors.Is(err, syscall.EADDRINUSE):
		return d.ready(ctx, name, l)
	case errors.Is(err, syscall.EACCES):
		return failed(err, fmt.Sprintf("choose a port from 1024 on as %s.listen, or allow the service CAP_NET_BIND_SERVICE", name))
	}
	return failed(err, fmt.Sprintf("set %s.listen to an address of this machine", name))
}

// ready queries the readiness of the server at an address.
func (d *doctor) ready(ctx context.Context, name string, l config.Listener) diagnosis {
	host, port, err := net.SplitHostPort(l.Listen)
	if err != nil {
		return failed(err, "set "+name+".listen to HOST:PORT")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "https"
	if l.PlainHTTP {
		scheme = "http"
	}
	url := scheme + "://" + net.JoinHostPort(host, port) + "/readyz"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return failed(err, "set "+name+".listen to HOST:PORT")
	}
	// Do not verify the certificate: nothing secret is sent, and the certificate is for the
	// public address, not for the listen address that is asked here.
	transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	fix := fmt.Sprintf("stop the other program, or choose another address as %s.listen", name)
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return failed(fmt.Errorf("a program listens at %s that does not respond like a Vigil server: %w", l.Listen, err), fix)
	}
	defer answer.Body.Close()
	var response struct {
		Status string            `json:"status"`
		Checks map[string]string `json:"checks"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&response); err != nil || response.Status == "" {
		return failed(fmt.Errorf("another program than Vigil responds at %s", l.Listen), fix)
	}
	if answer.StatusCode != http.StatusOK {
		var bad []string
		for _, check := range slices.Sorted(maps.Keys(response.Checks)) {
			if response.Checks[check] != "ok" {
				bad = append(bad, check+": "+response.Checks[check])
			}
		}
		return failed(fmt.Errorf("the server at %s is not ready: %s", l.Listen, strings.Join(bad, "; ")), "see its log: journalctl -u vigil")
	}
	return passed("it answers at %s and is ready", l.Listen)
}

func (d *doctor) gateway(ctx context.Context) diagnosis {
	if _, err := cloudGateway(d.conf.Posture.CloudGateway, d.conf.Posture.CloudGatewayCA); err != nil {
		return failed(err, "set posture.cloud_gateway_ca to the authority of the simulator")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", d.conf.Posture.CloudGateway)
	if err != nil {
		return failed(err, "start the simulator, or remove posture.cloud_gateway to read the clouds themselves")
	}
	_ = conn.Close()
	return diagnosis{status: checkWarning, detail: "a simulator at " + d.conf.Posture.CloudGateway + " replaces all clouds", next: "for real accounts remove posture.cloud_gateway"}
}

// cloudHosts are the hosts that issue credentials in each cloud.
var cloudHosts = map[string]string{"aws": "sts.amazonaws.com", "azure": "login.microsoftonline.com", "gcp": "oauth2.googleapis.com"}

// cloud checks whether a cloud responds, over the same path as collections.
func (d *doctor) cloud(ctx context.Context, name string) diagnosis {
	host := cloudHosts[name]
	fix := "allow HTTPS from this machine to " + host + " in firewalls, and see that names can be resolved"
	gateway, err := cloudGateway(d.conf.Posture.CloudGateway, d.conf.Posture.CloudGatewayCA)
	if err != nil {
		return failed(err, "set posture.cloud_gateway_ca to the authority of the simulator")
	}
	proxy, authorities, err := cloudProxy(d.conf.Posture)
	if err != nil {
		return failed(err, "set posture.cloud_proxy and posture.cloud_ca to the proxy and to the file of its authority")
	}
	if proxy != nil {
		fix = "see that the proxy at " + proxy.Host + " is reachable and allows " + host + "; if it inspects TLS, set posture.cloud_ca to its authority"
	}
	transport, err := egress.New(egress.Options{Proxy: proxy, CA: authorities, Gateway: gateway})
	if err != nil {
		return failed(err, fix)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/", nil)
	if err != nil {
		return failed(err, fix)
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return failed(err, fix)
	}
	defer answer.Body.Close()
	// The time of a simulator behind a gateway does not count.
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil && gateway == nil {
		d.skew, d.checkedTime = at.Sub(d.now()), true
	}
	return passed("%s answers", host)
}
