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

    # The synchronous and the asynchronous client read the response of the exchange in their own
    # way, and leave that of the request to the caller, who may stream it.
    def sync_auth_flow(self, request):
        if not self._is_valid():
            response = yield self._exchange()
            response.read()
            self._store(response)
        yield self._authorize(request)

    async def async_auth_flow(self, request):
        if not self._is_valid():
            response = yield self._exchange()
            await response.aread()
            self._store(response)
        yield self._authorize(request)

    def _is_valid(self) -> bool:
        with self._lock:
            return time.monotonic() + _RENEW_BEFORE_SECONDS < self._expires

    def _exchange(self) -> httpx.Request:
        return httpx.Request("POST", self._url, data={"refresh_token": self._token})

    def _store(self, response: httpx.Response) -> None:
        if response.status_code == httpx.codes.BAD_REQUEST:
            raise PermissionError("the server does not accept the API token: 400")
        response.raise_for_status()
        authorization = response.json()
        with self._lock:
            self._access = authorization["access_token"]
            self._expires = time.monotonic() + authorization["expires_in"]

    def _authorize(self, request: httpx.Request) -> httpx.Request:
        with self._lock:
            request.headers["Authorization"] = "Bearer " + self._access
        return request
