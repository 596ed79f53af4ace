"""Tests the generated clients against a running demo; VIGIL_READY names its ready file."""

import json
import os
import unittest

import httpx
import vigil_desktop
import vigil_posture
from vigil_auth import ApiToken
from vigil_desktop.api.auth import login_user
from vigil_desktop.api.monitor import list_ad_domain_monitors
from vigil_desktop.models import AuthLogin
from vigil_posture.api.findings import add_mute_rule, delete_mute_rule, get_mute_rule, query_findings
from vigil_posture.models import FindingQuery, MuteRuleSpec, MuteScope, PaginationInfo
from vigil_posture.types import UNSET

with open(os.environ["VIGIL_READY"]) as file:
    DEMO = json.load(file)


def posture_client(token: str) -> vigil_posture.Client:
    server = DEMO["posture_url"]
    return vigil_posture.Client(base_url=server, httpx_args={"auth": ApiToken(server, token)})


class PostureTest(unittest.TestCase):
    def test_pages_of_findings(self):
        client = self.enterContext(posture_client(DEMO["api_token"]))
        rules, total = set(), 0
        pages = PaginationInfo(page_size=1000)
        while True:
            page = query_findings.sync(client=client, body=FindingQuery(pagination_info=pages))
            rules.update(finding.rule_id for finding in page.results)
            total += len(page.results)
            if page.continuation_token is UNSET:
                break
            pages.continuation_token = page.continuation_token
        self.assertEqual(total, page.total_count)
        self.assertGreaterEqual(len(rules), 10)

    def test_mute_rule_is_added_and_deleted(self):
        client = self.enterContext(posture_client(DEMO["api_token"]))
        spec = MuteRuleSpec(name="Python client", reason="a test", scope=MuteScope(resource_patterns=["no-such-resource-*"]))
        added = add_mute_rule.sync(client=client, body=spec)
        self.assertEqual(added.name, spec.name)
        self.assertEqual(delete_mute_rule.sync_detailed(added.id, client=client).status_code, 200)
        missing = get_mute_rule.sync_detailed(added.id, client=client)
        self.assertEqual(missing.status_code, 404)
        self.assertTrue(missing.parsed.message)

    def test_wrong_api_token_is_an_error(self):
        with posture_client("wrong") as client, self.assertRaises(PermissionError):
            query_findings.sync(client=client, body=FindingQuery())

    def test_busy_server_does_not_refuse_the_api_token(self):
        busy = httpx.MockTransport(lambda request: httpx.Response(503))
        with httpx.Client(transport=busy, auth=ApiToken("https://vigil", "token")) as client:
            with self.assertRaises(httpx.HTTPStatusError):
                client.get("https://vigil/v1/rules")


class AsynchronousPostureTest(unittest.IsolatedAsyncioTestCase):
    async def test_findings(self):
        async with posture_client(DEMO["api_token"]) as client:
            page = await query_findings.asyncio(client=client, body=FindingQuery())
        self.assertGreater(page.total_count, 0)

    async def test_wrong_api_token_is_an_error(self):
        async with posture_client("wrong") as client:
            with self.assertRaises(PermissionError):
                await query_findings.asyncio(client=client, body=FindingQuery())


class DesktopTest(unittest.TestCase):
    def test_login_and_monitors_of_domains(self):
        # The demo creates a new certificate whenever it starts, so the client cannot know it.
        client = self.enterContext(vigil_desktop.Client(base_url=DEMO["desktop_url"], verify_ssl=False))
        login = AuthLogin(domain=DEMO["desktop_domain"], username=DEMO["desktop_username"], password=DEMO["desktop_password"])
        tokens = login_user.sync(client=client, body=login)
        with client.with_headers({"Authorization": "Bearer " + tokens.access_token}) as session:
            domains = list_ad_domain_monitors.sync(client=session)
        self.assertTrue(domains)


if __name__ == "__main__":
    unittest.main()
