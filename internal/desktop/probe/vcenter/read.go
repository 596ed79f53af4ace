package vcenter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"vigil/internal/desktop"
)

// objectTypes are the object types that are read. Folders and datacenters are
// needed for the paths of the others.
var objectTypes = []string{"HostSystem", "Datastore", "ComputeResource", "Folder", "Datacenter"}

// properties are the properties that are read of each type.
var properties = []types.PropertySpec{
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
func (s *vcSession) retrieve(ctx context.Context) ([]types.ObjectContent, error) {
	through := &types.TraversalSpec{Type: "ContainerView", Path: "view", Skip: types.NewBool(false)}
	object := func(view types.ManagedObjectReference) types.ObjectSpec {
		return types.ObjectSpec{Obj: view, Skip: types.NewBool(true), SelectSet: []types.BaseSelectionSpec{through}}
	}
	content, err := mo.RetrievePropertiesEx(ctx, s.client, types.RetrievePropertiesEx{
		This: s.client.ServiceContent.PropertyCollector,
		SpecSet: []types.PropertyFilterSpec{{
			PropSet:   properties,
			ObjectSet: []types.ObjectSpec{object(s.estate), object(s.machines)},
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("retrieve properties: %w", err)
	}
	return content, nil
}

// treeNode is an object's name and parent in the inventory tree.
type treeNode struct {
	name   string
	parent *types.ManagedObjectReference
}

type tree map[types.ManagedObjectReference]treeNode

// path returns the inventory path of an object: "/Datacenter/host/cluster/esx1".
func (t tree) path(ref types.ManagedObjectReference) string {
	var names []string
	for range 64 { // a depth limit, in case of a cycle
		p, ok := t[ref]
		if !ok {
			break // the root folder is not in the view
		}
		names = append(names, p.name)
		if p.parent == nil {
			break
		}
		ref = *p.parent
	}
	slices.Reverse(names)
	return "/" + strings.Join(names, "/")
}

// describe converts the retrieved objects to a reading.
func describe(content []types.ObjectContent) (desktop.VirtualCenterReading, error) {
	var r desktop.VirtualCenterReading
	var hosts []mo.HostSystem
	var stores []mo.Datastore
	nodes := make(tree)
	for _, o := range content {
		if o.Obj.Type == "VirtualMachine" {
			if !isTemplate(o) {
				r.DesktopsCount++
			}
			continue
		}
		value, err := mo.ObjectContentToType(o)
		if err != nil {
			return r, fmt.Errorf("read %s: %w", o.Obj, err)
		}
		switch v := value.(type) {
		case mo.HostSystem:
			hosts = append(hosts, v)
			nodes[v.Self] = treeNode{v.Name, v.Parent}
		case mo.Datastore:
			stores = append(stores, v)
			nodes[v.Self] = treeNode{v.Name, v.Parent}
		case mo.ClusterComputeResource:
			nodes[v.Self] = treeNode{v.Name, v.Parent}
		case mo.ComputeResource:
			nodes[v.Self] = treeNode{v.Name, v.Parent}
		case mo.Folder:
			nodes[v.Self] = treeNode{v.Name, v.Parent}
		case mo.Datacenter:
			nodes[v.Self] = treeNode{v.Name, v.Parent}
		}
	}
	for _, h := range hosts {
		r.Hosts = append(r.Hosts, host(h, nodes))
	}
	for _, d := range stores {
		r.Datastores = append(r.Datastores, datastore(d, nodes))
	}
	slices.SortFunc(r.Hosts, func(a, b desktop.Host) int { return strings.Compare(a.Details.Name, b.Details.Name) })
	slices.SortFunc(r.Datastores, func(a, b desktop.Datastore) int { return strings.Compare(a.Details.Path, b.Details.Path) })
	return r, nil
}

// isTemplate reports whether a virtual machine is a template. It reads the
// property directly, because decoding thousands of machines for one flag is
// slow.
func isTemplate(o types.ObjectContent) bool {
	for _, p := range o.PropSet {
		if template, ok := p.Val.(bool); ok && p.Name == "config.template" {
			return template
		}
	}
	return false
}

func host(h mo.HostSystem, nodes tree) desktop.Host {
	out := desktop.Host{Details: desktop.HostDetails{Name: h.Name}, Status: desktop.HostDisconnected}
	switch h.Runtime.ConnectionState {
	case types.HostSystemConnectionStateConnected:
		out.Status = desktop.HostConnected
	case types.HostSystemConnectionStateNotResponding:
		out.Status = desktop.HostNotResponding
	}
	if h.Parent != nil && h.Parent.Type == "ClusterComputeResource" {
		out.Details.ClusterName = nodes[*h.Parent].name
	}
	if p := h.Summary.Config.Product; p != nil {
		out.Details.Version, out.Details.APIVersion = p.Version, p.ApiVersion
	}
	if hw := h.Summary.Hardware; hw != nil {
		out.CPUCoreCount = new(desktop.Count(int64(hw.NumCpuCores)))
		out.CPUMHz = new(desktop.Count(int64(hw.CpuMhz)))
		out.MemorySizeMB = new(desktop.Count(hw.MemorySize >> 20))
	}
	if h.Config != nil {
		out.Details.VGPUTypes = h.Config.SharedPassthruGpuTypes
	}
	return out
}

// datastore describes a datastore. The API has two types: every type except
// vSAN is reported as VMFS.
func datastore(d mo.Datastore, nodes tree) desktop.Datastore {
	s := d.Summary
	out := desktop.Datastore{
		Details:     desktop.DatastoreDetails{Name: s.Name, Path: nodes.path(d.Self), URL: s.Url},
		CapacityMB:  desktop.Count(s.Capacity >> 20),
		FreeSpaceMB: desktop.Count(s.FreeSpace >> 20),
		Status:      desktop.DatastoreNotAccessible,
		Type:        desktop.DatastoreVMFS,
	}
	if s.Accessible {
		out.Status = desktop.DatastoreAccessible
	}
	if strings.EqualFold(s.Type, "vsan") {
		out.Type = desktop.DatastoreVSAN
	}
	return out
}
