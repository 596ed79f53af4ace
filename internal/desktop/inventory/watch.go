package inventory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"reflect"
	"time"

	"vigil/internal/desktop"
)

// A Diff lists the components that a reload changes.
type Diff struct {
	Added   []desktop.Ref
	Removed []desktop.Ref
	Changed []desktop.Ref
}

// Empty reports whether nothing changes.
func (d Diff) Empty() bool { return len(d.Added)+len(d.Removed)+len(d.Changed) == 0 }

func (d Diff) String() string {
	return fmt.Sprintf("%d added, %d removed, %d changed", len(d.Added), len(d.Removed), len(d.Changed))
}

// Compare returns the differences between two inventories by component.
func Compare(before, after desktop.Inventory) Diff {
	var d Diff
	old := components(before)
	index := make(map[desktop.ID]component, len(old))
	for _, c := range old {
		index[c.ref.ID] = c
	}
	for _, c := range components(after) {
		previous, ok := index[c.ref.ID]
		delete(index, c.ref.ID)
		switch {
		case !ok:
			d.Added = append(d.Added, c.ref)
		case !reflect.DeepEqual(previous.spec, c.spec):
			d.Changed = append(d.Changed, c.ref)
		}
	}
	for _, c := range old {
		if _, ok := index[c.ref.ID]; ok {
			d.Removed = append(d.Removed, c.ref)
		}
	}
	return d
}

type component struct {
	ref  desktop.Ref
	spec any
}

// components returns every component of an inventory with its spec.
func components(inv desktop.Inventory) []component {
	var out []component
	add := func(k desktop.Kind, id desktop.ID, name string, spec any) {
		out = append(out, component{desktop.Ref{Kind: k, ID: id, Name: name}, spec})
	}
	for _, c := range inv.Domains {
		add(desktop.KindDomain, c.ID, c.DNSName, c)
	}
	for _, c := range inv.ConnectionServers {
		add(desktop.KindConnectionServer, c.ID, c.Name, c)
	}
	if c := inv.EventDatabase; c != nil {
		add(desktop.KindEventDatabase, c.ID, c.Server, *c)
	}
	for _, c := range inv.Farms {
		add(desktop.KindFarm, c.ID, c.Name, c)
	}
	for _, c := range inv.Gateways {
		add(desktop.KindGateway, c.ID, c.Name, c)
	}
	for _, c := range inv.RDSServers {
		add(desktop.KindRDSServer, c.ID, c.Name, c)
	}
	for _, c := range inv.SAMLAuthenticators {
		add(desktop.KindSAMLAuthenticator, c.ID, c.Label, c)
	}
	for _, c := range inv.Pods {
		add(desktop.KindPod, c.ID, c.Name, c)
	}
	for _, c := range inv.SSOConnectors {
		add(desktop.KindSSOConnector, c.ID, c.Name, c)
	}
	for _, c := range inv.Composers {
		add(desktop.KindComposer, c.ID, c.Name, c)
	}
	for _, c := range inv.VirtualCenters {
		add(desktop.KindVirtualCenter, c.ID, c.Name, c)
	}
	return out
}

// A Watcher reloads an inventory when its file changes.
type Watcher struct {
	Path    string
	Options Options
	Every   time.Duration // how often to check the file; 5 s when 0

	// Apply is called with a new inventory.
	Apply func(inv desktop.Inventory, d Diff)
	// Reject is called with the error of a refused file. The previous inventory
	// stays in use.
	Reject func(err error)

	current desktop.Inventory
	seen    [sha256.Size]byte
}

// Load reads the file for the first time and applies it.
func (w *Watcher) Load() error {
	text, err := os.ReadFile(w.Path)
	if err != nil {
		return fmt.Errorf("read inventory: %w", err)
	}
	inv, err := Parse(text, w.Options)
	if err != nil {
		return err
	}
	diff := Compare(w.current, inv)
	w.seen, w.current = sha256.Sum256(text), inv
	w.Apply(inv, diff)
	return nil
}

// Run reloads the file when it changes and at every signal on the channel reload,
// until the context is done. Call Load first.
func (w *Watcher) Run(ctx context.Context, reload <-chan os.Signal) {
	interval := w.Every
	if interval <= 0 {
		interval = 5 * time.Second
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		force := false
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-reload:
			force = true
		}
		w.check(force)
	}
}

// check reads the file and applies it if it differs or force is true.
func (w *Watcher) check(force bool) {
	text, err := os.ReadFile(w.Path)
	sum := sha256.Sum256(text)
	if err != nil {
		sum = sha256.Sum256([]byte(err.Error()))
	}
	if !force && bytes.Equal(sum[:], w.seen[:]) {
		return
	}
	w.seen = sum // a refused or unreadable file is reported once, not at each check
	if err == nil {
		err = w.Load()
	}
	if err != nil {
		w.Reject(err)
	}
}
