package vcenter

import (
	"encoding/xml"
	"fmt"
)

// objectContent holds the properties that were read of one object.
type objectContent struct {
	Object     ref               `xml:"obj"`
	PropSet    []property        `xml:"propSet"`
	MissingSet []missingProperty `xml:"missingSet"`
}

type property struct {
	Name  string `xml:"name"`
	Value value  `xml:"val"`
}

// missingProperty is a property that the server did not return, with the
// reason.
type missingProperty struct {
	Path  string `xml:"path"`
	Fault struct {
		Fault struct {
			Attr []xml.Attr `xml:",any,attr"`
		} `xml:"fault"`
		Message string `xml:"localizedMessage"`
	} `xml:"fault"`
}

// value is the value of a property. It has the fields of all types that are
// read; a property has only those of its type.
type value struct {
	Text string     `xml:",chardata"` // a string, a number, a boolean or the id of a reference
	Attr []xml.Attr `xml:",any,attr"`

	// HostHardwareSummary
	CPUCores   int64 `xml:"numCpuCores"`
	CPUMHz     int64 `xml:"cpuMhz"`
	MemorySize int64 `xml:"memorySize"`

	// AboutInfo
	Version    string `xml:"version"`
	APIVersion string `xml:"apiVersion"`

	// DatastoreSummary
	Name       string `xml:"name"`
	URL        string `xml:"url"`
	Capacity   int64  `xml:"capacity"`
	FreeSpace  int64  `xml:"freeSpace"`
	Accessible bool   `xml:"accessible"`
	Type       string `xml:"type"`

	// ArrayOfString
	Strings []string `xml:"string"`
}

// reference converts a value of the type ManagedObjectReference to a ref.
func (v value) reference() ref { return ref{Type: typeAttribute(v.Attr, ""), Value: v.Text} }

// properties returns the properties by path, or an error if the server withheld
// one.
func (o objectContent) properties() (map[string]value, error) {
	if len(o.MissingSet) > 0 {
		m := o.MissingSet[0]
		kind := unprefixed(typeAttribute(m.Fault.Fault.Attr, xsi))
		return nil, fmt.Errorf("read %s of %s: %w", m.Path, o.Object, &soapFault{Type: kind, Message: m.Fault.Message})
	}
	values := make(map[string]value, len(o.PropSet))
	for _, p := range o.PropSet {
		values[p.Name] = p.Value
	}
	return values, nil
}
