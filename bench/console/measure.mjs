// Measures the console in Chromium against a running demo: how much is loaded
// first and how long that takes, and how smoothly a list of 100,000 findings
// scrolls. See README.md beside it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(
  new URL("../../web/package.json", import.meta.url),
);
const { chromium } = require("@playwright/test");
if (!process.argv[2]) {
  console.error("name the ready file of a running demo: make bench-console READY=FILE");
  process.exit(2);
}
const ready = JSON.parse(readFileSync(process.argv[2], "utf8"));
const rounds = Number(process.argv[3] ?? 5);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});

const median = (values) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function newPage() {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    ignoreHTTPSErrors: true,
  });
  const answer = await context.request.post(
    `${ready.posture_url}/console/session`,
    {
      data: { apiToken: ready.api_token },
      headers: { Origin: ready.posture_url },
    },
  );
  if (!answer.ok()) throw new Error(`log in: ${answer.status()}`);
  return context.newPage();
}

/** A fresh browser opens the overview: bytes, and the time until its figures are there. */
async function firstLoad() {
  const page = await newPage();
  const client = await page.context().newCDPSession(page);
  await client.send("Network.enable");
  const types = new Map();
  const sent = { Script: 0, Fetch: 0, all: 0 };
  let decoded = 0;
  client.on("Network.responseReceived", (e) => types.set(e.requestId, e.type));
  client.on("Network.dataReceived", (e) => {
    if (types.get(e.requestId) === "Fetch") decoded += e.dataLength;
  });
  client.on("Network.loadingFinished", (e) => {
    sent.all += e.encodedDataLength;
    sent[types.get(e.requestId)] += e.encodedDataLength;
  });
  const begin = performance.now();
  await page.goto(`${ready.posture_url}/console/overview`);
  await page.waitForFunction(() =>
    /^[0-9]/.test(document.querySelector(".ledger .figure")?.textContent ?? ""),
  );
  const figuresShown = performance.now() - begin;
  const painted = await page.evaluate(
    () =>
      performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
  );
  await page.waitForLoadState("networkidle").catch(() => undefined); // times out while the event stream is open; all other responses have arrived by then
  await page.context().close();
  return {
    kib: sent.Script / 1024,
    all: sent.all / 1024,
    answers: sent.Fetch / 1024,
    decoded: decoded / 1024,
    painted,
    figuresShown,
  };
}

/** A list of 100,000 findings, two hundred a page, all loaded, scrolled by 20,000 pixels in about five seconds while the browser traces its frames. */
async function scroll() {
  const page = await newPage();
  const total = 100_000;
  const first = await (
    await page.request.post(`${ready.posture_url}/v2/findings/query`, {
      data: { paginationInfo: { pageSize: 1 } },
      headers: {
        "X-CSRF-Token": (
          await (
            await page.request.get(`${ready.posture_url}/console/session`)
          ).json()
        ).csrfToken,
      },
    })
  ).json();
  // The pages are generated in the browser: through the debugger they would take minutes.
  await page.addInitScript(
    ([finding, total]) => {
      const send = window.fetch;
      window.fetch = async (input, init) => {
        const url = String(input instanceof Request ? input.url : input);
        if (!url.endsWith("/v2/findings/query")) return send(input, init);
        const { paginationInfo, facets, aggregations } = JSON.parse(
          init?.body ?? "{}",
        );
        if (facets || aggregations || paginationInfo?.pageSize !== 200)
          return send(input, init);
        const from = Number(paginationInfo.continuationToken ?? 0);
        const results = Array.from({ length: 200 }, (_, i) => ({
          ...finding,
          id: `finding-${from + i}`,
        }));
        const next =
          from + 200 < total ? { continuationToken: String(from + 200) } : {};
        const body = { totalCount: total, pageCount: 200, results, ...next };
        return new Response(JSON.stringify(body), {
          headers: { "Content-Type": "application/json" },
        });
      };
    },
    [first.results[0], total],
  );
  await page.goto(`${ready.posture_url}/console/findings`);
  await page.locator(".finding").first().waitFor();
  const begin = performance.now();
  await page.evaluate(async (all) => {
    const list = document.querySelector(".finding-scroll");
    const row = list.querySelector("li").offsetHeight;
    while (list.scrollHeight < all * row) {
      list.scrollTop = list.scrollHeight; // the next page is asked for at the end
      await new Promise((done) => requestAnimationFrame(done));
    }
    list.scrollTop = (all * row) / 2;
  }, total);
  const loaded = performance.now() - begin;
  const client = await page.context().newCDPSession(page);
  const events = [];
  client.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const complete = new Promise((done) =>
    client.once("Tracing.tracingComplete", done),
  );
  await client.send("Tracing.start", {
    categories: "disabled-by-default-devtools.timeline.frame,devtools.timeline",
    transferMode: "ReportEvents",
  });
  // The browser makes the wheel events itself. Sent one by one through the debugger, each
  // would wait until the one before was drawn.
  const begun = performance.now();
  await client.send("Input.synthesizeScrollGesture", {
    x: 800,
    y: 500,
    yDistance: -20_000,
    speed: 4000,
    gestureSourceType: "mouse",
    preventFling: true,
  });
  const seconds = (performance.now() - begun) / 1000;
  await client.send("Tracing.end");
  await complete;
  const frames = events
    .filter((e) => e.name === "DrawFrame")
    .map((e) => e.ts / 1000)
    .sort((a, b) => a - b);
  const gaps = frames.slice(1).map((t, i) => t - frames[i]);
  const long = events.filter(
    (e) => e.name === "RunTask" && e.dur > 50_000,
  ).length;
  const rows = await page.locator(".finding").count();
  await page.context().close();
  return {
    frames: frames.length,
    seconds,
    median: median(gaps),
    worst: Math.max(...gaps),
    long,
    rows,
    loaded,
  };
}

const loads = [];
for (let i = 0; i < rounds; i++) loads.push(await firstLoad());
console.log(
  `first load      ${median(loads.map((l) => l.kib)).toFixed(1)} KiB of JavaScript as sent`,
);
console.log(
  `all of it       ${median(loads.map((l) => l.all)).toFixed(0)} KiB as sent; answers of the API ${median(loads.map((l) => l.answers)).toFixed(0)} KiB as sent, ${median(loads.map((l) => l.decoded)).toFixed(0)} KiB decompressed`,
);
console.log(
  `first paint     ${median(loads.map((l) => l.painted)).toFixed(0)} ms`,
);
console.log(
  `figures there   ${median(loads.map((l) => l.figuresShown)).toFixed(0)} ms (median of ${rounds}, no cache)`,
);
const s = await scroll();
console.log(`100,000 loaded  in ${(s.loaded / 1000).toFixed(1)} s, 500 pages`);
console.log(
  `scrolled        ${s.frames} frames in ${s.seconds.toFixed(1)} s, ${(s.frames / s.seconds).toFixed(0)} per second, ${s.median.toFixed(1)} ms apart (median), worst ${s.worst.toFixed(0)} ms, ${s.long} tasks above 50 ms, ${s.rows} rows in the page`,
);
await browser.close();
