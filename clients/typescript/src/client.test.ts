// Tests the clients against a running demo; VIGIL_READY names its ready file.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { desktop, posture } from "./client.js";

const demo = JSON.parse(readFileSync(process.env.VIGIL_READY!, "utf8")) as Record<string, string>;

test("pages of findings", async () => {
  const vigil = posture(demo.posture_url, demo.api_token);
  const rules = new Set<string>();
  let count = 0;
  let continuationToken: string | undefined;
  do {
    const { data } = await vigil.POST("/v2/findings/query", {
      body: { paginationInfo: { pageSize: 1000, continuationToken } },
    });
    assert.ok(data);
    data.results.forEach((finding) => rules.add(finding.ruleId));
    count += data.results.length;
    continuationToken = data.continuationToken;
    if (!continuationToken) assert.equal(count, data.totalCount);
  } while (continuationToken);
  assert.ok(rules.size >= 10);
});

test("a mute rule is added and deleted", async () => {
  const vigil = posture(demo.posture_url, demo.api_token);
  const { data } = await vigil.POST("/v1/mute-rules", {
    body: { name: "TypeScript client", reason: "a test", scope: { resourcePatterns: ["no-such-resource-*"] } },
  });
  assert.ok(data);
  const path = { params: { path: { mute_rule_id: data.id } } };
  const deleted = await vigil.DELETE("/v1/mute-rules/{mute_rule_id}", path);
  assert.equal(deleted.response.status, 200);
  const missing = await vigil.GET("/v1/mute-rules/{mute_rule_id}", path);
  assert.equal(missing.response.status, 404);
  assert.ok(missing.error?.message);
});

test("a wrong API token is an error", async () => {
  await assert.rejects(posture(demo.posture_url, "wrong").GET("/v1/mute-rules"), /does not accept the API token/);
});

test("a busy server does not refuse the API token", async () => {
  const busy = createServer((_, response) => response.writeHead(503).end()).listen(0, "127.0.0.1");
  await once(busy, "listening");
  try {
    const { port } = busy.address() as AddressInfo;
    await assert.rejects(posture(`http://127.0.0.1:${port}`, "token").GET("/v1/mute-rules"), /exchange the API token now: 503/);
  } finally {
    busy.close();
  }
});

test("login to the desktop server and monitors of domains", async () => {
  const vigil = await desktop(demo.desktop_url, {
    domain: demo.desktop_domain,
    username: demo.desktop_username,
    password: demo.desktop_password,
  });
  const { data } = await vigil.GET("/rest/monitor/ad-domains");
  assert.ok(data && data.length > 0);
});
