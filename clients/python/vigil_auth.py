"""Authenticates the requests of the generated client of the posture server."""

import threading
import time

import httpx

_RENEW_BEFORE_SECONDS = 60


class ApiToken(httpx.Auth):
    """Exchanges an API token for access tokens, and adds them to requests."""

    def __init__(self, server: str, token: str) -> None:
        self._url = server + "/csp/gateway/am/api/auth/api-tokens/authorize"
        self._token = token
        self._lock = threading.Lock()
        self._access = ""
        self._expires = 0.0

    def auth_flow(self, request):
        with self._lock:
            access, valid = self._access, time.monotonic() + _RENEW_BEFORE_SECONDS < self._expires
        if not valid:
            response = yield httpx.Request("POST", self._url, data={"refresh_token": self._token})
            if response.status_code == httpx.codes.BAD_REQUEST:
                raise PermissionError("the server does not accept the API token: 400")
            response.raise_for_status()
            response.read()
            authorization = response.json()
            access = authorization["access_token"]
            with self._lock:
                self._access = access
                self._expires = time.monotonic() + authorization["expires_in"]
        request.headers["Authorization"] = "Bearer " + access
        yield request
