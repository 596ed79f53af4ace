package gcp

import (
	"context"
	"strconv"
	"strings"

	"google.golang.org/api/cloudkms/v1"
)

// keyLocations returns where keys can be. There is no list across locations.
func (s *scope) keyLocations(ctx context.Context) ([]string, error) {
	return s.shared.keyLocations.get(ctx, func() ([]string, error) {
		var all []string
		err := s.kms.Projects.Locations.List("projects/"+s.project).PageSize(1000).Pages(ctx, func(l *cloudkms.ListLocationsResponse) error {
			for _, v := range l.Locations {
				all = append(all, v.LocationId)
			}
			return nil
		})
		return all, s.sorted(err, "cloudkms.locations.list")
	})
}

// eachKeyRing passes on the key rings of all locations.
func (s *scope) eachKeyRing(ctx context.Context, page func([]*cloudkms.KeyRing) error) error {
	locations, err := s.keyLocations(ctx)
	if err != nil {
		return err
	}
	var f failures
	err = parallel(ctx, locations, func(ctx context.Context, location string) error {
		return f.Note(s.sorted(s.kms.Projects.Locations.KeyRings.List("projects/"+s.project+"/locations/"+location).PageSize(1000).
			Pages(ctx, func(l *cloudkms.ListKeyRingsResponse) error { return page(l.KeyRings) }), "cloudkms.keyRings.list"))
	})
	if err != nil {
		return err
	}
	return f.Err()
}

var keyRings = detailed(declaration{
	Type: keyRingType, Service: "cloudkms", Doc: "Keys that are shared as one.",
	Permissions: []string{"cloudkms.keyRings.list", "cloudkms.keyRings.get", "cloudkms.keyRings.getIamPolicy", "cloudkms.locations.list"},
	Properties:  append(properties{text("createTime", "When it was made.")}, policyProperties...),
	Edges:       edges{policyEdge},
	Events:      events{on("cloudkms", "CreateKeyRing", "SetIamPolicy")},
}, func(ctx context.Context, s *scope, page func([]*cloudkms.KeyRing) error) error {
	return s.eachKeyRing(ctx, page)
},
	func(ctx context.Context, s *scope, at spot) (*cloudkms.KeyRing, error) {
		return s.kms.Projects.Locations.KeyRings.Get(at.path).Context(ctx).Do()
	}, func(ctx context.Context, s *scope, v *cloudkms.KeyRing) (*resource, error) {
		r := when(s.begin(keyRingType, v.Name), "createTime", v.CreateTime)
		return r, s.detail(r, "cloudkms.keyRings.getIamPolicy", policyNames, func() error {
			given, err := s.ringPolicy(ctx, v.Name)
			if err == nil {
				s.grant(r, given)
			}
			return err
		})
	})

// ringPolicy returns the bindings of a key ring, which its keys inherit.
func (s *scope) ringPolicy(ctx context.Context, name string) ([]binding, error) {
	return s.shared.rings.get(ctx, name, func() ([]binding, error) {
		policy, err := s.kms.Projects.Locations.KeyRings.GetIamPolicy(name).OptionsRequestedPolicyVersion(3).Context(ctx).Do()
		if err != nil {
			return nil, s.sorted(err, "cloudkms.keyRings.getIamPolicy")
		}
		return bindings(policy.Bindings, kmsBinding), nil
	})
}

func kmsBinding(b *cloudkms.Binding) binding { return binding{b.Role, b.Members, b.Condition != nil} }

var cryptoKeys = detailed(declaration{
	Type: cryptoKeyType, Service: "cloudkms", Doc: "A key.",
	Permissions: []string{
		"cloudkms.cryptoKeys.list", "cloudkms.cryptoKeys.get", "cloudkms.cryptoKeys.getIamPolicy", "cloudkms.keyRings.list", "cloudkms.keyRings.getIamPolicy", "cloudkms.locations.list",
	},
	Properties: append(properties{
		text("purpose", "ENCRYPT_DECRYPT, ASYMMETRIC_SIGN and others."),
		text("rotationPeriod", "How often it is replaced, such as 7776000s; absent when it is not."),
		long("rotationPeriodDays", "The same in days."),
		text("nextRotationTime", "When it is replaced next."),
		text("createTime", "When it was made."),
		text("primaryState", "Of the version in use: ENABLED, DISABLED and others."),
		text("algorithm", "Of the version in use."),
		text("protectionLevel", "SOFTWARE, HSM or EXTERNAL."),
	}, policyProperties...),
	Edges:  edges{policyEdge, edge("PART_OF", "Its key ring.", keyRingType)},
	Events: events{on("cloudkms", "CreateCryptoKey", "UpdateCryptoKey", "SetIamPolicy", "UpdateCryptoKeyPrimaryVersion", "CreateCryptoKeyVersion", "UpdateCryptoKeyVersion", "DestroyCryptoKeyVersion", "RestoreCryptoKeyVersion")},
}, func(ctx context.Context, s *scope, page func([]*cloudkms.CryptoKey) error) error {
	var f failures
	err := s.eachKeyRing(ctx, func(rings []*cloudkms.KeyRing) error {
		for _, ring := range rings {
			list := s.kms.Projects.Locations.KeyRings.CryptoKeys.List(ring.Name).PageSize(1000)
			err := list.Pages(ctx, func(l *cloudkms.ListCryptoKeysResponse) error { return page(l.CryptoKeys) })
			if err := f.Note(s.sorted(err, "cloudkms.cryptoKeys.list")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.Err()
}, func(ctx context.Context, s *scope, at spot) (*cloudkms.CryptoKey, error) {
	return s.kms.Projects.Locations.KeyRings.CryptoKeys.Get(at.path).Context(ctx).Do()
}, func(ctx context.Context, s *scope, v *cloudkms.CryptoKey) (*resource, error) {
	r := s.begin(cryptoKeyType, v.Name)
	ring, _, _ := strings.Cut(v.Name, "/cryptoKeys/")
	r.Text("purpose", v.Purpose).Text("rotationPeriod", v.RotationPeriod).Edge("PART_OF", s.ref(ring, keyRingType))
	when(r, "nextRotationTime", v.NextRotationTime)
	when(r, "createTime", v.CreateTime)
	if seconds, err := strconv.ParseFloat(strings.TrimSuffix(v.RotationPeriod, "s"), 64); err == nil {
		r.Number("rotationPeriodDays", int64(seconds/86400))
	}
	if v.Primary != nil {
		r.Text("primaryState", v.Primary.State).Text("algorithm", v.Primary.Algorithm).Text("protectionLevel", v.Primary.ProtectionLevel)
	} else if v.VersionTemplate != nil {
		r.Text("algorithm", v.VersionTemplate.Algorithm).Text("protectionLevel", v.VersionTemplate.ProtectionLevel)
	}
	return tag(r, v.Labels), s.detail(r, "cloudkms.cryptoKeys.getIamPolicy", policyNames, func() error {
		policy, err := s.kms.Projects.Locations.KeyRings.CryptoKeys.GetIamPolicy(v.Name).OptionsRequestedPolicyVersion(3).Context(ctx).Do()
		if err != nil {
			return err
		}
		inherited, err := s.ringPolicy(ctx, ring)
		if err != nil {
			return err
		}
		s.grant(r, append(bindings(policy.Bindings, kmsBinding), inherited...))
		return nil
	})
})
