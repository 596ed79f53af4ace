package authapi

import (
	"context"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

type (
	deviceStart struct {
		ClientName string `json:"clientName" required:"true"`
	}
	deviceStarted struct {
		DeviceToken      string `json:"deviceToken"`
		UserCode         string `json:"userCode"`
		VerificationPath string `json:"verificationPath"`
		ExpiresIn        int    `json:"expiresIn"` // seconds
		Interval         int    `json:"interval"`  // seconds between two requests for the state
	}
	deviceStateIn struct {
		DeviceToken secret.Text `json:"deviceToken" required:"true"`
	}
	deviceState struct {
		State auth.DeviceState `json:"state"`
	}
	devicePath struct {
		Code string `path:"user_code"`
	}
	deviceDecision struct {
		devicePath
		Approve bool `json:"approve" required:"true"`
	}
	deviceLogin struct {
		UserCode    string           `json:"userCode"`
		ClientName  string           `json:"clientName"`
		Source      string           `json:"sourceAddress"`
		CreatedTime httpapi.Time     `json:"createdTime"`
		ExpiryTime  httpapi.Time     `json:"expiryTime"`
		State       auth.DeviceState `json:"state"`
	}
)

// deviceRoutes returns the routes of logins that are confirmed in a browser. The first
// two are not audited, because anybody can call them; the confirmation is.
func (a *API) deviceRoutes(login httpapi.Limits) []httpapi.Route {
	if a.Sessions == nil || a.Devices == nil {
		return nil
	}
	return []httpapi.Route{
		{Pattern: "POST /v1/device-logins", Need: httpapi.Public, Operation: "startDeviceLogin", Safe: true, Limits: login, Handler: httpapi.JSON(a.startDevice)},
		{Pattern: "POST /v1/device-logins/state", Need: httpapi.Public, Operation: "getDeviceLoginState", Safe: true, Quiet: true, Limits: login, Handler: httpapi.JSON(a.deviceState)},
		{Pattern: "GET /console/device-logins/{user_code}", Need: viewer, Operation: "getDeviceLogin", Limited: true, Handler: httpapi.JSON(a.getDevice)},
		{Pattern: "POST /console/device-logins/{user_code}", Need: viewer, Operation: "decideDeviceLogin", Limited: true, Handler: httpapi.JSON(a.decideDevice)},
	}
}

// devicePollInterval is the number of seconds between two requests for the state of a login.
const devicePollInterval = 2

func (a *API) startDevice(ctx context.Context, in deviceStart) (deviceStarted, error) {
	d, text, err := a.Devices.Start(ctx, in.ClientName, httpapi.Source(ctx))
	if err != nil {
		return deviceStarted{}, err
	}
	return deviceStarted{text.Reveal(), d.Code, "/console/device-login?code=" + d.Code, int(auth.DeviceLife.Seconds()), devicePollInterval}, nil
}

func (a *API) deviceState(ctx context.Context, in deviceStateIn) (deviceState, error) {
	s, err := a.Devices.State(ctx, in.DeviceToken)
	return deviceState{s}, err
}

func deviceOf(d auth.DeviceLogin) deviceLogin {
	return deviceLogin{d.Code, d.Client, d.Source, httpapi.Time{Time: d.CreatedAt}, httpapi.Time{Time: d.ExpiresAt}, d.State}
}

func (a *API) getDevice(ctx context.Context, in devicePath) (deviceLogin, error) {
	d, err := a.Devices.Find(ctx, in.Code)
	return deviceOf(d), err
}

// decideDevice approves or denies a login. It requires a browser session: otherwise a
// program with an access token could create API tokens that outlive the access token.
func (a *API) decideDevice(ctx context.Context, in deviceDecision) (deviceLogin, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return deviceLogin{}, err
	}
	if _, ok := sessionFrom(ctx); !ok {
		return deviceLogin{}, fault.New(fault.Forbidden, "confirm the code in the console")
	}
	d, err := a.Devices.Decide(ctx, caller, in.Code, in.Approve)
	return deviceOf(d), err
}
