package vcenter

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// sessionCookie is the name of the cookie that vCenter Server sets.
const sessionCookie = "vmware_soap_session"

// pageSize is the number of objects in one response. It is small so that
// clients have to ask for the rest.
const pageSize = 20

// maxRequest limits the size of a request.
const maxRequest = 1 << 20

// request has the arguments of all methods.
type request struct {
	XMLName       xml.Name
	This          ref      `xml:"_this"`
	UserName      string   `xml:"userName"`
	Password      string   `xml:"password"`
	Container     ref      `xml:"container"`
	Type          []string `xml:"type"`
	InventoryPath string   `xml:"inventoryPath"`
	Token         string   `xml:"token"`
	SpecSet       []struct {
		PropSet []struct {
			Type    string   `xml:"type"`
			PathSet []string `xml:"pathSet"`
		} `xml:"propSet"`
		ObjectSet []struct {
			Object ref `xml:"obj"`
		} `xml:"objectSet"`
	} `xml:"specSet"`
}

type (
	objectContent struct {
		Object  ref        `xml:"obj"`
		PropSet []property `xml:"propSet"`
	}
	property struct {
		Name  string `xml:"name"`
		Value any    `xml:"val"`
	}
	retrieveResult struct {
		Token   string          `xml:"token,omitempty"`
		Objects []objectContent `xml:"objects"`
	}
	userSession struct {
		Key      string `xml:"key"`
		UserName string `xml:"userName"`
		FullName string `xml:"fullName"`
	}
	serviceContent struct {
		RootFolder        ref       `xml:"rootFolder"`
		PropertyCollector ref       `xml:"propertyCollector"`
		ViewManager       ref       `xml:"viewManager"`
		About             aboutInfo `xml:"about"`
		SessionManager    ref       `xml:"sessionManager"`
		SearchIndex       ref       `xml:"searchIndex"`
	}
)

// vimFault is a fault of the API by its type, such as InvalidLogin.
type vimFault string

func (f vimFault) Error() string { return string(f) }

func (c *Center) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == Unhelpful {
		http.Error(w, "the service is starting", http.StatusServiceUnavailable)
		return
	}
	if r.URL.Path != "/sdk" {
		http.NotFound(w, r)
		return
	}
	var envelope struct {
		Body struct {
			Request request `xml:",any"`
		}
	}
	if err := xml.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&envelope); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	method := envelope.Body.Request.XMLName.Local
	value, err := c.call(w, r, method, envelope.Body.Request)
	if err != nil {
		writeFault(w, err)
		return
	}
	write(w, http.StatusOK, struct {
		XMLName xml.Name
		Value   any `xml:"returnval"`
	}{xml.Name{Space: "urn:vim25", Local: method + "Response"}, value})
}

// call executes a method and returns its value, or nil for none.
func (c *Center) call(w http.ResponseWriter, r *http.Request, method string, in request) (any, error) {
	switch method {
	case "RetrieveServiceContent":
		return c.content(), nil
	case "Login":
		return c.login(w, in)
	}
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || !c.sessions[cookie.Value] {
		return nil, vimFault("NotAuthenticated")
	}
	if method == "Logout" {
		delete(c.sessions, cookie.Value)
		return nil, nil
	}
	if c.fault == NoPermission {
		return nil, vimFault("NoPermission")
	}
	switch method {
	case "CreateContainerView":
		view := ref{"ContainerView", c.newID("session-view")}
		c.views[view.Value] = c.inventory.below(in.Container, in.Type)
		return view, nil
	case "DestroyView":
		delete(c.views, in.This.Value)
		return nil, nil
	case "FindByInventoryPath":
		if found := c.inventory.find(in.InventoryPath); found != nil {
			return found.ref, nil
		}
		return nil, nil
	case "RetrievePropertiesEx":
		return c.retrieve(in)
	case "ContinueRetrievePropertiesEx":
		rest, ok := c.pages[in.Token]
		if !ok {
			return nil, vimFault("InvalidProperty")
		}
		delete(c.pages, in.Token)
		return c.page(rest), nil
	}
	return nil, fmt.Errorf("the simulator has no method %s", method)
}

func (c *Center) newID(prefix string) string {
	c.lastID++
	return prefix + "-" + strconv.Itoa(c.lastID)
}

func (c *Center) content() serviceContent {
	return serviceContent{
		RootFolder:        c.inventory.root.ref,
		PropertyCollector: ref{"PropertyCollector", "propertyCollector"},
		ViewManager:       ref{"ViewManager", "ViewManager"},
		SessionManager:    ref{"SessionManager", "SessionManager"},
		SearchIndex:       ref{"SearchIndex", "SearchIndex"},
		About: aboutInfo{
			XSIType: "AboutInfo", Name: "VMware vCenter Server", FullName: "VMware vCenter Server 8.0.3 build-24022515", Vendor: "VMware, Inc.",
			Version: "8.0.3", Build: "24022515", OSType: "linux-x64", ProductLineID: "vpx", APIType: "VirtualCenter", APIVersion: "8.0.3.0",
			InstanceUUID: c.instance,
		},
	}
}

func (c *Center) login(w http.ResponseWriter, in request) (any, error) {
	if in.UserName != c.options.User || subtle.ConstantTimeCompare([]byte(in.Password), []byte(c.options.Password)) != 1 {
		return nil, vimFault("InvalidLogin")
	}
	key := rand.Text()
	c.sessions[key] = true
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: key, Path: "/", HttpOnly: true, Secure: true})
	return userSession{key, in.UserName, in.UserName}, nil
}

// retrieve reads the requested properties of the objects in views.
func (c *Center) retrieve(in request) (any, error) {
	var found []objectContent
	for _, spec := range in.SpecSet {
		for _, from := range spec.ObjectSet {
			view, ok := c.views[from.Object.Value]
			if !ok {
				return nil, vimFault("ManagedObjectNotFound")
			}
			for _, o := range view {
				for _, want := range spec.PropSet {
					if !o.is([]string{want.Type}) {
						continue
					}
					content, err := o.read(want.PathSet)
					if err != nil {
						return nil, err
					}
					found = append(found, content)
				}
			}
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	return c.page(found), nil
}

func (o *object) read(paths []string) (objectContent, error) {
	content := objectContent{Object: o.ref}
	for _, path := range paths {
		value, ok := o.properties[path]
		if !ok {
			return content, vimFault("InvalidProperty")
		}
		content.PropSet = append(content.PropSet, property{path, value})
	}
	return content, nil
}

// page returns the first page of objects and keeps the others.
func (c *Center) page(all []objectContent) retrieveResult {
	if len(all) <= pageSize {
		return retrieveResult{Objects: all}
	}
	token := c.newID("page")
	c.pages[token] = slices.Clone(all[pageSize:])
	return retrieveResult{token, all[:pageSize]}
}

func writeFault(w http.ResponseWriter, err error) {
	type detail struct {
		XSIType string `xml:"xsi:type,attr"`
	}
	kind, ok := err.(vimFault)
	if !ok {
		kind = "MethodNotFound"
	}
	write(w, http.StatusInternalServerError, struct {
		XMLName xml.Name `xml:"http://schemas.xmlsoap.org/soap/envelope/ Fault"`
		Code    string   `xml:"faultcode"`
		String  string   `xml:"faultstring"`
		Detail  detail   `xml:"detail>Fault"`
	}{Code: "ServerFaultCode", String: err.Error(), Detail: detail{string(kind)}})
}

func write(w http.ResponseWriter, status int, body any) {
	var envelope struct {
		XMLName xml.Name `xml:"http://schemas.xmlsoap.org/soap/envelope/ Envelope"`
		XSI     string   `xml:"xmlns:xsi,attr"`
		XSD     string   `xml:"xmlns:xsd,attr"`
		Body    struct{ Content any }
	}
	envelope.XSI, envelope.XSD = "http://www.w3.org/2001/XMLSchema-instance", "http://www.w3.org/2001/XMLSchema"
	envelope.Body.Content = body
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(envelope) // the client may be gone
}
