// Package config holds the settings of a server, where they come from and what
// must be true of them.
//
// A setting has one name in three spellings: posture.listen in the file,
// VIGIL_POSTURE_LISTEN in the environment, --posture-listen on the command line.
// The command line wins over the environment, which wins over the file, which
// wins over the default. A name that does not exist is an error wherever it
// stands.
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

// Config is everything a server can be told.
type Config struct {
	DataDir   string        `yaml:"data_dir" default:"/var/lib/vigil" help:"Folder for the database, keys and certificates."`
	Database  string        `yaml:"database" secret:"url" help:"Database: postgres://user:password@host/name or sqlite:///path. Default: vigil.db in the data folder."`
	MasterKey string        `yaml:"master_key" help:"Key that wraps all others: file:PATH, env:NAME, aws-kms://ARN, gcp-kms://NAME or azure-kv://NAME. Default: master.key in the data folder, made by vigil init."`
	MinFreeMB int64         `yaml:"min_free_mb" name:"min-free-mb" default:"512" help:"Free space (MB) of the disk of the data folder below which events and new collections are refused; below a quarter of it, all changes but logins and removals."`
	TokenLife time.Duration `yaml:"token_life" default:"2160h" help:"How long API tokens are good for whose end is not said when they are made."`
	Roles     string        `yaml:"roles" default:"api,collect,evaluate,stream" help:"What this process does of the posture server's work, where several share a PostgreSQL database: api, collect, evaluate and stream, separated by commas."`
	Audit     Audit         `yaml:"audit" embed:"" prefix:"audit-"`
	Log       Log           `yaml:"log" embed:"" prefix:"log-"`
	Posture   Posture       `yaml:"posture" embed:"" prefix:"posture-"`
	Desktop   Desktop       `yaml:"desktop" embed:"" prefix:"desktop-"`
}

// Audit says how the audit log is kept.
type Audit struct {
	Kept       time.Duration `yaml:"kept" default:"9600h" help:"How long audit records are kept."`
	MaxRecords int64         `yaml:"max_records" default:"5000000" help:"Audit records that are kept at most; about a kilobyte each."`
	Checkpoint string        `yaml:"checkpoint" help:"File outside the database that shows at the next start whether the newest audit records are missing. Default: audit.checkpoint in the data folder."`

	CheckpointURL    string        `yaml:"checkpoint_url" name:"checkpoint-url" help:"Address (http or https) of a web server or object store that keeps the newest checkpoint too: it is PUT there, and read back with GET at start."`
	CheckpointToken  string        `yaml:"checkpoint_token" secret:"reference" help:"Where the bearer token for it is kept (file:PATH or env:NAME)."`
	CheckpointSyslog string        `yaml:"checkpoint_syslog" help:"Syslog server that is told checkpoints: unix:///dev/log, udp://HOST:PORT or tcp://HOST:PORT."`
	CheckpointEvery  time.Duration `yaml:"checkpoint_every" default:"1m" help:"Time between checkpoints that are sent there."`
}

// Log says what is logged and how.
type Log struct {
	Level  string `yaml:"level" default:"info" enum:"debug,info,warn,error" help:"Least level that is logged: debug, info, warn or error."`
	Format string `yaml:"format" default:"json" enum:"json,text" help:"Form of log lines: json or text."`
}

// Listener is where a server listens and with which certificate.
type Listener struct {
	Listen       string `yaml:"listen" help:"Address to listen on."`
	TLSCert      string `yaml:"tls_cert" name:"tls-cert" help:"Certificate file (PEM). Default: a certificate of our own, made on first start."`
	TLSKey       string `yaml:"tls_key" name:"tls-key" help:"Key file (PEM) of the certificate."`
	PlainHTTP    bool   `yaml:"plain_http" name:"plain-http" help:"Serve plain HTTP. Only on loopback, unless insecure_http is set."`
	InsecureHTTP bool   `yaml:"insecure_http" name:"insecure-http" help:"Allow plain HTTP beyond loopback, for use behind a proxy that speaks TLS."`
	PublicURL    string `yaml:"public_url" name:"public-url" help:"Address by which clients reach the server, when it is not the listen address."`

	TrustedProxies string `yaml:"trusted_proxies" name:"trusted-proxies" help:"Addresses and networks of reverse proxies, separated by commas. Their X-Forwarded-For header is believed, so that limits count each client and not the proxy."`
}

// Proxies returns the networks of trusted proxies.
func (l Listener) Proxies() ([]netip.Prefix, error) { return networks(l.TrustedProxies) }

// networks reads addresses and networks, separated by commas.
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

// Posture is the posture server.
type Posture struct {
	Enabled  bool `yaml:"enabled" default:"true" negatable:"" help:"Run the posture server."`
	Listener `yaml:",inline" embed:""`
	Workers  int `yaml:"workers" default:"8" help:"Accounts worked on at the same time."`
	Rate     int `yaml:"rate" default:"100" help:"Requests a second that one token may make."`
	// CloudGateway is for development alone: a server that pretends to be every
	// cloud. What is read through it is not real, and the server says so.
	CloudGateway   string        `yaml:"cloud_gateway" help:"For development: address of a simulator that stands in for all clouds."`
	CloudGatewayCA string        `yaml:"cloud_gateway_ca" name:"cloud-gateway-ca" help:"Authority (PEM) of the simulator's certificates."`
	Timeout        time.Duration `yaml:"timeout" default:"30s" help:"Longest time a request may take."`
	ChangesKept    time.Duration `yaml:"changes_kept" default:"2160h" help:"How long the change logs of resources that are gone are kept."`
	ResourceDirs   string        `yaml:"resource_dirs" help:"Folders with resource types of your own, separated by commas. See docs/own-types.md."`
	RuleDirs       string        `yaml:"rule_dirs" help:"Folders with rules of your own, separated by commas."`
	NotifyPrivate  bool          `yaml:"notify_private" help:"Also send notifications to this machine and to private networks."`
	Graph          Graph         `yaml:"graph" embed:"" prefix:"graph-"`
}

// Roles of a process that runs the posture server.
const (
	RoleAPI      = "api"      // answers requests
	RoleCollect  = "collect"  // reads accounts
	RoleEvaluate = "evaluate" // holds rules against them
	RoleStream   = "stream"   // takes events and reads what they name
)

// AllRoles are those of a process that is told nothing else.
var AllRoles = []string{RoleAPI, RoleCollect, RoleEvaluate, RoleStream}

// RoleList returns the roles of this process.
func (c *Config) RoleList() []string {
	if c.Roles == "" {
		return AllRoles
	}
	return members(c.Roles)
}

// Folders returns the folders of a setting that lists them.
func Folders(list string) []string { return members(list) }

// members returns what a setting lists, separated by commas.
func members(list string) (all []string) {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// Graph bounds what graph queries may cost. What is 0 has its default.
type Graph struct {
	Queries      int           `yaml:"queries" help:"Graph queries that run at the same time. Default: twice the processors, at least 4."`
	OrgQueries   int           `yaml:"org_queries" default:"4" help:"Graph queries of one organisation that run at the same time, always fewer than in all."`
	TokenQueries int           `yaml:"token_queries" default:"2" help:"Graph queries of one token that run at the same time."`
	Waiting      int           `yaml:"waiting" default:"64" help:"Graph queries that may wait for their turn; more are refused at once."`
	Wait         time.Duration `yaml:"wait" default:"2s" help:"How long a graph query waits for its turn before it is refused."`
	Work         int64         `yaml:"work" default:"1000000" help:"Traversers and edges that one graph query may touch."`
	Results      int64         `yaml:"results" default:"10000" help:"Results that one graph query may have."`
	Time         time.Duration `yaml:"time" default:"10s" help:"How long one graph query may run."`
	MemoryMB     int64         `yaml:"memory_mb" name:"memory-mb" default:"64" help:"Memory that one graph query may take."`
	CacheMB      int64         `yaml:"cache_mb" name:"cache-mb" default:"256" help:"Memory for the graphs of accounts that nobody uses right now."`
}

// The addresses that the servers listen on unless told otherwise.
const (
	PostureListen = "127.0.0.1:8443"
	DesktopListen = "127.0.0.1:8444"
)

// Complete fills in what follows from other settings.
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

// Check reports everything that is wrong, each by the name of its setting. It is
// not called Validate, which the command line would call before Complete.
func (c *Config) Check() error {
	var bad []error
	wrong := func(name, format string, args ...any) {
		bad = append(bad, fmt.Errorf("%s %s", name, fmt.Sprintf(format, args...)))
	}
	if u, err := url.Parse(c.Audit.CheckpointURL); c.Audit.CheckpointURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		wrong("audit.checkpoint_url", "must be an http:// or https:// address")
	}
	if u, err := url.Parse(c.Audit.CheckpointSyslog); c.Audit.CheckpointSyslog != "" && (err != nil ||
		(u.Scheme != "unix" || u.Path == "") && (u.Scheme != "udp" && u.Scheme != "tcp" || u.Port() == "")) {
		wrong("audit.checkpoint_syslog", "must be unix:///PATH, udp://HOST:PORT or tcp://HOST:PORT")
	}
	if t := c.Audit.CheckpointToken; t != "" && !isReference(t) {
		// The value is not repeated: it may be the secret itself.
		wrong("audit.checkpoint_token", "must say where the token is kept (file: or env:), not what it is")
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
			wrong("roles", "must be of %s: %s is none", strings.Join(AllRoles, ", "), role)
		}
	}
	if !c.Posture.Enabled && !c.Desktop.Enabled {
		wrong("posture.enabled", "and desktop.enabled are both off: there is nothing to run")
	}
	for _, problem := range c.ranges() {
		wrong(problem[0], "%s", problem[1])
	}
	if (c.Posture.CloudGateway == "") != (c.Posture.CloudGatewayCA == "") {
		wrong("posture.cloud_gateway", "and cloud_gateway_ca go together")
	}
	for name, list := range map[string]string{"posture.resource_dirs": c.Posture.ResourceDirs, "posture.rule_dirs": c.Posture.RuleDirs} {
		for _, folder := range Folders(list) {
			if !filepath.IsAbs(folder) {
				wrong(name, "must be absolute paths, separated by commas: %s is none", folder)
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

// problems returns what is wrong with a listener, as setting and complaint.
func (l Listener) problems() [][2]string {
	var bad [][2]string
	host, _, err := net.SplitHostPort(l.Listen)
	if err != nil {
		bad = append(bad, [2]string{"listen", "must be host:port"})
	}
	if (l.TLSCert == "") != (l.TLSKey == "") {
		bad = append(bad, [2]string{"tls_cert", "and tls_key go together"})
	}
	if ip := net.ParseIP(host); l.PlainHTTP && !l.InsecureHTTP && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		bad = append(bad, [2]string{"plain_http", "is for loopback addresses; set insecure_http where a proxy in front speaks TLS"})
	}
	if _, err := l.Proxies(); err != nil {
		bad = append(bad, [2]string{"trusted_proxies", "must be addresses or networks such as 10.0.0.0/8, separated by commas"})
	}
	if u, err := url.Parse(l.PublicURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		bad = append(bad, [2]string{"public_url", "must be an http or https address"})
	}
	return bad
}
