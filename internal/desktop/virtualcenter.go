package desktop

import (
	"cmp"
	"time"
)

// A VirtualCenter manages virtualization hosts.
type VirtualCenter struct {
	ID                 ID
	Name               string // shown by the monitor
	ServerName         string
	Port               int
	UseSSL             bool
	UserName           string
	Password           SecretRef
	DisplayName        string
	Description        string
	Enabled            bool
	VMCDeployment      *bool
	Trust              Trust
	Limits             VirtualCenterLimits
	StorageAccelerator StorageAccelerator
	SESparse           bool
	DesktopFolder      string // inventory path below which virtual machines count as desktops; empty for all
}

// VirtualCenterLimits limits the concurrent operations of a virtual center.
type VirtualCenterLimits struct {
	Provisioning             int32 `json:"provisioning_limit"`
	PowerOperations          int32 `json:"power_operations_limit"`
	InstantCloneProvisioning int32 `json:"instant_clone_engine_provisioning_limit"`
}

// DefaultVirtualCenterLimits returns the limits of a virtual center without
// configured ones.
func DefaultVirtualCenterLimits() VirtualCenterLimits { return VirtualCenterLimits{20, 50, 20} }

// StorageAccelerator configures the read cache of hosts.
type StorageAccelerator struct {
	Enabled            bool           `json:"enabled"`
	DefaultCacheSizeMB *int32         `json:"default_cache_size_mb,omitempty"`
	HostOverrides      []HostOverride `json:"host_overrides"`
}

// HostOverride is the cache size of one host.
type HostOverride struct {
	CacheSizeMB int32  `json:"cache_size_mb"`
	Path        string `json:"path"`
}

// The limits of a cache size.
const (
	MinCacheSizeMB = 100
	MaxCacheSizeMB = 2048
)

// VirtualCenterInfo describes a virtual center's configuration in the API.
type VirtualCenterInfo struct {
	ID                  ID                   `json:"id"`
	ServerName          string               `json:"server_name"`
	Port                int32                `json:"port"`
	UseSSL              bool                 `json:"use_ssl"`
	UserName            string               `json:"user_name"`
	DisplayName         string               `json:"display_name,omitempty"`
	Description         string               `json:"description,omitempty"`
	Enabled             bool                 `json:"enabled"`
	InstanceUUID        string               `json:"instance_uuid,omitempty"`
	Version             string               `json:"version"`
	VMCDeployment       *bool                `json:"vmc_deployment,omitempty"`
	Limits              VirtualCenterLimits  `json:"limits"`
	StorageAccelerator  StorageAccelerator   `json:"storage_accelerator_data"`
	SESparse            bool                 `json:"se_sparse_reclamation_enabled"`
	CertificateOverride *CertificateOverride `json:"certificate_override,omitempty"`
}

// CertificateOverride is a certificate that is accepted for a virtual center.
type CertificateOverride struct {
	Certificate string `json:"certificate"`
	Type        string `json:"type"` // PEM
}

// VirtualCenterReading is the result of reading a virtual center.
type VirtualCenterReading struct {
	APIVersion    string
	Version       string
	Build         string
	InstanceUUID  string
	DesktopsCount int
	Hosts         []Host
	Datastores    []Datastore
}

// Kind implements [Reading].
func (VirtualCenterReading) Kind() Kind { return KindVirtualCenter }

// VirtualCenterMonitor is the monitor record of a virtual center.
type VirtualCenterMonitor struct {
	ID            ID                    `json:"id"`
	Name          string                `json:"name"`
	DesktopsCount int32                 `json:"desktops_count"`
	Details       VirtualCenterDetails  `json:"details"`
	Servers       []VirtualCenterServer `json:"connection_servers"`
	Datastores    []Datastore           `json:"datastores"`
	Hosts         []Host                `json:"hosts"`
	Status        Health                `json:"status"`
	Freshness
	views []ServerView
}

// VirtualCenterDetails describes the software of a virtual center.
type VirtualCenterDetails struct {
	APIVersion string `json:"api_version"`
	Build      string `json:"build"`
	Version    string `json:"version"`
}

// VirtualCenterServer is the status of a virtual center as one connection
// server sees it.
type VirtualCenterServer struct {
	ID                 ID                  `json:"id"`
	Name               string              `json:"name"`
	Status             VirtualCenterStatus `json:"status"`
	ThumbprintAccepted bool                `json:"thumbprint_accepted"`
	Certificate        *Certificate        `json:"certificate,omitempty"`
}

// Datastore is a datastore of a virtual center.
type Datastore struct {
	Details     DatastoreDetails `json:"details"`
	CapacityMB  int32            `json:"capacity_mb"`
	FreeSpaceMB int32            `json:"free_space_mb"`
	Status      DatastoreStatus  `json:"status"`
	Type        DatastoreType    `json:"type"`
}

// DatastoreDetails identifies a datastore.
type DatastoreDetails struct {
	Name string `json:"name"`
	Path string `json:"path"` // unique within the virtual center
	URL  string `json:"url"`
}

// Host is a virtualization host of a virtual center.
type Host struct {
	Details      HostDetails `json:"details"`
	CPUCoreCount *int32      `json:"cpu_core_count,omitempty"`
	CPUMHz       *int32      `json:"cpu_mhz,omitempty"`
	MemorySizeMB *int32      `json:"memory_size_mb,omitempty"`
	Status       HostStatus  `json:"status"`
}

// HostDetails identifies a host and its software.
type HostDetails struct {
	Name        string   `json:"name"`
	ClusterName string   `json:"cluster_name"`
	APIVersion  string   `json:"api_version"`
	Version     string   `json:"version"`
	VGPUTypes   []string `json:"vgpu_types"`
}

// VirtualCenterView derives this server's own view of a virtual center.
func (p Policy) VirtualCenterView(vc VirtualCenter, s Snapshot[VirtualCenterReading]) View {
	v := View{Kind: KindVirtualCenter, ID: vc.ID, Certificate: s.Certificate}
	v.ThumbprintAccepted = s.Certificate != nil && s.Certificate.Accepted
	v.Status = string(p.virtualCenterStatus(s))
	switch {
	case !s.Tried():
		v.Reasons = []string{"not connected yet"}
	case v.Status != string(VirtualCenterOK):
		v.Reasons = []string{s.Failure.Reason}
	}
	return v
}

func (p Policy) virtualCenterStatus(s Snapshot[VirtualCenterReading]) VirtualCenterStatus {
	f := s.Failing(p.FailuresBeforeDown)
	switch {
	case !s.Tried():
		return VirtualCenterNotYetConnected
	case f == nil:
		return VirtualCenterOK
	case f.Cause == Unreachable && s.EverRead() && s.Failures < p.GiveUpAfter:
		return VirtualCenterReconnecting
	case f.Cause == Refused:
		return VirtualCenterInvalidCredentials
	case f.Cause == Denied:
		return VirtualCenterCannotLogin
	}
	return VirtualCenterDown
}

// VirtualCenterRecord derives the monitor record of a virtual center from the
// views of all servers. While the center cannot be read, its last known hosts and
// datastores are listed with unknown status.
func (p Policy) VirtualCenterRecord(vc VirtualCenter, s Snapshot[VirtualCenterReading], views []ServerView, now time.Time) VirtualCenterMonitor {
	m := VirtualCenterMonitor{
		ID: vc.ID, Name: vc.Name,
		DesktopsCount: Count(int64(s.Good.DesktopsCount)),
		Details:       VirtualCenterDetails{s.Good.APIVersion, s.Good.Build, s.Good.Version},
		Servers:       []VirtualCenterServer{},
		Datastores:    append([]Datastore{}, s.Good.Datastores...),
		Hosts:         append([]Host{}, s.Good.Hosts...),
		Status:        healthOfViews(KindVirtualCenter, views),
		views:         views,
	}
	if !vc.Enabled {
		m.Status = HealthDisabled
	}
	for i := range m.Hosts {
		if m.Hosts[i].Details.VGPUTypes == nil {
			m.Hosts[i].Details.VGPUTypes = []string{}
		}
	}
	if p.virtualCenterStatus(s) != VirtualCenterOK {
		m.markUnknown()
	}
	attention := m.unreachable()
	attention = append(attention, p.expiringCertificates(now, certificates("", s.Certificate)...)...)
	if len(attention) > 0 && m.Status == HealthOK {
		m.Status = HealthWarning
	}
	m.Freshness = fresh(MillisOf(s.At), m.Status, append(viewReasons(views), attention...)...)
	for _, v := range views {
		m.Servers = append(m.Servers, VirtualCenterServer{
			v.ServerID, v.ServerName, VirtualCenterStatus(cmp.Or(v.View.Status, string(VirtualCenterUnknown))),
			v.View.ThumbprintAccepted, v.View.Certificate,
		})
	}
	return m
}

// markUnknown sets the statuses of all hosts and datastores to unknown.
func (m *VirtualCenterMonitor) markUnknown() {
	for i := range m.Hosts {
		m.Hosts[i].Status = HostUnknown
	}
	for i := range m.Datastores {
		m.Datastores[i].Status = DatastoreUnknown
	}
}

// unreachable returns a reason for each unreachable host and datastore.
func (m VirtualCenterMonitor) unreachable() []string {
	var reasons []string
	for _, h := range m.Hosts {
		switch h.Status {
		case HostNotResponding:
			reasons = append(reasons, "the host "+h.Details.Name+" does not respond")
		case HostDisconnected:
			reasons = append(reasons, "the host "+h.Details.Name+" is disconnected")
		}
	}
	for i, name := range m.DatastoreNames() {
		if m.Datastores[i].Status == DatastoreNotAccessible {
			reasons = append(reasons, "the datastore "+name+" is not accessible")
		}
	}
	return reasons
}

// Information returns the API's description of the virtual center's
// configuration.
func (vc VirtualCenter) Information(r VirtualCenterReading) VirtualCenterInfo {
	info := VirtualCenterInfo{
		ID: vc.ID, ServerName: vc.ServerName, Port: Count(int64(vc.Port)), UseSSL: vc.UseSSL, UserName: vc.UserName,
		DisplayName: vc.DisplayName, Description: vc.Description, Enabled: vc.Enabled,
		InstanceUUID: r.InstanceUUID, Version: r.Version, VMCDeployment: vc.VMCDeployment,
		Limits: vc.Limits, StorageAccelerator: vc.StorageAccelerator, SESparse: vc.SESparse,
	}
	info.StorageAccelerator.HostOverrides = append([]HostOverride{}, vc.StorageAccelerator.HostOverrides...)
	if vc.Trust.CAPEM != "" {
		info.CertificateOverride = &CertificateOverride{Certificate: vc.Trust.CAPEM, Type: "PEM"}
	}
	return info
}

// Ref implements [Record].
func (m VirtualCenterMonitor) Ref() Ref { return Ref{KindVirtualCenter, m.ID, m.Name} }

// Statuses implements [Record].
func (m VirtualCenterMonitor) Statuses() []PartStatus {
	out := []PartStatus{statusOfViews(m.Status, m.views)}
	for i, s := range m.Servers {
		out = append(out, m.views[i].part(string(s.Status)))
	}
	for i := range out {
		out[i].Disabled = m.Status == HealthDisabled
	}
	for _, h := range m.Hosts {
		out = append(out, PartStatus{Part: "host " + h.Details.Name, Status: string(h.Status)})
	}
	for i, name := range m.DatastoreNames() {
		out = append(out, PartStatus{Part: "datastore " + name, Status: string(m.Datastores[i].Status)})
	}
	return out
}

// DatastoreNames returns a unique name for each datastore: its name, or its path if a datastore of another datacenter has the
// same name. The console names them by the same rule.
func (m VirtualCenterMonitor) DatastoreNames() []string {
	count := make(map[string]int)
	for _, d := range m.Datastores {
		count[d.Details.Name]++
	}
	out := make([]string, len(m.Datastores))
	for i, d := range m.Datastores {
		out[i] = d.Details.Name
		if count[d.Details.Name] > 1 {
			out[i] = d.Details.Path
		}
	}
	return out
}

// Certificates implements [Record].
func (m VirtualCenterMonitor) Certificates() []PartCertificate {
	for _, s := range m.Servers {
		if s.Certificate != nil {
			return certificates("", s.Certificate)
		}
	}
	return nil
}
