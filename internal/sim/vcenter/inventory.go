package vcenter

import (
	"fmt"
	"strings"
)

// ref is a reference to a managed object.
type ref struct {
	Type  string `xml:"type,attr"`
	Value string `xml:",chardata"`
}

// object is an object of the inventory. Values of properties are structs that
// encode the type of the value.
type object struct {
	ref        ref
	parent     *object
	properties map[string]any
}

// inventory is a datacenter with a cluster of hosts, two datastores, and virtual
// machines. The objects have the names that VMware's simulator vcsim gives them.
type inventory struct {
	root       *object
	objects    []*object
	hosts      []*object
	datastores []*object
}

// The values of properties, in the form of the API. typed is for simple types.
type (
	typed struct {
		Type string `xml:"xsi:type,attr"`
		Text string `xml:",chardata"`
	}
	reference struct {
		XSIType string `xml:"xsi:type,attr"`
		ref
	}
	stringArray struct {
		XSIType string   `xml:"xsi:type,attr"`
		Strings []string `xml:"string"`
	}
	hardwareSummary struct {
		XSIType    string `xml:"xsi:type,attr"`
		Vendor     string `xml:"vendor"`
		Model      string `xml:"model"`
		MemorySize int64  `xml:"memorySize"`
		CPUModel   string `xml:"cpuModel"`
		CPUMHz     int    `xml:"cpuMhz"`
		CPUs       int    `xml:"numCpuPkgs"`
		CPUCores   int    `xml:"numCpuCores"`
		CPUThreads int    `xml:"numCpuThreads"`
	}
	datastoreSummary struct {
		XSIType    string `xml:"xsi:type,attr"`
		Datastore  ref    `xml:"datastore"`
		Name       string `xml:"name"`
		URL        string `xml:"url"`
		Capacity   int64  `xml:"capacity"`
		FreeSpace  int64  `xml:"freeSpace"`
		Accessible bool   `xml:"accessible"`
		Type       string `xml:"type"`
	}
	aboutInfo struct {
		XSIType       string `xml:"xsi:type,attr"`
		Name          string `xml:"name"`
		FullName      string `xml:"fullName"`
		Vendor        string `xml:"vendor"`
		Version       string `xml:"version"`
		Build         string `xml:"build"`
		OSType        string `xml:"osType"`
		ProductLineID string `xml:"productLineId"`
		APIType       string `xml:"apiType"`
		APIVersion    string `xml:"apiVersion"`
		InstanceUUID  string `xml:"instanceUuid,omitempty"`
	}
)

func text(s string) typed { return typed{"xsd:string", s} }

func newInventory(hosts, machines int) *inventory {
	i := &inventory{}
	i.root = i.add(nil, "Folder", "group-d1", "Datacenters")
	center := i.add(i.root, "Datacenter", "datacenter-2", "DC0")
	folders := make(map[string]*object)
	for n, name := range []string{"vm", "host", "datastore", "network"} {
		folders[name] = i.add(center, "Folder", fmt.Sprintf("folder-%d", n+3), name)
	}
	cluster := i.add(folders["host"], "ClusterComputeResource", "domain-c8", "DC0_C0")
	for n := range hosts {
		i.hosts = append(i.hosts, i.addHost(cluster, n))
	}
	for n := range 2 {
		i.datastores = append(i.datastores, i.addDatastore(folders["datastore"], n))
	}
	for n := range machines {
		machine := i.add(folders["vm"], "VirtualMachine", fmt.Sprintf("vm-%d", n+1000), fmt.Sprintf("DC0_C0_RP0_VM%d", n))
		machine.properties["config.template"] = typed{"xsd:boolean", "false"}
	}
	return i
}

func (i *inventory) add(parent *object, kind, id, name string) *object {
	o := &object{ref: ref{kind, id}, parent: parent, properties: map[string]any{"name": text(name)}}
	if parent != nil {
		o.properties["parent"] = reference{"ManagedObjectReference", parent.ref}
	}
	i.objects = append(i.objects, o)
	return o
}

func (i *inventory) addHost(cluster *object, n int) *object {
	host := i.add(cluster, "HostSystem", fmt.Sprintf("host-%d", n+20), fmt.Sprintf("DC0_C0_H%d", n))
	host.properties["runtime.connectionState"] = typed{"HostSystemConnectionState", string(Connected)}
	host.properties["summary.hardware"] = hardwareSummary{
		XSIType: "HostHardwareSummary", Vendor: "VMware, Inc.", Model: "VMware Virtual Platform", MemorySize: 256 << 30,
		CPUModel: "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", CPUMHz: 1995, CPUs: 2, CPUCores: 64, CPUThreads: 128,
	}
	host.properties["summary.config.product"] = aboutInfo{
		XSIType: "AboutInfo", Name: "VMware ESXi", FullName: "VMware ESXi 8.0.3 build-24022510", Vendor: "VMware, Inc.", Version: "8.0.3",
		Build: "24022510", OSType: "vmnix-x86", ProductLineID: "embeddedEsx", APIType: "HostAgent", APIVersion: "8.0.3.0",
	}
	host.properties["config.sharedPassthruGpuTypes"] = stringArray{XSIType: "ArrayOfString"}
	return host
}

func (i *inventory) addDatastore(folder *object, n int) *object {
	name := fmt.Sprintf("LocalDS_%d", n)
	store := i.add(folder, "Datastore", fmt.Sprintf("datastore-%d", n+50), name)
	store.properties["summary"] = datastoreSummary{
		XSIType: "DatastoreSummary", Datastore: store.ref, Name: name, URL: fmt.Sprintf("ds:///vmfs/volumes/5f0c8a1e-%08d/", n),
		Capacity: 4 << 40, FreeSpace: 2400 << 30, Accessible: true, Type: "VMFS",
	}
	return store
}

// below returns the objects of some types below an object.
func (i *inventory) below(container ref, types []string) []*object {
	var found []*object
	for _, o := range i.objects {
		for p := o.parent; p != nil; p = p.parent {
			if p.ref == container && o.is(types) {
				found = append(found, o)
			}
		}
	}
	return found
}

// is reports whether the object has one of the types or their subtypes. No types mean any.
func (o *object) is(types []string) bool {
	for _, t := range types {
		if o.ref.Type == t || t == "ManagedEntity" || t == "ComputeResource" && o.ref.Type == "ClusterComputeResource" {
			return true
		}
	}
	return len(types) == 0
}

// find returns the object at a path of names below the root, or nil.
func (i *inventory) find(path string) *object {
	at := i.root
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		at = i.child(at, name)
		if at == nil {
			return nil
		}
	}
	return at
}

func (i *inventory) child(parent *object, name string) *object {
	for _, o := range i.objects {
		if o.parent == parent && o.properties["name"] == text(name) {
			return o
		}
	}
	return nil
}
