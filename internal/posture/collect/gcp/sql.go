package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/sqladmin/v1"
)

var sqlInstances = listed(declaration{
	Type: sqlInstanceType, Service: "sqladmin", Doc: "A database server.",
	Permissions: []string{"cloudsql.instances.list", "cloudsql.instances.get"},
	Properties: properties{
		text("databaseVersion", "Such as POSTGRES_15."),
		text("instanceType", "CLOUD_SQL_INSTANCE, or READ_REPLICA_INSTANCE for a copy."),
		text("state", "RUNNABLE and others."),
		text("createTime", "When it was made."),
		text("tier", "Its size."),
		texts("ipAddresses", "Its addresses: a kind and an address each, such as PRIMARY 34.1.2.3."),
		flag("ipv4Enabled", "It has a public address."),
		texts("authorizedNetworks", "The addresses that may connect through the internet."),
		text("sslMode", "ALLOW_UNENCRYPTED_AND_ENCRYPTED, ENCRYPTED_ONLY or TRUSTED_CLIENT_CERTIFICATE_REQUIRED."),
		flag("requireSsl", "Connections must be encrypted, as older settings have it."),
		flag("backupEnabled", "It is backed up every day."),
		flag("pointInTimeRecovery", "Logs for going back to any moment are kept."),
		text("availabilityType", "REGIONAL when another zone takes over, else ZONAL."),
		texts("databaseFlags", "Settings of the database as name=value."),
		text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
		flag("deletionProtection", "It cannot be deleted by mistake."),
		text("serviceAccountEmailAddress", "Whom it acts as."),
	},
	Edges: edges{
		edge("IN", "The network from which it is reached privately.", networkType),
		edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType),
		edge("REPLICA_OF", "What it is a copy of.", sqlInstanceType),
		edge("HAS_IP", "Its public addresses.", publicIPType),
	},
	Events: events{each("cloudsql", "cloudsql.instances.", "create", "update", "delete", "clone", "promoteReplica", "restart")},
}, func(ctx context.Context, s *scope, page func([]*sqladmin.DatabaseInstance) error) error {
	return s.sql.Instances.List(s.project).MaxResults(500).Pages(ctx, func(l *sqladmin.InstancesListResponse) error {
		for _, w := range l.Warnings {
			if w.Code == "REGION_UNREACHABLE" {
				return unreachable([]string{w.Region})
			}
		}
		return page(l.Items)
	})
}, func(ctx context.Context, s *scope, at spot) (*sqladmin.DatabaseInstance, error) {
	return s.sql.Instances.Get(s.project, at.name).Context(ctx).Do()
}, func(s *scope, v *sqladmin.DatabaseInstance) *resource {
	r := s.begin(sqlInstanceType, "projects/"+s.project+"/instances/"+v.Name)
	r.Region, r.XID = v.Region, v.SelfLink
	r.Text("databaseVersion", v.DatabaseVersion).Text("instanceType", v.InstanceType).Text("state", v.State).Text("serviceAccountEmailAddress", v.ServiceAccountEmailAddress)
	when(r, "createTime", v.CreateTime)
	var addresses []string
	for _, ip := range v.IpAddresses {
		addresses = append(addresses, ip.Type+" "+ip.IpAddress)
		if ip.Type == "PRIMARY" {
			r.Edge("HAS_IP", publicIPType.ID(s.account, "", ip.IpAddress))
		}
	}
	set(r, "ipAddresses", addresses)
	if k := v.DiskEncryptionConfiguration; k != nil {
		r.Text("kmsKeyName", k.KmsKeyName).Edge("ENCRYPTED_BY", s.keyRef(k.KmsKeyName))
	}
	if v.MasterInstanceName != "" {
		r.Edge("REPLICA_OF", sqlInstanceType.ID(s.account, "", v.MasterInstanceName[strings.LastIndexByte(v.MasterInstanceName, ':')+1:]))
	}
	if v.Settings != nil {
		s.sqlSettings(r, v.Settings)
		tag(r, v.Settings.UserLabels)
	}
	return r
})

// sqlSettings adds the settings of a database server. Where Google leaves a
// switch out it is off.
func (s *scope) sqlSettings(r *resource, v *sqladmin.Settings) {
	r.Text("tier", v.Tier).Text("availabilityType", v.AvailabilityType).Flag("deletionProtection", v.DeletionProtectionEnabled)
	ip := v.IpConfiguration
	if ip == nil {
		ip = new(sqladmin.IpConfiguration)
	}
	var allowed, flags []string
	for _, n := range ip.AuthorizedNetworks {
		allowed = append(allowed, n.Value)
	}
	for _, f := range v.DatabaseFlags {
		flags = append(flags, f.Name+"="+f.Value)
	}
	set(r, "authorizedNetworks", allowed)
	set(r, "databaseFlags", flags)
	r.Flag("ipv4Enabled", ip.Ipv4Enabled).Text("sslMode", ip.SslMode).Flag("requireSsl", ip.RequireSsl).Edge("IN", s.ref(ip.PrivateNetwork, networkType))
	backup := v.BackupConfiguration
	r.Flag("backupEnabled", backup != nil && backup.Enabled).
		Flag("pointInTimeRecovery", backup != nil && (backup.PointInTimeRecoveryEnabled || backup.BinaryLogEnabled))
}
