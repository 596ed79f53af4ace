// Package config contains the settings of a server, their sources and their
// validation.
//
// A setting has one name in three spellings: posture.listen in the file,
// VIGIL_POSTURE_LISTEN in the environment, --posture-listen on the command
// line. The command line has precedence over the environment, the environment
// over the file, and the file over the default. An unknown name is an error in
// every source.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config contains all settings of a server.
type Config struct {
	DataDir   string        `yaml:"data_dir" default:"/var/lib/vigil" help:"Folder for the database, keys and certificates."`
	Database  string        `yaml:"database" secret:"url" help:"Database: postgres://user:password@host/name or sqlite:///path. Default: vigil.db in the data folder."`
	MasterKey string        `yaml:"master_key" help:"Key that wraps all others: file:PATH, env:NAME, aws-kms://ARN, gcp-kms://NAME or azure-kv://NAME. Default: master.key in the data folder, created by vigil init."`
	MinFreeMB int64         `yaml:"min_free_mb" name:"min-free-mb" default:"512" help:"Free space (MB) of the disk of the data folder below which events and requests for collections are refused and no collection begins; below a quarter of it, all changes but logins and removals."`
	TokenLife time.Duration `yaml:"token_life" default:"2160h" help:"Lifetime of API tokens that are created without an expiry."`
	Roles     string        `yaml:"roles" default:"api,collect,evaluate,stream" help:"Roles of this process, where several processes share a PostgreSQL database: api, collect, evaluate and stream, separated by commas."`
	Audit     Audit         `yaml:"audit" embed:"" prefix:"audit-"`
	Log       Log           `yaml:"log" embed:"" prefix:"log-"`
	Telemetry Telemetry     `yaml:"telemetry" embed:"" prefix:"telemetry-"`
	Posture   Posture       `yaml:"posture" embed:"" prefix:"posture-"`
	Desktop   Desktop       `yaml:"desktop" embed:"" prefix:"desktop-"`
}

// Audit contains the settings of the audit log.
type Audit struct {
	Kept       time.Duration `yaml:"kept" default:"9600h" help:"How long audit records are kept."`
	MaxRecords int64         `yaml:"max_records" default:"5000000" help:"Maximum number of audit records; about a kilobyte each."`
	Checkpoint string        `yaml:"checkpoint" help:"File outside the database by which the next start detects that the newest audit records are missing. Default: audit.checkpoint in the data folder."`

	CheckpointURL    string        `yaml:"checkpoint_url" name:"checkpoint-url" help:"Address (http or https) of a web server or object store that also stores the newest checkpoint: it is written with PUT, and read with GET at start."`
	CheckpointToken  string        `yaml:"checkpoint_token" secret:"reference" help:"Reference to its bearer token (file:PATH or env:NAME)."`
	CheckpointSyslog string        `yaml:"checkpoint_syslog" help:"Syslog server that receives checkpoints: unix:///dev/log, udp://HOST:PORT or tcp://HOST:PORT."`
	CheckpointEvery  time.Duration `yaml:"checkpoint_every" default:"1m" help:"Interval at which checkpoints are sent there."`
}

// Log contains the settings of the log.
type Log struct {
	Level  string `yaml:"level" default:"info" enum:"debug,info,warn,error" help:"Lowest level that is logged: debug, info, warn or error."`
	Format string `yaml:"format" default:"json" enum:"json,text" help:"Format of log lines: json or text."`
}

// Telemetry contains the settings of traces.
type Telemetry struct {
	TracesURL   string  `yaml:"traces_url" name:"traces-url" help:"Address of an OpenTelemetry collector that receives traces by OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces. Without it none are recorded."`
	TracesToken string  `yaml:"traces_token" secret:"reference" help:"Reference to the bearer token for it (file:PATH or env:NAME)."`
	Sample      float64 `yaml:"sample" default:"0.05" help:"Share of traces that are recorded, from 0 to 1."`
}

// Listener contains the address and certificate of a server.
type Listener struct {
	Listen       string `yaml:"listen" help:"Address to listen on."`
	TLSCert      string `yaml:"tls_cert" name:"tls-cert" help:"Certificate file (PEM). Default: a self-signed certificate, created at the first start."`
	TLSKey       string `yaml:"tls_key" name:"tls-key" help:"Key file (PEM) of the certificate."`
	PlainHTTP    bool   `yaml:"plain_http" name:"plain-http" help:"Serve plain HTTP. Only on loopback, unless insecure_http is set."`
	InsecureHTTP bool   `yaml:"insecure_http" name:"insecure-http" help:"Allow plain HTTP beyond loopback, for use behind a proxy that terminates TLS."`
	PublicURL    string `yaml:"public_url" name:"public-url" help:"Address that clients use, if it differs from the listen address."`

	TrustedProxies string `yaml:"trusted_proxies" name:"trusted-proxies" help:"Addresses and networks of reverse proxies, separated by commas. Their X-Forwarded-For header is trusted, so that limits apply to each client and not to the proxy."`

	Drain time.Duration `yaml:"drain" help:"How long to keep accepting requests after a stop signal, while /readyz is unready, so that load balancers send requests elsewhere first. At most 30s."`
}

// maxDrain leaves time for requests and jobs to end before service managers kill the process.
const maxDrain = 30 * time.Second

// Proxies returns the networks of trusted proxies.
func (l Listener) Proxies() ([]netip.Prefix, error) { return networks(l.TrustedProxies) }

// networks parses addresses and networks, separated by commas.
func networks(list string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range members(list) {
		if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// Posture contains the settings of the posture server.
type Posture struct {
	Enabled  bool `yaml:"enabled" default:"true" negatable:"" help:"Run the posture server."`
	Listener `yaml:",inline" embed:""`
	Workers  int `yaml:"workers" default:"8" help:"Number of accounts that are processed concurrently."`
	Rate     int `yaml:"rate" default:"100" help:"Requests per second that one token may send."`
	// CloudGateway is for development: a server that simulates every cloud. The
	// server shows a warning that its data are simulated.
	CloudGateway   string        `yaml:"cloud_gateway" help:"For development: address of a simulator of all clouds."`
	CloudGatewayCA string        `yaml:"cloud_gateway_ca" name:"cloud-gateway-ca" help:"Certificate authority (PEM) of the simulator."`
	CloudProxy     string        `yaml:"cloud_proxy" secret:"url" help:"URL of the HTTP proxy for calls to the clouds, such as http://proxy.example.com:3128. The environment is ignored."`
	CloudCA        string        `yaml:"cloud_ca" name:"cloud-ca" help:"File (PEM) of certificate authorities to trust in calls to the clouds, besides those of the system."`
	Timeout        time.Duration `yaml:"timeout" default:"30s" help:"Longest time a request may take after its body has arrived."`
	ChangesKept    time.Duration `yaml:"changes_kept" default:"2160h" help:"How long the change logs of removed resources are kept."`
	ResourceDirs   string        `yaml:"resource_dirs" help:"Folders with resource types of your own, separated by commas. See docs/own-types.md."`
	RuleDirs       string        `yaml:"rule_dirs" help:"Folders with rules of your own, separated by commas."`
	NotifyPrivate  bool          `yaml:"notify_private" help:"Also send notifications to this machine and to private networks."`
	Graph          Graph         `yaml:"graph" embed:"" prefix:"graph-"`
	Quota          Quota         `yaml:"quota" embed:"" prefix:"quota-"`
	SSO            SSO           `yaml:"sso" embed:"" prefix:"sso-"`
}

// Roles of a process that runs the posture server.
const (
	RoleAPI      = "api"      // serves requests
	RoleCollect  = "collect"  // reads accounts
	RoleEvaluate = "evaluate" // evaluates rules
	RoleStream   = "stream"   // receives events and reads the changed resources
)

// AllRoles are the default roles of a process.
var AllRoles = []string{RoleAPI, RoleCollect, RoleEvaluate, RoleStream}

// RoleList returns the roles of this process.
func (c *Config) RoleList() []string {
	if c.Roles == "" {
		return AllRoles
	}
	return members(c.Roles)
}

// Folders returns the folders in a comma-separated setting.
func Folders(list string) []string { return members(list) }

// members returns the elements of a comma-separated setting.
func members(list string) (all []string) {
	for element := range strings.SplitSeq(list, ",") {
		element = strings.TrimSpace(element)
		if element != "" {
			all = append(all, element)
		}
	}
	return all
}

// Graph limits the cost of graph queries. 0 means the default.
type Graph struct {
	Queries      int           `yaml:"queries" help:"Limit of concurrent expensive queries: graph queries, and counts that read many rows. Default: twice the processors, at least 4."`
	OrgQueries   int           `yaml:"org_queries" default:"4" help:"Limit of concurrent expensive queries of one organisation, always lower than the total."`
	TokenQueries int           `yaml:"token_queries" default:"2" help:"Limit of concurrent expensive queries of one token."`
	Waiting      int           `yaml:"waiting" default:"64" help:"Limit of queued expensive queries; more are refused at once."`
	Wait         time.Duration `yaml:"wait" default:"2s" help:"How long an expensive query is queued before it is refused."`
	Work         int64         `yaml:"work" default:"1000000" help:"Traversers and edges that one graph query may touch."`
	Results      int64         `yaml:"results" default:"10000" help:"Results that one graph query may have."`
	Time         time.Duration `yaml:"time" default:"10s" help:"How long one graph query may run."`
	MemoryMB     int64         `yaml:"memory_mb" name:"memory-mb" default:"64" help:"Memory that one graph query may take."`
	CacheMB      int64         `yaml:"cache_mb" name:"cache-mb" default:"256" help:"Memory for cached graphs that no query is using."`
}

// Quota limits what one organisation may use, in all processes together. 0 is no limit.
type Quota struct {
	Requests    int `yaml:"requests" default:"400" help:"Requests per second that all tokens of one organisation may send together. 0: no limit."`
	Accounts    int `yaml:"accounts" help:"Cloud accounts that one organisation may have. 0: no limit."`
	Collections int `yaml:"collections" help:"Collections of one organisation that run at the same time; others wait. Set it lower than the workers of all processes together where several organisations share the server. 0: no limit."`
	Waiting     int `yaml:"waiting" default:"1000" help:"Collections requested by users of one organisation that may wait; further requests are refused. 0: no limit."`
}

// The default listen addresses.
const (
	PostureListen = "127.0.0.1:8443"
	DesktopListen = "127.0.0.1:8444"
)

// Complete fills in the defaults that depend on other settings.
func (c *Config) Complete() {
	if c.Database == "" {
		c.Database = "sqlite://" + filepath.Join(c.DataDir, "vigil.db")
	}
	if c.MasterKey == "" {
		c.MasterKey = "file:" + filepath.Join(c.DataDir, "master.key")
	}
	if c.Audit.Checkpoint == "" {
		c.Audit.Checkpoint = filepath.Join(c.DataDir, "audit.checkpoint")
	}
	c.Posture.complete(PostureListen)
	c.Posture.SSO.complete(c.Posture.PublicURL)
	c.Desktop.complete(DesktopListen)
}

func (l *Listener) complete(listen string) {
	if l.Listen == "" {
		l.Listen = listen
	}
	if l.PublicURL == "" {
		scheme := "https"
		if l.PlainHTTP {
			scheme = "http"
		}
		l.PublicURL = scheme + "://" + l.Listen
	}
	l.PublicURL = strings.TrimRight(l.PublicURL, "/")
}

// Check returns all errors of the settings, each with the setting's name. It is
// not named Validate, because kong would call that before Complete.
func (c *Config) Check() error {
	var bad []error
	wrong := func(name, format string, args ...any) {
		bad = append(bad, fmt.Errorf("%s %s", name, fmt.Sprintf(format, args...)))
	}
	if c.Audit.CheckpointURL != "" && !isHTTPURL(c.Audit.CheckpointURL) {
		wrong("audit.checkpoint_url", "must be an http:// or https:// address")
	}
	if c.Audit.CheckpointSyslog != "" && !isSyslogURL(c.Audit.CheckpointSyslog) {
		wrong("audit.checkpoint_syslog", "must be unix:///PATH, udp://HOST:PORT or tcp://HOST:PORT")
	}
	if t := c.Audit.CheckpointToken; t != "" && !isReference(t) {
		wrong("audit.checkpoint_token", "%s", notReference("token"))
	}
	for _, problem := range c.Telemetry.problems() {
		wrong("telemetry."+problem[0], "%s", problem[1])
	}
	if !filepath.IsAbs(c.DataDir) {
		wrong("data_dir", "must be an absolute path")
	}
	if u, err := url.Parse(c.Database); err != nil || u.Scheme != "sqlite" && u.Scheme != "postgres" && u.Scheme != "postgresql" {
		wrong("database", "must begin with sqlite: or postgres:")
	}
	if kind, _, _ := strings.Cut(c.MasterKey, ":"); !slices.Contains([]string{"file", "env", "aws-kms", "gcp-kms", "azure-kv"}, kind) {
		wrong("master_key", "must begin with file:, env:, aws-kms:, gcp-kms: or azure-kv:")
	}
	for _, role := range c.RoleList() {
		if !slices.Contains(AllRoles, role) {
			wrong("roles", "must be some of %s, not %s", strings.Join(AllRoles, ", "), role)
		}
	}
	if !c.Posture.Enabled && !c.Desktop.Enabled {
		wrong("posture.enabled", "and desktop.enabled are both off, so that there is nothing to run")
	}
	for _, problem := range c.ranges() {
		wrong(problem[0], "%s", problem[1])
	}
	if (c.Posture.CloudGateway == "") != (c.Posture.CloudGatewayCA == "") {
		wrong("posture.cloud_gateway", "and cloud_gateway_ca must be set together")
	}
	if p := c.Posture.CloudProxy; p != "" && !isHTTPURL(p) {
		// The URL may contain a password, so it is not repeated.
		wrong("posture.cloud_proxy", "must be a URL such as http://proxy.example.com:3128")
	}
	for _, problem := range c.Posture.SSO.problems() {
		wrong("posture.sso."+problem[0], "%s", problem[1])
	}
	for name, list := range map[string]string{"posture.resource_dirs": c.Posture.ResourceDirs, "posture.rule_dirs": c.Posture.RuleDirs} {
		for _, folder := range Folders(list) {
			if !filepath.IsAbs(folder) {
				wrong(name, "must be absolute paths, separated by commas; %s is not absolute", folder)
			}
		}
	}
	if c.Desktop.Enabled && c.Desktop.Inventory == "" {
		wrong("desktop.inventory", "is required when the desktop server runs")
	}
	for _, problem := range c.Desktop.problems() {
		wrong("desktop."+problem[0], "%s", problem[1])
	}
	for name, l := range map[string]Listener{"posture": c.Posture.Listener, "desktop": c.Desktop.Listener} {
		for _, problem := range l.problems() {
			wrong(name+"."+problem[0], "%s", problem[1])
		}
	}
	return errors.Join(bad...)
}

// isHTTPURL reports whether s is an http:// or https:// URL with a host.
func isHTTPURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// isSyslogURL reports whether s is the address of a syslog server: a socket, or a host and port.
func isSyslogURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "unix":
		return u.Path != ""
	case "udp", "tcp":
		return u.Port() != ""
	}
	return false
}

// problems returns the errors of the settings, as pairs of setting and message.
func (t Telemetry) problems() [][2]string {
	var bad [][2]string
	if t.TracesURL != "" && !isHTTPURL(t.TracesURL) {
		bad = append(bad, [2]string{"traces_url", "must be an http:// or https:// address"})
	}
	if t.TracesToken != "" && !isReference(t.TracesToken) {
		bad = append(bad, [2]string{"traces_token", notReference("token")})
	}
	if !(t.Sample >= 0 && t.Sample <= 1) { // not the opposite comparisons, which are false for NaN
		bad = append(bad, [2]string{"sample", "must be from 0 to 1"})
	}
	return bad
}

// problems returns the errors of a listener, as pairs of setting and message.
func (l Listener) problems() [][2]string {
	var bad [][2]string
	host, _, err := net.SplitHostPort(l.Listen)
	if err != nil {
		bad = append(bad, [2]string{"listen", "must be host:port"})
	}
	if (l.TLSCert == "") != (l.TLSKey == "") {
		bad = append(bad, [2]string{"tls_cert", "and tls_key must be set together"})
	}
	if ip := net.ParseIP(host); l.PlainHTTP && !l.InsecureHTTP && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		bad = append(bad, [2]string{"plain_http", "is for loopback addresses; set insecure_http if a proxy terminates TLS"})
	}
	if _, err := l.Proxies(); err != nil {
		bad = append(bad, [2]string{"trusted_proxies", "must be addresses or networks such as 10.0.0.0/8, separated by commas"})
	}
	if l.Drain < 0 || l.Drain > maxDrain {
		bad = append(bad, [2]string{"drain", fmt.Sprintf("must be from 0s to %s", maxDrain)})
	}
	if !isHTTPURL(l.PublicURL) {
		bad = append(bad, [2]string{"public_url", "must be an http or https address"})
	}
	return bad
}
