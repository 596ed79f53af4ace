package azure

import (
	"slices"

	"vigil/internal/posture"
)

// kinds are the types that Resource Manager holds. Those that need the same
// lists follow one another.
var kinds = slices.Concat(
	subscriptionKinds, authorizationKinds, networkKinds, gatewayKinds, computeKinds, keyVaultKinds, storageKinds,
	sqlKinds, databaseKinds, webKinds, containerKinds, messagingKinds, monitorKinds, securityKinds,
)

// Set by init, because what tables refer to refers to them.
var (
	kindByType map[posture.EntityType]*kind
	collectors []collector // of everything that can be read
)

func init() {
	kindByType = make(map[posture.EntityType]*kind, len(kinds))
	for _, k := range kinds {
		kindByType[k.typ] = k
	}
	for _, k := range kinds {
		if k.in != "" {
			kindByType[k.in].shared = true
		}
		for _, part := range k.has {
			kindByType[part].shared = true
		}
	}
	for _, t := range []entityType{networkSecurityGroupType, networkWatcherType, roleAssignmentType, vaultType} {
		kindByType[t].shared = true // by collectors that are not tables
	}
	for _, k := range kinds {
		switch c := k.collector(); k.typ {
		case roleDefinitionType:
			collectors = append(collectors, roleDefinitions(), principalsOf)
		case networkSecurityGroupType:
			collectors = append(collectors, c, cidrRanges)
		case networkWatcherType:
			collectors = append(collectors, c, locations)
		default:
			collectors = append(collectors, c)
		}
	}
	collectors = append(collectors, tenant)
	for _, o := range objects {
		collectors = append(collectors, o.collector())
	}
}

// kindOf returns the kind of a type. Asking for a type that is none is a mistake
// in a table.
func kindOf(t posture.EntityType) *kind {
	k, ok := kindByType[t]
	if !ok {
		panic("no kind " + string(t))
	}
	return k
}
