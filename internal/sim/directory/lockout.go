package directory

import "time"

// check checks a password and counts wrong ones like a directory: the count starts
// again when none was wrong for the length of the window, the threshold locks the
// account, and the right password resets the count.
func (d *domain) check(a *account, password string, now func() time.Time) result {
	at := now()
	if d.isLocked(a, at) {
		return refuse(dataLocked)
	}
	if at.Sub(a.badAt) >= d.window() {
		a.bad = 0
	}
	if a.Password != password {
		a.bad++
		a.badAt = at
		if d.LockoutThreshold > 0 && a.bad >= d.LockoutThreshold {
			a.lockedAt = at
		}
		return refuse(dataBadCredentials)
	}
	switch {
	case a.Disabled:
		return refuse(dataDisabled)
	case a.Expired:
		return refuse(dataExpired)
	case a.MustChange:
		return refuse(dataMustChange)
	}
	a.bad = 0
	return result{}
}
