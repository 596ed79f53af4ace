package authapi

import (
	"context"

	"vigil/internal/auth"
	"vigil/internal/auth/websession"
	"vigil/internal/httpapi"
)

type (
	userSession struct {
		ID          string       `json:"id"`
		Method      string       `json:"method"`
		StartTime   httpapi.Time `json:"startTime"`
		LastUseTime httpapi.Time `json:"lastUseTime"` // with a precision of a minute
		EndTime     httpapi.Time `json:"endTime"`
		Address     string       `json:"address"`
		UserAgent   string       `json:"userAgent"`
		Current     bool         `json:"current"` // the session of this request
	}
	userSessionPath struct {
		UserID    auth.UserID `path:"user_id"`
		SessionID string      `path:"session_id"`
	}
	userSessionsPath struct {
		UserID auth.UserID `path:"user_id"`
	}
)

func (a *API) listSessions(ctx context.Context, in userSessionsPath) (list[userSession], error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return list[userSession]{}, err
	}
	if _, err := a.Registry.User(ctx, caller, in.UserID); err != nil {
		return list[userSession]{}, err
	}
	all, err := a.Sessions.List(ctx, string(caller.Org), string(in.UserID))
	current, _ := sessionFrom(ctx)
	return list[userSession]{len(all), httpapi.Each(all, func(s websession.Session) userSession {
		return userSession{
			ID: s.ID, Method: s.Method, StartTime: httpapi.Time{Time: s.CreatedAt}, LastUseTime: httpapi.Time{Time: s.UsedAt},
			EndTime: httpapi.Time{Time: s.EndsAt}, Address: s.Address, UserAgent: s.Agent, Current: s.ID == current.ID,
		}
	})}, err
}

func (a *API) endUserSession(ctx context.Context, in userSessionPath) (httpapi.Reply, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if _, err := a.Registry.User(ctx, caller, in.UserID); err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.NoContent(), a.Sessions.End(ctx, string(caller.Org), string(in.UserID), in.SessionID, websession.EndedByAdmin)
}
