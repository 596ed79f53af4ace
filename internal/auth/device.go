package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"vigil/internal/audit"
	"vigil/internal/fault"
	"vigil/internal/secret"
)

// DeviceState is the state of a device login.
type DeviceState string

// The states of a device login.
const (
	DevicePending  DeviceState = "pending"
	DeviceApproved DeviceState = "approved"
	DeviceDenied   DeviceState = "denied"
)

// A DeviceLogin is the request of a program, such as the command line, to log in as the
// user who confirms its code in a browser.
//
// The program gets the text of its future API token with the code. The server stores
// only the hash of the text. The confirmation creates a token of the user with that hash.
type DeviceLogin struct {
	Code      string // what the user compares: BCDF-GHJK
	Hash      TokenHash
	Hint      string // first characters of the token
	Client    string // what the program says it is
	Source    string // address of the program
	CreatedAt time.Time
	ExpiresAt time.Time
	State     DeviceState
}

// Times and limits of device logins.
const (
	DeviceLife        = 10 * time.Minute    // time to confirm
	DeviceTokenLife   = 30 * 24 * time.Hour // of the token
	SSOTokenLife      = 12 * time.Hour      // of the token of a user who logs in by single sign-on
	deviceCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"
)

// DeviceLimits are limits of the device logins that wait for confirmation.
type DeviceLimits struct {
	Total      int
	PerNetwork int // of one network (see package subnet), so that one address cannot block the logins of all others
}

var deviceLimits = DeviceLimits{Total: 1000, PerNetwork: 100}

// DeviceStore stores device logins. Its methods are safe for concurrent use.
type DeviceStore interface {
	// AddDevice adds a device login and deletes those that have expired. It fails with
	// fault.Limited if the number of pending ones has reached a limit.
	AddDevice(ctx context.Context, d DeviceLogin, limits DeviceLimits) error

	// DeviceByCode and DeviceByHash return a device login, or fault.NotFound.
	DeviceByCode(ctx context.Context, code string) (DeviceLogin, error)
	DeviceByHash(ctx context.Context, h TokenHash) (DeviceLogin, error)

	// DecideDevice sets the state of a pending device login, and creates its token if t
	// is not nil, in one transaction. It fails with fault.NotFound if the login is not
	// pending.
	DecideDevice(ctx context.Context, d DeviceLogin, t *Token) error
}

// Devices logs programs in through a browser. It is safe for concurrent use.
type Devices struct {
	Registry *Registry
	Store    DeviceStore
}

// Start begins a device login. It returns the text of the API token that is created when
// a user confirms the code.
func (d *Devices) Start(ctx context.Context, client, source string) (DeviceLogin, secret.Text, error) {
	client, err := checkName("clientName", client)
	if err != nil {
		return DeviceLogin{}, secret.Text{}, err
	}
	text := newTokenText()
	hash, ok := hashToken(text)
	if !ok {
		return DeviceLogin{}, secret.Text{}, fmt.Errorf("a new API token is not valid")
	}
	now := d.Registry.now()
	login := DeviceLogin{
		Code: newDeviceCode(), Hash: hash, Hint: hintOf(text), Client: client, Source: source, CreatedAt: now, ExpiresAt: now.Add(DeviceLife), State: DevicePending,
	}
	return login, text, d.Store.AddDevice(ctx, login, deviceLimits)
}

// newDeviceCode returns a code of eight random consonants: 34 random bits. Of the 64 bytes,
// far more than the eight that it needs are below 240.
func newDeviceCode() string {
	random := make([]byte, 64)
	_, _ = rand.Read(random)
	var code []byte
	for _, b := range random {
		if n := int(b); n < 240 && len(code) < 8 { // 240 is a multiple of the 20 letters, so that all are equally likely
			code = append(code, deviceCodeLetters[n%len(deviceCodeLetters)])
		}
	}
	return string(code[:4]) + "-" + string(code[4:])
}

// State returns the state of the device login whose token has this text. It fails with
// fault.NotFound if there is none or it has expired.
func (d *Devices) State(ctx context.Context, text secret.Text) (DeviceState, error) {
	hash, ok := hashToken(text)
	if !ok {
		return "", NoDeviceLogin()
	}
	login, err := d.current(d.Store.DeviceByHash(ctx, hash))
	return login.State, err
}

// Find returns the device login with a code, ignoring case and hyphens.
func (d *Devices) Find(ctx context.Context, code string) (DeviceLogin, error) {
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	if len(code) != 8 {
		return DeviceLogin{}, NoDeviceLogin()
	}
	return d.current(d.Store.DeviceByCode(ctx, code[:4]+"-"+code[4:]))
}

// current returns the result of a method of the store, or fault.NotFound if the login has expired.
func (d *Devices) current(login DeviceLogin, err error) (DeviceLogin, error) {
	if err == nil && !d.Registry.now().Before(login.ExpiresAt) {
		err = NoDeviceLogin()
	}
	return login, err
}

// NoDeviceLogin returns the error for a device login that does not exist or has expired.
func NoDeviceLogin() error {
	return fault.New(fault.NotFound, "there is no login with this code, or it has expired; start again with vigil login")
}

// Decide approves or denies a device login for the caller. An approved program has a
// token with the caller's role and limits.
func (d *Devices) Decide(ctx context.Context, caller Caller, code string, approve bool) (DeviceLogin, error) {
	login, err := d.Find(ctx, code)
	if err != nil {
		return login, err
	}
	if login.State != DevicePending {
		return login, fault.New(fault.Conflict, "the login was %s already", login.State)
	}
	if !approve {
		login.State = DeviceDenied
		return login, d.Store.DecideDevice(ctx, login, nil)
	}
	u, err := d.Registry.User(ctx, caller, caller.User)
	if err != nil {
		return login, err
	}
	life := min(cmp.Or(d.Registry.TokenLife, DefaultTokenLife), DeviceTokenLife)
	if u.Issuer != "" { // the identity provider must be asked again soon
		life = min(life, SSOTokenLife)
	}
	now := d.Registry.now()
	login.State = DeviceApproved
	t := Token{
		ID: TokenID(uuid.NewString()), Org: caller.Org, User: u.ID, Name: login.Client, Hint: login.Hint, Role: min(u.Role, caller.Role),
		CreatedBy: caller.User, CreatedAt: now, ExpiresAt: now.Add(life), Limits: caller.Limits, Accounts: caller.TokenAccounts,
	}
	audit.Note(ctx, "token_id", string(t.ID))
	return login, d.Registry.clearCache(d.Store.DecideDevice(ctx, login, &t))
}
