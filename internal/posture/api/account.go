package api

import (
	"context"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/onboard"
)

type (
	owner struct {
		Name  string `json:"name,omitempty"`
		Email string `json:"email,omitempty"`
	}

	// account is the wire form of an account.
	account struct {
		CloudAccountID    string            `json:"cloudAccountId"`
		CloudAccountName  string            `json:"cloudAccountName"`
		CSPProjectID      string            `json:"cspProjectId"`
		Provider          string            `json:"provider"`
		Environment       *string           `json:"environment,omitempty"`
		OwnerInfo         *owner            `json:"ownerInfo,omitempty"`
		AccountStatus     status            `json:"accountStatus"`
		EventStreamStatus status            `json:"eventStreamStatus"`
		RollupStatus      status            `json:"rollupStatus"`
		Properties        []property        `json:"properties"`
		Tags              map[string]string `json:"tags"`
		ETag              string            `json:"eTag"`
		CreatedTime       httpapi.Time      `json:"createdTime"`
		LastUpdateTime    httpapi.Time      `json:"lastUpdateTime"`

		LastCollection     *lastRun      `json:"lastCollection,omitempty"`
		NextCollectionTime *httpapi.Time `json:"nextCollectionTime,omitempty"`
	}

	// lastRun is the newest run of an account.
	lastRun struct {
		CollectionID string        `json:"collectionId"`
		Status       string        `json:"status"`
		StartTime    httpapi.Time  `json:"startTime"`
		EndTime      *httpapi.Time `json:"endTime,omitempty"`
		Progress     runProgress   `json:"progress"`
		Reason       string        `json:"reason,omitempty"`
	}

	// accountBody holds the members of a request that adds or changes an account.
	accountBody struct {
		CloudAccountName string                              `json:"cloudAccountName"`
		CSPProjectID     *string                             `json:"cspProjectId"`
		Provider         string                              `json:"provider"`
		Environment      httpapi.Optional[string]            `json:"environment"`
		OwnerInfo        httpapi.Optional[owner]             `json:"ownerInfo"`
		Properties       *[]property                         `json:"properties" maxItems:"50"`
		Tags             httpapi.Optional[map[string]string] `json:"tags" maxItems:"200"`
	}

	accountPath struct {
		Provider  string `path:"provider"` // empty in paths without a provider
		AccountID string `path:"cloud_account_id"`
	}
	addAccountIn struct {
		providerPath
		accountBody
	}
	putAccountIn struct {
		accountPath
		accountBody
		IfMatch httpapi.Match `header:"If-Match"`
	}
	deleteAccountIn struct {
		accountPath
		IfMatch httpapi.Match `header:"If-Match"`
	}
)

func accountOf(a posture.Account) account {
	w := account{
		CloudAccountID: string(a.ID), CloudAccountName: a.Name, CSPProjectID: a.CSPProjectID, Provider: string(a.Provider),
		Environment: a.Environment, AccountStatus: statusOf(a.Status), EventStreamStatus: statusOf(a.Stream), RollupStatus: statusOf(a.Rollup),
		Properties: httpapi.Each(a.Properties, propertyOf), Tags: a.Tags, ETag: a.ETag,
		CreatedTime: httpapi.Time{Time: a.Created}, LastUpdateTime: httpapi.Time{Time: a.Updated},
	}
	w.AccountStatus.Reason = a.Reason
	if w.Tags == nil {
		w.Tags = map[string]string{}
	}
	if a.Owner != nil {
		w.OwnerInfo = (*owner)(a.Owner)
	}
	return w
}

// spec returns the account spec of the body.
func (b accountBody) spec() (posture.AccountSpec, error) {
	s := posture.AccountSpec{Name: b.CloudAccountName}
	if b.CSPProjectID != nil {
		s.CSPProjectID = posture.Give(*b.CSPProjectID)
	}
	if b.Environment.Sent {
		s.Environment = posture.Give[*string](nil)
		if b.Environment.Set() {
			s.Environment.Value = &b.Environment.Value
		}
	}
	if b.OwnerInfo.Sent {
		s.Owner = posture.Give[*posture.Owner](nil)
		if b.OwnerInfo.Set() {
			s.Owner.Value = (*posture.Owner)(&b.OwnerInfo.Value)
		}
	}
	if b.Tags.Sent {
		s.Tags = posture.Give(b.Tags.Value)
	}
	if b.Properties != nil {
		ps, err := givenProperties(*b.Properties)
		if err != nil {
			return s, err
		}
		s.Properties = posture.Give(ps)
	}
	return s, nil
}

// applyAccount applies a change of one account.
func (a *API) applyAccount(ctx context.Context, p posture.Provider, c onboard.AccountChange) (posture.Account, error) {
	done, err := a.Onboarding.Apply(ctx, a.Org(ctx), onboard.Changes{Provider: p, Accounts: []onboard.AccountChange{c}})
	return one(done.Accounts, err)
}

func (a *API) addAccount(ctx context.Context, in addAccountIn) (httpapi.Reply, error) {
	p, err := in.provider()
	if err != nil {
		return httpapi.Reply{}, err
	}
	if err := sameProvider(p, in.accountBody.Provider); err != nil {
		return httpapi.Reply{}, err
	}
	spec, err := in.spec()
	if err != nil {
		return httpapi.Reply{}, err
	}
	done, err := a.applyAccount(ctx, p, onboard.AccountChange{Action: onboard.Post, Spec: spec})
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Created("/v1/providers/"+string(p)+"/cloud-accounts/"+string(done.ID), done.ETag, accountOf(done)), nil
}

// find returns the account of a path. If the path has a provider that is not the
// account's, it fails with fault.NotFound.
func (a *API) find(ctx context.Context, in accountPath) (posture.Account, error) {
	found, err := a.Store.Account(ctx, a.Org(ctx), posture.AccountID(in.AccountID))
	if err != nil {
		return found, err
	}
	if in.Provider != "" {
		if p, ok := posture.ParseProvider(in.Provider); !ok || p != found.Provider {
			return found, fault.New(fault.NotFound, "cloud account %q was not found", in.AccountID)
		}
	}
	return found, nil
}

func (a *API) getAccount(ctx context.Context, in accountPath) (httpapi.Reply, error) {
	found, err := a.find(ctx, in)
	if err != nil {
		return httpapi.Reply{}, err
	}
	accounts := []account{accountOf(found)}
	err = a.addSchedules(ctx, accounts, found.ID)
	return httpapi.Tagged(found.ETag, accounts[0]), err
}

// addSchedules adds the last and next runs to accounts. The argument only is the id of the
// account if there is just one, or "" to read the schedules of all.
func (a *API) addSchedules(ctx context.Context, all []account, only posture.AccountID) error {
	schedules, err := a.Runs.Schedules(ctx, a.Org(ctx), only)
	for i := range all {
		s := schedules[posture.AccountID(all[i].CloudAccountID)]
		all[i].NextCollectionTime = optionalTime(s.Next)
		if r := s.Last; r.ID != "" {
			all[i].LastCollection = &lastRun{
				r.ID, string(r.Status), httpapi.Time{Time: r.Start}, optionalTime(r.End), runProgress{r.Done, r.Units, r.Entities}, r.Reason,
			}
		}
	}
	return err
}

// validateAccount enqueues another validation of an account.
func (a *API) validateAccount(ctx context.Context, in accountPath) (httpapi.Reply, error) {
	found, err := a.find(ctx, in)
	if err != nil {
		return httpapi.Reply{}, err
	}
	links, err := a.Store.Links(ctx, a.Org(ctx), []posture.AccountID{found.ID})
	if err != nil {
		return httpapi.Reply{}, err
	}
	if len(links) == 0 {
		return httpapi.Reply{}, fault.New(fault.Conflict, "cloud account %q has no credential; link one first", found.ID)
	}
	err = a.Store.Onboard(ctx, a.Org(ctx), func(tx posture.OnboardingTx) error { return tx.Validate(found.ID) })
	return httpapi.Accepted(accountOf(found)), err
}

func (a *API) putAccount(ctx context.Context, in putAccountIn) (httpapi.Reply, error) {
	found, err := a.find(ctx, in.accountPath)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if err := sameProvider(found.Provider, in.accountBody.Provider); err != nil {
		return httpapi.Reply{}, err
	}
	spec, err := in.spec()
	if err != nil {
		return httpapi.Reply{}, err
	}
	done, err := a.applyAccount(ctx, found.Provider, onboard.AccountChange{
		Action: onboard.Put, ID: found.ID, Spec: spec, IfMatch: in.IfMatch.Versions(),
	})
	return httpapi.Tagged(done.ETag, accountOf(done)), err
}

func (a *API) deleteAccount(ctx context.Context, in deleteAccountIn) (account, error) {
	found, err := a.find(ctx, in.accountPath)
	if err != nil {
		return account{}, err
	}
	done, err := a.applyAccount(ctx, found.Provider, onboard.AccountChange{
		Action: onboard.Delete, ID: found.ID, IfMatch: in.IfMatch.Versions(),
	})
	return accountOf(done), err
}
