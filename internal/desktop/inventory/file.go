package inventory

import "time"

// The types below are the structure of the file. The example in
// deploy/desktop-inventory.example.yaml explains each key.

type file struct {
	Version            int            `key:"version"`
	PeerToken          string         `key:"peer_token"`
	Administrators     []adminFile    `key:"administrators"`
	Policy             policyFile     `key:"policy"`
	Domains            []domainFile   `key:"domains"`
	ConnectionServers  []serverFile   `key:"connection_servers"`
	EventDatabase      *databaseFile  `key:"event_database"`
	Farms              []farmFile     `key:"farms"`
	Gateways           []gatewayFile  `key:"gateways"`
	SAMLAuthenticators []samlFile     `key:"saml_authenticators"`
	Pods               []podFile      `key:"pods"`
	SSOConnectors      []ssoFile      `key:"sso_connectors"`
	Composers          []composerFile `key:"composers"`
	VirtualCenters     []centerFile   `key:"virtual_centers"`
}

type adminFile struct {
	Domain string `key:"domain"`
	Group  string `key:"group"`
	SID    string `key:"sid"`
}

type policyFile struct {
	FailuresBeforeDown int           `key:"failures_before_down"`
	GiveUpAfter        int           `key:"give_up_after"`
	CertificateWarning time.Duration `key:"certificate_warning"`
	ReplicationGrace   time.Duration `key:"replication_grace"`
	GatewayInterval    time.Duration `key:"gateway_interval"`
	AgentInterval      time.Duration `key:"agent_interval"`
	FarmErrorPercent   int           `key:"farm_error_percent"`
}

type tlsFile struct {
	CAFile     string `key:"ca_file"`
	CAPEM      string `key:"ca_pem"`
	Thumbprint string `key:"thumbprint"`
}

type loginFile struct {
	Username string `key:"username"`
	Password string `key:"password"`
}

type domainFile struct {
	ID          string    `key:"id"`
	DNSName     string    `key:"dns_name"`
	NetBIOSName string    `key:"netbios_name"`
	SID         string    `key:"sid"`
	Controllers []string  `key:"controllers"`
	Security    string    `key:"security"`
	TLS         tlsFile   `key:"tls"`
	Bind        loginFile `key:"bind"`
	Primary     bool      `key:"primary"`
	Manual      bool      `key:"manual"`
	CloneOU     string    `key:"clone_ou"`
}

type serverFile struct {
	ID               string              `key:"id"`
	Name             string              `key:"name"`
	URL              string              `key:"url"`
	Self             bool                `key:"self"`
	TLS              tlsFile             `key:"tls"`
	SessionThreshold int                 `key:"session_threshold"`
	SecureGateways   []secureGatewayFile `key:"secure_gateways"`
}

type secureGatewayFile struct {
	Service string `key:"service"`
	Address string `key:"address"`
}

type databaseFile struct {
	ID       string    `key:"id"`
	Type     string    `key:"type"`
	Server   string    `key:"server"`
	Port     int       `key:"port"`
	Database string    `key:"database"`
	Login    loginFile `key:"login"`
	Prefix   string    `key:"prefix"`
	TLS      tlsFile   `key:"tls"`
	Plain    bool      `key:"plain"`
}

type farmFile struct {
	ID           string    `key:"id"`
	Name         string    `key:"name"`
	Type         string    `key:"type"`
	Source       string    `key:"source"`
	Enabled      *bool     `key:"enabled"`
	Applications int       `key:"applications"`
	ErrorPercent int       `key:"error_percent"`
	RDSServers   []rdsFile `key:"rds_servers"`
}

type rdsFile struct {
	ID          string `key:"id"`
	Name        string `key:"name"`
	Enabled     *bool  `key:"enabled"`
	MaxSessions int    `key:"max_sessions"`
	Address     string `key:"address"`
}

type gatewayFile struct {
	ID       string `key:"id"`
	Name     string `key:"name"`
	Address  string `key:"address"`
	Internal bool   `key:"internal"`
	Type     string `key:"type"`
}

type samlFile struct {
	ID               string  `key:"id"`
	Label            string  `key:"label"`
	MetadataURL      string  `key:"metadata_url"`
	AdministratorURL string  `key:"administrator_url"`
	SignerFile       string  `key:"signer_file"`
	TLS              tlsFile `key:"tls"`
}

type podFile struct {
	ID        string         `key:"id"`
	Name      string         `key:"name"`
	Site      string         `key:"site"`
	Endpoints []endpointFile `key:"endpoints"`
}

type endpointFile struct {
	ID      string  `key:"id"`
	Name    string  `key:"name"`
	URL     string  `key:"url"`
	Enabled *bool   `key:"enabled"`
	TLS     tlsFile `key:"tls"`
}

type ssoFile struct {
	ID                 string          `key:"id"`
	Name               string          `key:"name"`
	Enabled            *bool           `key:"enabled"`
	Domain             string          `key:"domain"`
	Template           string          `key:"template"`
	Primary            *enrollmentFile `key:"primary_enrollment_server"`
	Secondary          *enrollmentFile `key:"secondary_enrollment_server"`
	CertificateServers []string        `key:"certificate_servers"`
}

type enrollmentFile struct {
	ID      string  `key:"id"`
	DNSName string  `key:"dns_name"`
	Port    int     `key:"port"`
	TLS     tlsFile `key:"tls"`
}

type composerFile struct {
	ID             string   `key:"id"`
	Name           string   `key:"name"`
	URL            string   `key:"url"`
	TLS            tlsFile  `key:"tls"`
	VirtualCenters []string `key:"virtual_centers"`
}

type centerFile struct {
	ID                 string          `key:"id"`
	Server             string          `key:"server"`
	Port               int             `key:"port"`
	UseSSL             *bool           `key:"use_ssl"`
	Login              loginFile       `key:"login"`
	DisplayName        string          `key:"display_name"`
	Description        string          `key:"description"`
	Enabled            *bool           `key:"enabled"`
	VMCDeployment      *bool           `key:"vmc_deployment"`
	TLS                tlsFile         `key:"tls"`
	Limits             limitsFile      `key:"limits"`
	StorageAccelerator acceleratorFile `key:"storage_accelerator"`
	SESparse           bool            `key:"se_sparse_reclamation"`
	DesktopFolder      string          `key:"desktop_folder"`
}

type limitsFile struct {
	Provisioning             int `key:"provisioning"`
	PowerOperations          int `key:"power_operations"`
	InstantCloneProvisioning int `key:"instant_clone_provisioning"`
}

type acceleratorFile struct {
	Enabled            bool           `key:"enabled"`
	DefaultCacheSizeMB int            `key:"default_cache_size_mb"`
	HostOverrides      []overrideFile `key:"host_overrides"`
}

type overrideFile struct {
	CacheSizeMB int    `key:"cache_size_mb"`
	Path        string `key:"path"`
}
