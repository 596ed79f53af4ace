package azure

import (
	"context"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// atLocation is an edge to the location that a resource is in.
func atLocation(label, doc string) link {
	l := link{Edge: collect.Edge{Label: label, To: []entityType{locationType}, Doc: doc}}
	l.ids = func(s *session, j gjson.Result) []posture.EntityID {
		return []posture.EntityID{s.global(locationType, region(j))}
	}
	return l
}

// locations are the regions of Azure that the subscription may use.
var locations = collector{
	Declaration: collect.Declaration{
		Type: locationType, Scope: collect.PerAccount, Service: armService, Doc: "A region of Azure that the subscription may use.",
		Permissions: []string{"Microsoft.Resources/subscriptions/locations/read", "Microsoft.Network/virtualNetworks/read", "Microsoft.Network/networkWatchers/read"},
		Properties: []collect.Property{
			{Name: "location", Kind: posture.StringProperty, Doc: "Its name."},
			{Name: "displayName", Kind: posture.StringProperty, Doc: "What people call it."},
			{Name: "regionType", Kind: posture.StringProperty, Doc: "Physical or Logical."},
			{Name: "virtualNetworkCount", Kind: posture.LongProperty, Doc: "How many virtual networks the subscription has in it."},
			{Name: "networkWatcherCount", Kind: posture.LongProperty, Doc: "How many network watchers the subscription has in it."},
		},
		Edges: []collect.Edge{{Label: "IN", To: []entityType{subscriptionType}, Doc: "What it is part of."}},
		Events: []collect.Event{
			{Source: "Microsoft.Network/networkWatchers", Names: []string{"write", "delete"}},
			{Source: "Microsoft.Network/virtualNetworks", Names: []string{"write", "delete"}},
		},
	},
	List: listLocations,
	// An event names a network, not its location: all are looked at.
	Get: func(ctx context.Context, s *session, _ string, emit collect.Emit) error {
		return listLocations(ctx, s, emit)
	},
}

func listLocations(ctx context.Context, s *session, emit collect.Emit) error {
	networks, err := s.perLocation(ctx, virtualNetworkType)
	if collect.Over(err) {
		return err
	}
	watchers, watchersErr := s.perLocation(ctx, networkWatcherType)
	if collect.Over(watchersErr) {
		return watchersErr
	}
	address := s.arm("/subscriptions/"+string(s.account)+"/locations", subscriptionVersion)
	return s.pages(ctx, address, "Microsoft.Resources/subscriptions/locations/read", false, func(page gjson.Result) error {
		for _, it := range items(page, item{}) {
			name := it.Get("name").String()
			r := collect.NewResource(locationType, s.account, posture.Global, name)
			r.XID, r.Region = it.id, name
			r.Text("location", name).Text("displayName", it.Get("displayName").String()).Text("regionType", it.Get("metadata.regionType").String())
			r.Edge("IN", s.global(subscriptionType, string(s.account)))
			count(r, "virtualNetworkCount", networks[name], err)
			count(r, "networkWatcherCount", watchers[name], watchersErr)
			if err := emit(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func count(r *resource, name string, n int64, err error) {
	if err != nil {
		r.Unread(err, name)
		return
	}
	r.Number(name, n)
}

// perLocation counts the resources of a kind in each location.
func (s *session) perLocation(ctx context.Context, t entityType) (map[string]int64, error) {
	counts := map[string]int64{}
	err := kindOf(t).inTurn(ctx, s, func(it item) error {
		counts[it.location]++
		return nil
	})
	return counts, err
}
