package vcenter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vigil/internal/desktop"
)

// objectTypes are the object types that are read. Folders and datacenters are
// needed for the paths of the others.
var objectTypes = []string{"HostSystem", "Datastore", "ComputeResource", "Folder", "Datacenter"}

// properties are the properties that are read of each type.
var properties = []propertySpec{
	{Type: "HostSystem", PathSet: []string{
		"name", "parent", "runtime.connectionState", "summary.hardware", "summary.config.product", "config.sharedPassthruGpuTypes",
	}},
	{Type: "Datastore", PathSet: []string{"name", "parent", "summary"}},
	{Type: "ComputeResource", PathSet: []string{"name", "parent"}},
	{Type: "Folder", PathSet: []string{"name", "parent"}},
	{Type: "Datacenter", PathSet: []string{"name", "parent"}},
	{Type: "VirtualMachine", PathSet: []string{"config.template"}},
}

// retrieve reads all properties of all objects in both views, in one call.
func (s *vcSession) retrieve(ctx context.Context) ([]objectContent, error) {
	content, err := s.client.retrieveProperties(ctx, s.content.PropertyCollector, properties, s.hostView, s.desktopView)
	if err != nil {
		return nil, fmt.Errorf("retrieve properties: %w", err)
	}
	return content, nil
}

// treeNode is an object's name and parent in the inventory tree.
type treeNode struct {
	name   string
	parent ref
}

type tree map[ref]treeNode

// path returns the inventory path of an object: "/Datacenter/host/cluster/esx1".
func (t tree) path(object ref) string {
	var names []string
	for range 64 { // a depth limit, in case of a cycle
		p, ok := t[object]
		if !ok {
			break // the root folder is not in the view
		}
		names = append(names, p.name)
		object = p.parent
	}
	slices.Reverse(names)
	return "/" + strings.Join(names, "/")
}

// distinctPaths returns the paths of objects. Objects in folders that the account may not
// read can have the same path; their ids are then appended. The URL of a datastore is not
// appended instead, because it is valid only while the datastore is accessible.
func (t tree) distinctPaths(objects []ref) map[ref]string {
	count := make(map[string]int)
	for _, object := range objects {
		count[t.path(object)]++
	}
	out := make(map[ref]string, len(objects))
	for _, object := range objects {
		path := t.path(object)
		if count[path] > 1 {
			path += " (" + object.Value + ")"
		}
		out[object] = path
	}
	return out
}

// describe converts the retrieved objects to a reading.
func describe(content []objectContent) (desktop.VirtualCenterReading, error) {
	var r desktop.VirtualCenterReading
	nodes := make(tree)
	hosts, stores := make(map[ref]map[string]value), make(map[ref]map[string]value)
	for _, o := range content {
		if o.Object.Type == "VirtualMachine" {
			if !isTemplate(o) {
				r.DesktopsCount++
			}
			continue
		}
		values, err := o.properties()
		if err != nil {
			return r, err
		}
		nodes[o.Object] = treeNode{values["name"].Text, values["parent"].reference()}
		switch o.Object.Type {
		case "HostSystem":
			hosts[o.Object] = values
		case "Datastore":
			stores[o.Object] = values
		}
	}
	for _, values := range hosts {
		r.Hosts = append(r.Hosts, host(values, nodes))
	}
	paths := nodes.distinctPaths(slices.Collect(maps.Keys(stores)))
	for object, values := range stores {
		r.Datastores = append(r.Datastores, datastore(values["summary"], paths[object]))
	}
	slices.SortFunc(r.Hosts, func(a, b desktop.Host) int { return strings.Compare(a.Details.Name, b.Details.Name) })
	slices.SortFunc(r.Datastores, func(a, b desktop.Datastore) int { return strings.Compare(a.Details.Path, b.Details.Path) })
	return r, nil
}

// isTemplate reports whether a virtual machine is a template. A machine whose
// properties may not be read counts as a desktop.
func isTemplate(o objectContent) bool {
	for _, p := range o.PropSet {
		if p.Name == "config.template" {
			return p.Value.Text == "true"
		}
	}
	return false
}

func host(values map[string]value, nodes tree) desktop.Host {
	out := desktop.Host{Details: desktop.HostDetails{Name: values["name"].Text}, Status: desktop.HostDisconnected}
	switch values["runtime.connectionState"].Text {
	case "connected":
		out.Status = desktop.HostConnected
	case "notResponding":
		out.Status = desktop.HostNotResponding
	}
	if parent := values["parent"].reference(); parent.Type == "ClusterComputeResource" {
		out.Details.ClusterName = nodes[parent].name
	}
	product := values["summary.config.product"]
	out.Details.Version, out.Details.APIVersion = product.Version, product.APIVersion
	if hardware, ok := values["summary.hardware"]; ok {
		out.CPUCoreCount = new(desktop.Count(hardware.CPUCores))
		out.CPUMHz = new(desktop.Count(hardware.CPUMHz))
		out.MemorySizeMB = new(desktop.Count(hardware.MemorySize >> 20))
	}
	out.Details.VGPUTypes = values["config.sharedPassthruGpuTypes"].Strings
	return out
}

// datastore describes a datastore. The API of this server has only the types VSAN and
// VMFS: every type except vSAN is reported as VMFS.
func datastore(summary value, path string) desktop.Datastore {
	out := desktop.Datastore{
		Details:     desktop.DatastoreDetails{Name: summary.Name, Path: path, URL: summary.URL},
		CapacityMB:  desktop.Count(summary.Capacity >> 20),
		FreeSpaceMB: desktop.Count(summary.FreeSpace >> 20),
		Status:      desktop.DatastoreNotAccessible,
		Type:        desktop.DatastoreVMFS,
	}
	if summary.Accessible {
		out.Status = desktop.DatastoreAccessible
	}
	if strings.EqualFold(summary.Type, "vsan") {
		out.Type = desktop.DatastoreVSAN
	}
	return out
}
