package api

import (
	"context"
	"errors"
	"fmt"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/onboard"
)

type (
	accountUpdate struct {
		Action         string `json:"action" required:"true" enum:"post,put,delete"`
		CloudAccountID string `json:"cloudAccountId"`
		accountBody
	}
	credentialUpdate struct {
		Action       string `json:"action" required:"true" enum:"post,put,delete"`
		CredentialID string `json:"credentialId"`
		Ref          string `json:"ref"`
		credentialBody
	}
	relationshipUpdate struct {
		Action         string `json:"action" required:"true" enum:"post,delete"`
		CloudAccountID string `json:"cloudAccountId" required:"true"`
		CredentialID   string `json:"credentialId"`
		CredentialRef  string `json:"credentialRef"`
	}
	bulkIn struct {
		Provider            string               `json:"provider" required:"true" enum:"aws,azure,gcp"`
		CloudAccountUpdates []accountUpdate      `json:"cloudAccountUpdates" maxItems:"100"`
		CredentialUpdates   []credentialUpdate   `json:"credentialUpdates" maxItems:"100"`
		RelationshipUpdates []relationshipUpdate `json:"relationshipUpdates" maxItems:"100"`
	}

	accountUpdated struct {
		Action string `json:"action"`
		account
	}
	credentialUpdated struct {
		Action string `json:"action"`
		Ref    string `json:"ref,omitempty"`
		credential
	}
	relationshipUpdated struct {
		Action string `json:"action"`
		relationship
	}
	bulkOut struct {
		CloudAccountUpdates []accountUpdated      `json:"cloudAccountUpdates"`
		CredentialUpdates   []credentialUpdated   `json:"credentialUpdates"`
		RelationshipUpdates []relationshipUpdated `json:"relationshipUpdates"`
	}
)

// changes parses the items. It reports the errors of all items together.
func (in bulkIn) changes() (onboard.Changes, error) {
	c := onboard.Changes{Provider: posture.Provider(in.Provider)}
	var bad []fault.Detail
	for i, u := range in.CloudAccountUpdates {
		path := index("cloudAccountUpdates", i)
		appendErrors(&bad, path, sameProvider(c.Provider, u.Provider))
		spec, err := u.spec()
		appendErrors(&bad, path, err)
		c.Accounts = append(c.Accounts, onboard.AccountChange{
			Action: onboard.Action(u.Action), ID: posture.AccountID(u.CloudAccountID), Spec: spec,
		})
	}
	for i, u := range in.CredentialUpdates {
		ps, err := u.properties(c.Provider)
		appendErrors(&bad, index("credentialUpdates", i), err)
		c.Credentials = append(c.Credentials, onboard.CredentialChange{
			Action: onboard.Action(u.Action), ID: posture.CredentialID(u.CredentialID), Ref: u.Ref, Properties: ps,
		})
	}
	for _, u := range in.RelationshipUpdates {
		c.Links = append(c.Links, onboard.LinkChange{
			Action: onboard.Action(u.Action), Account: posture.AccountID(u.CloudAccountID),
			Credential: posture.CredentialID(u.CredentialID), Ref: u.CredentialRef,
		})
	}
	if len(bad) > 0 {
		return c, fault.Fields(bad...)
	}
	return c, nil
}

// appendErrors appends the errors of one item, prefixed with its path. The message of an error
// that names no member is a sentence, so it follows the path in parentheses.
func appendErrors(bad *[]fault.Detail, path string, err error) {
	if err == nil {
		return
	}
	details := fault.Details(err)
	if len(details) == 0 {
		*bad = append(*bad, fault.Detail{Path: path, Message: fmt.Sprintf("(%v)", err)})
	}
	for _, d := range details {
		*bad = append(*bad, fault.Detail{Path: path + "." + d.Path, Message: d.Message})
	}
}

func (a *API) bulkUpdate(ctx context.Context, in bulkIn) (bulkOut, error) {
	changes, err := in.changes()
	if err != nil {
		return bulkOut{}, err
	}
	done, err := a.Onboarding.Apply(ctx, a.Org(ctx), changes)
	if rejected, ok := errors.AsType[onboard.Rejected](err); ok {
		var bad []fault.Detail
		for _, item := range rejected {
			appendErrors(&bad, index(item.Array, item.Index), item.Err)
		}
		return bulkOut{}, fault.Fields(bad...)
	}
	if err != nil {
		return bulkOut{}, err
	}
	// The records of each kind have the same order as the items of the request.
	out := bulkOut{[]accountUpdated{}, []credentialUpdated{}, []relationshipUpdated{}}
	for i, r := range done.Accounts {
		out.CloudAccountUpdates = append(out.CloudAccountUpdates, accountUpdated{in.CloudAccountUpdates[i].Action, accountOf(r)})
	}
	for i, r := range done.Credentials {
		u := in.CredentialUpdates[i]
		out.CredentialUpdates = append(out.CredentialUpdates, credentialUpdated{u.Action, u.Ref, credentialOf(ctx, r)})
	}
	for i, r := range done.Links {
		out.RelationshipUpdates = append(out.RelationshipUpdates, relationshipUpdated{in.RelationshipUpdates[i].Action, relationshipOf(r)})
	}
	return out, nil
}
