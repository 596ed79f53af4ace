package vcenter

import (
	"context"
	"encoding/xml"
)

// serviceContent has the singletons of a virtual center.
type serviceContent struct {
	RootFolder        ref       `xml:"rootFolder"`
	PropertyCollector ref       `xml:"propertyCollector"`
	ViewManager       ref       `xml:"viewManager"`
	SessionManager    ref       `xml:"sessionManager"`
	SearchIndex       ref       `xml:"searchIndex"`
	About             aboutInfo `xml:"about"`
}

type aboutInfo struct {
	Version      string `xml:"version"`
	Build        string `xml:"build"`
	APIVersion   string `xml:"apiVersion"`
	InstanceUUID string `xml:"instanceUuid"`
}

func (c *soapClient) serviceContent(ctx context.Context) (serviceContent, error) {
	return need[serviceContent](ctx, c, struct {
		XMLName xml.Name `xml:"urn:vim25 RetrieveServiceContent"`
		This    ref      `xml:"_this"`
	}{This: ref{"ServiceInstance", "ServiceInstance"}})
}

func (c *soapClient) login(ctx context.Context, manager ref, user, password string) error {
	_, err := call[struct{}](ctx, c, struct {
		XMLName  xml.Name `xml:"urn:vim25 Login"`
		This     ref      `xml:"_this"`
		UserName string   `xml:"userName"`
		Password string   `xml:"password"`
	}{This: manager, UserName: user, Password: password})
	return err
}

func (c *soapClient) logout(ctx context.Context, manager ref) error {
	_, err := call[struct{}](ctx, c, struct {
		XMLName xml.Name `xml:"urn:vim25 Logout"`
		This    ref      `xml:"_this"`
	}{This: manager})
	return err
}

// createContainerView creates a view of the objects of some types below a
// folder.
func (c *soapClient) createContainerView(ctx context.Context, manager, container ref, types []string) (ref, error) {
	return need[ref](ctx, c, struct {
		XMLName   xml.Name `xml:"urn:vim25 CreateContainerView"`
		This      ref      `xml:"_this"`
		Container ref      `xml:"container"`
		Type      []string `xml:"type"`
		Recursive bool     `xml:"recursive"`
	}{This: manager, Container: container, Type: types, Recursive: true})
}

// findByInventoryPath returns nil if there is no object at the path.
func (c *soapClient) findByInventoryPath(ctx context.Context, index ref, path string) (*ref, error) {
	return call[ref](ctx, c, struct {
		XMLName xml.Name `xml:"urn:vim25 FindByInventoryPath"`
		This    ref      `xml:"_this"`
		Path    string   `xml:"inventoryPath"`
	}{This: index, Path: path})
}

// propertySpec names the properties to read of the objects of a type.
type propertySpec struct {
	Type    string   `xml:"type"`
	PathSet []string `xml:"pathSet"`
}

// objectSpec selects the objects of a view.
type objectSpec struct {
	Object    ref           `xml:"obj"`
	Skip      bool          `xml:"skip"` // the view itself is not read
	SelectSet traversalSpec `xml:"selectSet"`
}

// traversalSpec leads from an object to others: from a view to its objects.
type traversalSpec struct {
	XSIType string `xml:"xsi:type,attr"`
	Type    string `xml:"type"`
	Path    string `xml:"path"`
	Skip    bool   `xml:"skip"`
}

// retrieveResult is one page of objects.
type retrieveResult struct {
	Token   string          `xml:"token"` // of the next page
	Objects []objectContent `xml:"objects"`
}

// retrieveProperties reads properties of all objects in some views.
func (c *soapClient) retrieveProperties(ctx context.Context, collector ref, properties []propertySpec, views ...ref) ([]objectContent, error) {
	type filterSpec struct {
		PropSet   []propertySpec `xml:"propSet"`
		ObjectSet []objectSpec   `xml:"objectSet"`
	}
	filter := filterSpec{PropSet: properties}
	for _, view := range views {
		through := traversalSpec{XSIType: "TraversalSpec", Type: "ContainerView", Path: "view"}
		filter.ObjectSet = append(filter.ObjectSet, objectSpec{Object: view, Skip: true, SelectSet: through})
	}
	page, err := call[retrieveResult](ctx, c, struct {
		XMLName xml.Name   `xml:"urn:vim25 RetrievePropertiesEx"`
		This    ref        `xml:"_this"`
		SpecSet filterSpec `xml:"specSet"`
		Options struct{}   `xml:"options"`
	}{This: collector, SpecSet: filter})
	if err != nil || page == nil { // no value: the views are empty
		return nil, err
	}
	objects := page.Objects
	for page.Token != "" {
		if page, err = call[retrieveResult](ctx, c, struct {
			XMLName xml.Name `xml:"urn:vim25 ContinueRetrievePropertiesEx"`
			This    ref      `xml:"_this"`
			Token   string   `xml:"token"`
		}{This: collector, Token: page.Token}); err != nil {
			return nil, err
		}
		if page == nil {
			break
		}
		objects = append(objects, page.Objects...)
	}
	return objects, nil
}
